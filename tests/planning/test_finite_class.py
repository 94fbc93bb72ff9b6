"""The sample bound of a finite class: its constants, and that a simulated learner keeps it."""

import math

import numpy as np
import pytest

from tacit.errors import SettingError
from tacit.planning.finite_class import records_enough


def test_the_two_terms() -> None:
    private = math.ceil(4 * math.log(1000 * 2 / 0.05) / (0.001 * 0.1))
    assert abs(records_enough(1000, 0.001, 0.1) - private) <= 1
    assert records_enough(1000, 1000.0, 0.1) == math.ceil(8 * math.log(4 * 1000 / 0.05) / 0.01)
    half = records_enough(1000, 0.001, 0.1, relation="zero-out")
    assert abs(2 * half - records_enough(1000, 0.001, 0.1)) <= 2


def test_the_empirical_bound_is_kept_by_the_law() -> None:
    """Exactly: the probability of an excess above α n, at the n that is stated, is at most β. Worst case: one best."""
    for count, epsilon, excess, failure in ((10, 0.5, 0.1, 0.1), (1000, 1.0, 0.05, 0.01)):
        n = records_enough(count, epsilon, excess, failure, population=False)
        bad = (count - 1) * math.exp(-epsilon * excess * n / 2)
        assert bad / (1 + bad) <= failure


def test_more_of_everything_needs_more() -> None:
    base = records_enough(100, 0.1, 0.1)
    assert records_enough(1000, 0.1, 0.1) > base
    assert records_enough(100, 0.1, 0.05) > base
    assert records_enough(100, 0.1, 0.1, 0.01) > base
    assert records_enough(100, 0.2, 0.1) <= base
    assert np.isfinite(base)


@pytest.mark.parametrize("wrong", [{"hypotheses": 0}, {"epsilon": 0.0}, {"excess": 1.0}, {"failure": 0.0}])
def test_bad_settings_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(SettingError):
        records_enough(**{"hypotheses": 10, "epsilon": 1.0, "excess": 0.1, "failure": 0.1, **wrong})  # type: ignore[arg-type]
