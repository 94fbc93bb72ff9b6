"""Targets are checked, inverted, and refused below the floor of the fit without privacy."""

import pytest

from tacit import LogisticRegression
from tacit.errors import SettingError
from tacit.planning.targets import Target, target_of

STUDY = LogisticRegression(epsilon=1.0, bounds=(-1, 1), classes=(0, 1), inference=True).study(5000, 2)


def test_the_least_n_meets_the_target_and_less_does_not() -> None:
    found = STUDY.required("n", half_width=0.4).value
    assert found is not None
    target = Target("half-width", 0.4)
    assert target.reached(STUDY.at(n=round(found))) <= 0.4 < target.reached(STUDY.at(n=round(found / 1.3)))


def test_targets_below_the_floor_are_refused_with_it() -> None:
    floor = max(term.half_width_without_privacy for term in STUDY.forecast.slopes)
    with pytest.raises(SettingError, match=f"{floor:.3g}"):
        STUDY.required("epsilon", half_width=floor / 2)


def test_power_is_a_half_width() -> None:
    # z(.975) + z(.8) = 2.802 standard errors.
    assert Target("power", 0.8, "x0", 1.0).largest(0.95) == pytest.approx(1.95996 / 2.80159, rel=1e-4)


@pytest.mark.parametrize("words", ["width=1", "half-width", "power=0.8", "half-width=-1", "error=nan"])
def test_wrong_targets_are_refused(words: str) -> None:
    with pytest.raises(SettingError):
        target_of(words)
