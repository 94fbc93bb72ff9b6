"""The public map of grouped rows: its width, and what it refuses."""

import math

import numpy as np
import pytest

from tacit.contract.channel_map import ChannelMap, GroupMap
from tacit.errors import SettingError

MEAN, WHITENING = np.zeros((3, 4)), np.ones((2, 3))


@pytest.mark.parametrize(("absolute", "width"), [(False, 2 * 4 + 1), (True, 2 * 2 * 4 + 1)])
def test_width_counts_kept_channels_at_every_position_and_the_constant(absolute: bool, width: int) -> None:
    assert ChannelMap((GroupMap(MEAN, WHITENING),), absolute).width == width


@pytest.mark.parametrize(
    ("mean", "whitening", "weight"),
    [
        (MEAN, WHITENING[:, :2], 1.0),
        (MEAN, WHITENING, 0.0),
        (MEAN, WHITENING, math.nan),
        (np.full((3, 4), math.inf), WHITENING, 1.0),
        (MEAN, np.full((2, 3), math.nan), 1.0),
    ],
)
def test_maps_that_do_not_fit_or_are_not_finite_are_refused(
    mean: np.ndarray, whitening: np.ndarray, weight: float
) -> None:
    with pytest.raises(SettingError):
        GroupMap(mean, whitening, weight)
