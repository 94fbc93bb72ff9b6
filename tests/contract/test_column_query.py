import math

import numpy as np
import pytest

from tacit.contract.column_query import LARGEST_SCALE, ColumnMoments
from tacit.errors import SettingError

ONES = np.ones(5)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 2 * LARGEST_SCALE])
def test_scales_and_shifts_are_finite_and_moderate(bad: float) -> None:
    spoilt = np.array([1.0, 1.0, bad, 1.0, 1.0])
    for scale, shift in ((spoilt, ONES), (ONES, spoilt)):
        with pytest.raises(SettingError, match="finite and at most"):
            ColumnMoments(scale, shift, 1.0)


@pytest.mark.parametrize("clip", [0.0, -1.0, math.nan, math.inf])
def test_a_clip_is_positive(clip: float) -> None:
    with pytest.raises(SettingError, match="positive"):
        ColumnMoments(ONES, ONES, clip)


def test_what_was_checked_is_what_is_asked() -> None:
    scale = ONES.copy()
    query = ColumnMoments(scale, ONES, 1.0)
    scale[0] = math.inf
    assert query.scale[0] == 1.0
