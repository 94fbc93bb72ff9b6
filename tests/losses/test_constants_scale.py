"""κ(c) against mpmath's integral, and the scale that explains what was seen."""

import math

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.losses.constants import expected_square, explaining_ratio, square_slope


@pytest.mark.parametrize("threshold", [0.01, 0.5, 1.0, 1.345, 3.0, 12.0])
def test_the_constant_is_the_integral(threshold: float) -> None:
    """E min(Z², c²), by quadrature in 30 digits."""
    with mpmath.workdps(30):
        inside = 2 * mpmath.quad(lambda z: z**2 * mpmath.npdf(z), [0, threshold])
        expected = inside + threshold**2 * mpmath.erfc(threshold / mpmath.sqrt(2))
    assert expected_square(threshold) == pytest.approx(float(expected), rel=1e-9)


def test_the_talk_s_number() -> None:
    assert expected_square(1.345) == pytest.approx(0.7101645, abs=1e-7)


@given(st.floats(0.2, 1.9), st.floats(0.3, 5.0))
def test_what_a_ratio_would_show_is_explained_by_it(ratio: float, threshold: float) -> None:
    seen = ratio**2 * expected_square(threshold / ratio)
    assert explaining_ratio(seen, threshold, 0.125, 2.0) == pytest.approx(ratio, rel=1e-6)


@given(st.floats(-1e100, 1e100), st.floats(1e-6, 1e40))
def test_no_noise_leaves_the_ends(seen: float, threshold: float) -> None:
    assert 0.125 <= explaining_ratio(seen, threshold, 0.125, 2.0) <= 2.0


@pytest.mark.parametrize("threshold", [0.5, 1.345, 4.0])
def test_the_slope_is_that_of_what_a_ratio_shows(threshold: float) -> None:
    up, down = (r**2 * expected_square(threshold / r) for r in (1.0001, 1 / 1.0001))
    slope = (up - down) / (2 * math.log(1.0001))
    assert square_slope(threshold) == pytest.approx(slope, rel=1e-6)
