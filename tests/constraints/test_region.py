"""Regions: the nearest point by brute force, and refusals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.typing import NDArray

from tacit.constraints.region import Box, L1Ball, Region, Simplex, non_negative
from tacit.errors import SettingError

REGIONS: list[Region] = [Box(-1, 2), non_negative(), L1Ball(1.5), Simplex(), Simplex(3.0)]
VECTORS = npst.arrays(np.float64, 4, elements=st.floats(-10, 10))


def holds(region: Region, slopes: NDArray[np.float64]) -> bool:
    match region:
        case Box():
            inside = (slopes >= region.lower) & (slopes <= region.upper)
            return bool(inside.all())
        case L1Ball():
            return bool(np.abs(slopes).sum() <= region.radius + 1e-9)
        case Simplex():
            return bool((slopes >= 0).all() and abs(slopes.sum() - region.total) < 1e-9)
    raise AssertionError


@pytest.mark.parametrize("region", REGIONS)
@given(point=VECTORS, other=VECTORS)
def test_the_nearest_point_is_inside_and_no_inside_point_is_nearer(
    region: Region, point: NDArray[np.float64], other: NDArray[np.float64]
) -> None:
    nearest = region.nearest(point)
    assert holds(region, nearest)
    inside = region.nearest(other)
    # The angle at a nearest point towards any point of a convex set is not acute.
    assert float((point - nearest) @ (inside - nearest)) <= 1e-8


@pytest.mark.parametrize("region", REGIONS)
def test_points_inside_stay(region: Region) -> None:
    inside = region.nearest(np.array([0.2, 0.3, 0.1, 0.4]))
    np.testing.assert_allclose(region.nearest(inside), inside, atol=1e-12)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Box(1, 0),
        lambda: Box(math.inf, math.inf),
        lambda: L1Ball(0),
        lambda: L1Ball(math.inf),
        lambda: Simplex(-1),
    ],
)
def test_empty_regions_are_refused(make: object) -> None:
    with pytest.raises(SettingError):
        make()  # type: ignore[operator]


def test_a_box_for_another_number_of_slopes_is_refused() -> None:
    Box([0, 0], 1).check(2)
    with pytest.raises(SettingError, match="3"):
        Box([0, 0], 1).check(3)
