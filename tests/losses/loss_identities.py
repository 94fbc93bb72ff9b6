"""Identities that every margin loss obeys, checked against its textbook formula in mpmath."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

from tacit.losses.constants import self_concordance
from tacit.losses.dispatch import curvatures, shape_of, slopes
from tacit.losses.loss import Loss
from tools.loss_pictures import value

Vector = NDArray[np.float64]
Formula = Callable[[Any, float], Any]


@dataclass(frozen=True)
class Case:
    """A loss, its value by mpmath, the labels it takes and where its derivatives jump.

    `extremes` are further margins at which constants may be attained or exceeded.
    """

    loss: Loss
    formula: Formula
    labels: Sequence[float]
    kinks: Callable[[float], Sequence[float]] = lambda _: ()
    ends: tuple[float, float] = (-6.0, 6.0)
    extremes: Sequence[float] = ()

    def margins(self, label: float) -> Vector:
        """Margins over the interval, at both sides of every kink, and the extremes."""
        kinks = np.array([k + side for k in self.kinks(label) for side in (-1e-9, 0.0, 1e-9)])
        return np.concatenate([np.linspace(*self.ends, 241), kinks, np.array(self.extremes)])

    def smooth_margins(self, label: float) -> Vector:
        """Margins of the interval away from kinks."""
        z = np.linspace(*self.ends, 61) + 0.00371
        gaps = [np.abs(z - kink) for kink in self.kinks(label)]
        return z[np.min(gaps, axis=0) > 1e-2] if gaps else z


def compiled(loss: Loss, z: Vector, y: float) -> tuple[Vector, Vector]:
    """Slopes and curvatures of one label by the compiled dispatch."""
    slope, curvature = np.full_like(z, np.nan), np.full_like(z, np.nan)
    labels = np.full_like(z, y)
    slopes(int(loss.code), shape_of(loss), z, labels, slope)
    curvatures(int(loss.code), shape_of(loss), z, labels, curvature)
    return slope, curvature


def check_derivatives(case: Case) -> None:
    """Value = formula, slope = its derivative, curvature = its second derivative, off kinks."""
    with mpmath.workdps(40):
        for y in case.labels:
            z = case.smooth_margins(y)
            slope, curvature = compiled(case.loss, z, y)
            at = [mpmath.mpf(float(each)) for each in z]
            expected = [
                [float(mpmath.diff(lambda t: case.formula(t, y), each, order)) for each in at]  # noqa: B023
                for order in (1, 2)
            ]
            exact = [float(case.formula(each, y)) for each in at]
            found = value(case.loss, z, np.full_like(z, y))
            np.testing.assert_allclose(found, exact, rtol=1e-13, atol=1e-13)
            np.testing.assert_allclose(slope, expected[0], rtol=1e-13, atol=1e-13)
            np.testing.assert_allclose(curvature, expected[1], rtol=1e-13, atol=1e-13)


def check_constants(case: Case, *, joint: float | None = None) -> None:
    """Lipschitz, smoothness and joint constants are attained and never exceeded.

    `joint` is the joint constant as attained, where the published one is only an upper bound.
    """
    loss = case.loss
    each = [compiled(loss, case.margins(y), y) for y in case.labels]
    slope = np.abs(np.concatenate([pair[0] for pair in each]))
    curvature = np.concatenate([pair[1] for pair in each])
    assert curvature.min() >= 0.0
    assert curvature.max() <= loss.smoothness * (1 + 1e-15)
    assert curvature.max() >= loss.smoothness * (1 - 1e-9)
    if math.isfinite(loss.lipschitz):
        assert slope.max() <= loss.lipschitz * (1 + 1e-15)
        assert slope.max() >= loss.lipschitz * (1 - 1e-6)
    if loss.smoothness > 0:
        together = (curvature / loss.smoothness) ** 2 + (slope / loss.lipschitz) ** 4
        assert together.max() <= loss.joint * (1 + 1e-12)
        assert together.max() >= (joint or loss.joint) * (1 - 1e-4)


def check_signs(case: Case) -> None:
    """`one_signed` holds exactly where no label has slopes of both signs."""
    both = False
    for y in case.labels:
        slope, _ = compiled(case.loss, case.margins(y), y)
        both |= bool(slope.min() < 0 < slope.max())
    assert case.loss.one_signed is not both


def check_degree(case: Case, rescaled: Callable[[float], Loss]) -> None:
    """Margins, labels and shape times c multiply the loss by c^degree."""
    for c in (0.25, 3.0):
        for y in case.labels:
            z = case.smooth_margins(y)
            small = value(case.loss, z, np.full_like(z, y))
            large = value(rescaled(c), c * z, np.full_like(z, c * y))
            np.testing.assert_allclose(large, c**case.loss.degree * small, rtol=1e-12, atol=1e-12)


def check_self_concordance(case: Case, ends: tuple[float, float]) -> None:
    """|ρ'''| ≤ constant·(ρ'')^(power/2), with equality approached between the ends."""
    known = self_concordance(case.loss)
    assert known is not None
    largest = 0.0
    with mpmath.workdps(40):
        for y in case.labels:
            for z in np.linspace(*ends, 81) + 0.00371:
                second, third = (
                    mpmath.diff(lambda t: case.formula(t, y), mpmath.mpf(float(z)), order)  # noqa: B023
                    for order in (2, 3)
                )
                largest = max(largest, float(abs(third) / second ** (mpmath.mpf(known.power) / 2)))
    assert largest <= known.constant * (1 + 1e-9)
    assert largest >= known.constant * (1 - 1e-2)
