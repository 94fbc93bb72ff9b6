"""The rounded pinball loss: τ r for r ≥ h, (τ - 1) r for r ≤ -h, r = y - z, a parabola between."""

from typing import Any

import mpmath
import pytest

from tacit.losses import regression
from tests.losses.loss_identities import Case, check_constants, check_degree, check_derivatives, check_signs


def case(quantile: float, width: float) -> Case:
    tau, h = mpmath.mpf(quantile), mpmath.mpf(width)

    def formula(z: Any, y: float) -> Any:
        r = y - z
        if abs(r) >= h:
            return max(tau * r, (tau - 1) * r)
        # The parabola with the slopes of both lines at ±h, through (h, τ h).
        return r**2 / (4 * h) + (tau - mpmath.mpf("0.5")) * r + h / 4

    def kinks(y: float) -> tuple[float, ...]:
        return (y - width, y + width)

    return Case(regression.pinball(quantile, width), formula, (-0.7, 0.0, 1.3), kinks)


@pytest.mark.parametrize(("quantile", "width"), [(0.5, 0.3), (0.1, 1.0), (0.9, 0.05)])
def test_identities(quantile: float, width: float) -> None:
    check_derivatives(case(quantile, width))
    check_constants(case(quantile, width))
    check_signs(case(quantile, width))
    check_degree(case(quantile, width), lambda c: regression.pinball(quantile, c * width))


def test_relative_widths_are_told() -> None:
    assert regression.pinball(0.5, relative=True).relative
    assert not regression.pinball(0.5).relative
    assert regression.pinball(0.5).shape == (0.5, regression.RELATIVE_WIDTH)
