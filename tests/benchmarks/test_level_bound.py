"""The bound on what one noised mean can do: between a Bayes risk and an estimator."""

import pytest

from benchmarks.level_bound import least_excess


def test_the_bounds_enclose_and_tell_what_cannot_be_had() -> None:
    least, best = least_excess(5.0, 0.05, rounds=400)
    assert 3.0 < least <= best < 4.0
    least, best = least_excess(79.0, 0.2, rounds=200)
    assert least <= best < 1.0
    assert least_excess(2.0, 0.1, rounds=200)[1] == pytest.approx(0.88, abs=0.05)
