"""The compiled dispatch against the Python formulas, to the bit, for every code."""

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.losses import (
    bounded_poisson,
    hinge,
    huber,
    logistic,
    pinball,
    poisson,
    smooth_huber,
    squared,
)
from tacit.losses.dispatch import SHAPELESS, curvatures, shape_of, slopes, value
from tacit.losses.loss import Code, Loss

LOSSES = {
    each.code: each
    for each in (
        logistic.LOSS,
        squared.LOSS,
        huber.loss(1.345),
        smooth_huber.loss(0.7),
        hinge.loss(),
        poisson.loss(2.0, 5.0),
        pinball.loss(0.3),
        squared.DISTANCE,
        bounded_poisson.loss(2.5, 0.5, 3.25),
    )
}
RNG = np.random.default_rng(11)


def formulas(loss: Loss, z: float, y: float) -> tuple[float, float]:
    """Slope and curvature by the functions of the loss's own module."""
    shape = np.array(loss.shape)
    a, b = float(shape[0]), float(shape[1])
    by_code: dict[Code, tuple[ModuleType, tuple[Any, ...], tuple[Any, ...]]] = {
        Code.LOGISTIC: (logistic, (z, y), (z,)),
        Code.HUBER: (huber, (z, y, a), (z, y, a)),
        Code.SMOOTH_HUBER: (smooth_huber, (z, y, a), (z, y, a)),
        Code.HINGE: (hinge, (z, y, a), (z, y, a)),
        Code.POISSON: (poisson, (z, y, a, b), (z, a, b)),
        Code.PINBALL: (pinball, (z, y, a, b), (z, y, b)),
        Code.BOUNDED_POISSON: (bounded_poisson, (z, y, shape), (z, y, shape)),
    }
    if loss.code is Code.SQUARED:
        return z - y, 1.0
    if loss.code is Code.DISTANCE:
        return -1.0, 0.0
    module, first, second = by_code[loss.code]
    return module.derivative.py_func(*first), module.curvature.py_func(*second)


def test_every_margin_loss_has_a_case() -> None:
    assert set(LOSSES) == set(Code) - {Code.SOFTMAX}


@pytest.mark.parametrize("code", sorted(LOSSES), ids=lambda code: code.name)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_compiled_branches_are_the_formulas(code: Code, dtype: type) -> None:
    loss = LOSSES[code]
    z = np.concatenate([RNG.uniform(-4, 4, 61), [-1e300, 0.0, 1e300]])
    y: NDArray[Any] = RNG.integers(
        0, 5 if code in (Code.POISSON, Code.BOUNDED_POISSON) else 2, 64
    ).astype(dtype)
    slope, curvature = np.empty(64), np.empty(64)
    slopes(int(code), shape_of(loss), z, y, slope)
    curvatures(int(code), shape_of(loss), z, y, curvature)
    expected = [formulas(loss, float(a), float(b)) for a, b in zip(z, y, strict=True)]
    np.testing.assert_array_equal(slope, [pair[0] for pair in expected])
    np.testing.assert_array_equal(curvature, [pair[1] for pair in expected])


def test_shapes_are_left_out_where_there_are_none() -> None:
    for code, loss in LOSSES.items():
        assert (shape_of(loss) is None) == (code in SHAPELESS) == (not any(loss.shape))


@pytest.mark.parametrize("code", sorted(set(LOSSES) - {Code.BOUNDED_POISSON}))
def test_values_are_convex(code: Code) -> None:
    z = np.linspace(-5, 5, 401)
    height = value(LOSSES[code], z, np.ones_like(z))
    assert (np.diff(height, 2) >= -1e-12).all()
