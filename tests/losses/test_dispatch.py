"""The compiled dispatch against the Python formulas, to the bit, for every code."""

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.losses import classification, links, log_link, poisson, regression
from tacit.losses.dispatch import FAMILIES, SHAPELESS, curvatures, shape_of, slopes
from tacit.losses.loss import Code, Loss
from tools.loss_pictures import value

LOSSES = {
    each.code: each
    for each in (
        classification.LOGISTIC,
        regression.SQUARED,
        regression.huber(1.345),
        regression.smooth_huber(0.7),
        classification.hinge(),
        poisson.loss(2.0, 5.0),
        regression.pinball(0.3),
        regression.DISTANCE,
        poisson.bounded(2.5, 0.5, 3.25),
        poisson.weighted(2.5, 3.25, 20.0),
        classification.weighted_logistic(0.07),
        links.PROBIT,
        links.CLOGLOG,
        log_link.gamma(-3.0, 3.0, 20.0),
        log_link.negative_binomial(0.7, 3.0, 20.0),
    )
}
RNG = np.random.default_rng(11)


def formulas(loss: Loss, z: float, y: float) -> tuple[float, float]:
    """Slope and curvature by the functions of the loss's own module."""
    shape = np.array(loss.shape)
    a, b = float(shape[0]), float(shape[1])
    by_code: dict[Code, tuple[ModuleType, str, tuple[Any, ...], tuple[Any, ...]]] = {
        Code.LOGISTIC: (classification, "logistic_", (z, y), (z,)),
        Code.HUBER: (regression, "huber_", (z, y, a), (z, y, a)),
        Code.SMOOTH_HUBER: (regression, "smooth_huber_", (z, y, a), (z, y, a)),
        Code.HINGE: (classification, "hinge_", (z, y, a), (z, y, a)),
        Code.POISSON: (poisson, "", (z, y, a, b), (z, a, b)),
        Code.PINBALL: (regression, "pinball_", (z, y, a, b), (z, y, b)),
        Code.BOUNDED_POISSON: (poisson, "bounded_", (z, y, shape), (z, y, shape)),
        Code.WEIGHTED_POISSON: (poisson, "weighted_", (z, y, shape), (z, shape)),
    }
    if loss.code is Code.SQUARED:
        return z - y, 1.0
    if loss.code is Code.DISTANCE:
        return -1.0, 0.0
    if loss.code is Code.WEIGHTED_LOGISTIC:
        slope = classification.weighted_logistic_slope.py_func(z, y, a)
        return slope, min(classification.logistic_curvature.py_func(z), a)
    if loss.code in {Code.PROBIT, Code.CLOGLOG}:
        found = links.slope_and_curvature.py_func(int(loss.code), z, y, a, b)
        return found[0], found[1]
    if loss.code in FAMILIES:
        return log_link.slope.py_func(z, y, shape), log_link.curvature.py_func(z, y, shape)
    module, name, first, second = by_code[loss.code]
    slope, curvature = (getattr(module, name + each) for each in ("slope", "curvature"))
    return slope.py_func(*first), curvature.py_func(*second)


def test_every_margin_loss_has_a_case() -> None:
    # Softmax has several margins, and an own loss has slopes alone: tests/losses/test_own.py.
    assert set(LOSSES) == set(Code) - {Code.SOFTMAX, Code.OWN}


@pytest.mark.parametrize("code", sorted(LOSSES), ids=lambda code: code.name)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_compiled_branches_are_the_formulas(code: Code, dtype: type) -> None:
    loss = LOSSES[code]
    z = np.concatenate([RNG.uniform(-4, 4, 61), [-1e300, 0.0, 1e300]])
    counts = (Code.POISSON, Code.BOUNDED_POISSON, Code.WEIGHTED_POISSON, Code.GAMMA, Code.NEGATIVE_BINOMIAL)
    y: NDArray[Any] = RNG.integers(0, 5 if code in counts else 2, 64).astype(dtype)
    slope, curvature = np.empty(64), np.empty(64)
    slopes(int(code), shape_of(loss), z, y, slope)
    curvatures(int(code), shape_of(loss), z, y, curvature)
    expected = [formulas(loss, float(a), float(b)) for a, b in zip(z, y, strict=True)]
    np.testing.assert_array_equal(slope, [pair[0] for pair in expected])
    np.testing.assert_array_equal(curvature, [pair[1] for pair in expected])


def test_shapes_are_left_out_where_there_are_none() -> None:
    for code, loss in LOSSES.items():
        assert (shape_of(loss) is None) == (code in SHAPELESS) == (not any(loss.shape))


def test_families_are_compiled_apart_from_the_others() -> None:
    for code, loss in LOSSES.items():
        shape = shape_of(loss)
        assert shape is None or (shape.ndim == 2) == (code in FAMILIES)


SCORES = {Code.BOUNDED_POISSON, Code.WEIGHTED_POISSON, Code.WEIGHTED_LOGISTIC}
"""Slopes that are the derivative of no value."""


@pytest.mark.parametrize("code", sorted(set(LOSSES) - SCORES))
def test_values_are_convex(code: Code) -> None:
    z = np.linspace(-5, 5, 401)
    height = value(LOSSES[code], z, np.ones_like(z))
    assert (np.diff(height, 2) >= -1e-12).all()
