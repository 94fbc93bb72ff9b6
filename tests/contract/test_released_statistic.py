"""Statistics of a fit: their names and their sentence."""

from typing import Any

import pytest

from tacit.contract.released_statistic import ReleasedStatistic, checked_statistics
from tacit.errors import SettingError


def test_names_are_known_and_each_is_asked_for_once() -> None:
    assert checked_statistics(None) == ()
    assert checked_statistics([]) == ()
    assert checked_statistics(["deviance", "deviance"]) == ("deviance",)


@pytest.mark.parametrize("asked", ["deviance", ["aic"], ["deviance", 3], 5, {"deviance": 1}])
def test_others_are_refused_with_what_is_known(asked: Any) -> None:
    with pytest.raises(SettingError, match='"deviance"'):
        checked_statistics(asked)


def test_the_sentence_has_value_noise_and_bound() -> None:
    said = str(ReleasedStatistic("deviance", 1.2345, 0.04, 12.0))
    assert said == "Mean deviance of a valid record: 1.234 (standard deviation of its noise 0.04), each clipped at 12."
    assert "noise" not in str(ReleasedStatistic("deviance", 1.2345, 0.0, 12.0))
