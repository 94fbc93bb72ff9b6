"""Losses of a positive mean m = e^z whose variance is m (a + b m): gamma and negative binomial, with log link.

    slope = (m - y) / (a + b m),   curvature = e·(a + b y) / (a + b m),   e = m / (a + b m) the expected curvature

a = 0, b = 1 is the gamma law, a = 1, b = α the negative binomial one with a declared α; a = 1, b = 0 is Poisson's.
The curvature is positive for y > 0, so that the loss is convex; it follows its tangent beyond public ends of z.

`weighted` multiplies by ω = min(1, top / e): the mean of the slope stays zero wherever the model's mean is right. Its
curvature is ω e κ min((a + b y) / (a + b m), r): a response far above its mean is cut, and κ = 1 / E min(G, r) restores
the mean of a ratio G of a gamma law whose mean absolute deviation was measured.
"""

import math

import numba
import numpy as np
from numpy.typing import NDArray
from scipy import special

from tacit.losses.float_bits import exp_negative
from tacit.losses.loss import Code, Loss

Vector = NDArray[np.float64]

BELOW, ABOVE = 5.0, 4.0
"""The weighted score takes predictors from log mean - 5 to log mean + 4."""
_SHAPES = np.geomspace(0.02, 1e4, 400)
_ROUNDING = 1.0 + 1e-9
# Places of `shape`: a, b, ends of z, e^(upper end), top, largest ratio, κ.
A, B, LOWEST, HIGHEST, LARGEST, TOP, RATIO, KAPPA = range(8)


def gamma(lowest: float, highest: float, largest: float) -> Loss:
    """Loss of positive numbers up to `largest`, with public ends of the predictor."""
    return _plain("gamma", Code.GAMMA, (0.0, 1.0), (lowest, highest), largest)


def negative_binomial(alpha: float, highest: float, largest: float) -> Loss:
    """Loss of counts up to `largest` of variance m + α m², with a public upper end of the predictor."""
    return _plain("negative-binomial", Code.NEGATIVE_BINOMIAL, (1.0, alpha), (-700.0 + highest, highest), largest)


def _plain(name: str, code: Code, law: tuple[float, float], ends: tuple[float, float], largest: float) -> Loss:
    shape = (*law, *ends, math.exp(ends[1]), math.inf, math.inf, 1.0)
    return Loss(name, code, *_bounds(shape, largest), shape)


def _bounds(shape: tuple[float, ...], largest: float) -> tuple[float, float]:
    """Bounds on slope and curvature for responses within 0 and `largest`, both monotone or with one peak in m."""
    a, b = shape[A], shape[B]
    low, high = math.exp(shape[LOWEST]), shape[LARGEST]
    steepest = max(high / (a + b * high), abs(largest - low) / (a + b * low), (largest - high) / (a + b * high))
    # m / (a + b m)² rises up to m = a / b.
    peak = min(max(a / b, low), high) if b > 0 else high
    bent = peak * (a + b * largest) / (a + b * peak) ** 2
    cut = min(shape[TOP], high / (a + b * high)) * shape[RATIO] * shape[KAPPA]
    return steepest * _ROUNDING, min(bent * shape[KAPPA], cut) * _ROUNDING


def narrowed(loss: Loss, lowest: float, highest: float, largest: float) -> Loss:
    """The same loss with closer ends of the predictor."""
    low, high = max(lowest, loss.shape[LOWEST]), min(highest, loss.shape[HIGHEST])
    return _plain(loss.name, loss.code, (loss.shape[A], loss.shape[B]), (min(low, high), high), largest)


def weighted(loss: Loss, mean: float, deviation: float, largest: float, *, top: float, ratio: float) -> Loss:
    """The weighted score around a mean: `deviation` is the mean size of y - m, `top` bounds e, `ratio` is r."""
    a, b = loss.shape[A], loss.shape[B]
    low = max(math.log(mean) - BELOW, loss.shape[LOWEST]) if a == 0.0 else math.log(mean) - 2 * ABOVE
    high = math.log(mean) + ABOVE
    kappa = 1.0 / kept_mean(b * deviation / (a + b * mean), ratio)
    shape = (a, b, low, high, math.exp(high), top, ratio, kappa)
    return Loss(f"weighted-{loss.name}", loss.code, *_bounds(shape, largest), shape)


def kept_mean(deviation: float, ratio: float) -> float:
    """E min(G, ratio) of a gamma law with mean 1 and this mean absolute deviation, within what such laws have."""
    # E|G - 1| = 2 k^(k - 1) e^-k / Γ(k) of shape k.
    logs = (_SHAPES - 1) * np.log(_SHAPES) - _SHAPES - special.gammaln(_SHAPES)
    shape = float(np.exp(np.interp(-deviation, -2 * np.exp(logs), np.log(_SHAPES))))
    beyond = special.gammaincc(shape + 1, ratio * shape) - ratio * special.gammaincc(shape, ratio * shape)
    return float(1.0 - max(beyond, 0.0))


def expected_curvature(loss: Loss, mean: float) -> float:
    """The e of a mean, without weights."""
    return mean / (loss.shape[A] + loss.shape[B] * mean)


def curvature_bound(loss: Loss, slope: float) -> float:
    """Bound on the curvature e (1 - b·slope) where slopes are within ±slope."""
    highest = loss.shape[LARGEST]
    return expected_curvature(loss, highest) * (1.0 + loss.shape[B] * slope)


def slope_unit(loss: Loss, mean: float) -> float:
    """By which a residual y - m is divided in a slope."""
    return loss.shape[A] + loss.shape[B] * mean


def expected_parts(loss: Loss, z: Vector) -> tuple[Vector, Vector]:
    """Expected curvature ω e and variance ω² e of the slope at predictors, if the model is right."""
    m = np.exp(np.clip(z, loss.shape[LOWEST], loss.shape[HIGHEST]))
    e = m / (loss.shape[A] + loss.shape[B] * m)
    weight = np.minimum(1.0, loss.shape[TOP] / e)
    return np.asarray(weight * e), np.asarray(weight**2 * e)


@numba.njit(nogil=True, error_model="numpy")
def slope(z: float, y: float, shape: Vector) -> float:
    """Return ω (m - y) / (a + b m)."""
    m = shape[LARGEST] * exp_negative(min(max(z, shape[LOWEST]), shape[HIGHEST]) - shape[HIGHEST])
    unit = shape[A] + shape[B] * m
    return float(min(1.0, shape[TOP] * unit / m) * ((m - y) / unit))


@numba.njit(nogil=True, error_model="numpy")
def curvature(z: float, y: float, shape: Vector) -> float:
    """Return ω e κ min((a + b y) / (a + b m), largest ratio) between the ends of z, 0 beyond them."""
    if not shape[LOWEST] <= z <= shape[HIGHEST]:
        return 0.0
    m = shape[LARGEST] * exp_negative(z - shape[HIGHEST])
    unit = shape[A] + shape[B] * m
    ratio = min((shape[A] + shape[B] * y) / unit, shape[RATIO])
    return float(min(m / unit, shape[TOP]) * shape[KAPPA] * ratio)
