import itertools
from fractions import Fraction

import numpy as np
import pytest

from tacit.accounting.pld.distribution import dyadic, rounded_step
from tacit.errors import SettingError


@pytest.mark.parametrize("step", [1e-10, 0.1, 1 / 3, 7.0])
def test_rounded_steps_have_exact_multiples(step: float) -> None:
    rounded = rounded_step(step)
    assert step * (1 - 2.0**-29) <= rounded <= step
    for index in (1, 12345, 2**22 - 1):
        assert Fraction(rounded) * index == Fraction(rounded * index)


@pytest.mark.parametrize("step", [0.0, -1.0, np.inf, np.nan])
def test_a_step_that_is_no_step_is_refused(step: float) -> None:
    with pytest.raises(SettingError, match="step"):
        rounded_step(step)


@pytest.mark.parametrize("center", [-50, 0, 3, 400])
@pytest.mark.parametrize("per_octave", [1, 8, 64])
def test_spacing_grows_with_the_distance_only(center: int, per_octave: int) -> None:
    grid = dyadic(0.5, center=center, low=-20.25, high=99.9, per_octave=per_octave)
    points = grid.points
    assert points[0] <= -20.25
    assert points[-1] >= 99.9
    inside = min(max(center, int(grid.indices[0])), int(grid.indices[-1]))
    assert inside in grid.indices
    for left, right in itertools.pairwise(grid.indices):
        distance = max(abs(left - inside), abs(right - inside))
        assert 1 <= right - left <= max(1, distance / per_octave)
