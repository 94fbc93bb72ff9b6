"""Parameters of queries are finite and moderate, and only slopes are asked of an own loss."""

import numpy as np
import pytest

from tacit.contract.checked_query import LARGEST, PART
from tacit.contract.query import CurvatureTrace, GradientNorm, GradientSum
from tacit.errors import SettingError


@pytest.mark.parametrize("clip", [0.0, -1.0, 2 * LARGEST, np.inf, np.nan])
def test_a_clip_is_positive_and_moderate(clip: float) -> None:
    with pytest.raises(SettingError, match="clip"):
        GradientSum(np.zeros(2), clip)


def test_parameters_are_finite_and_all_or_a_part_is_read() -> None:
    with pytest.raises(SettingError, match="finite"):
        GradientSum(np.array([np.nan, 0.0]), 1.0)
    with pytest.raises(SettingError, match=f"one in {PART}"):
        GradientSum(np.zeros(2), 1.0, every=PART + 1)


def test_gradients_and_their_norms_ask_for_slopes_alone() -> None:
    assert GradientSum.asks_for_slopes
    assert GradientNorm.asks_for_slopes
    assert not CurvatureTrace.asks_for_slopes
