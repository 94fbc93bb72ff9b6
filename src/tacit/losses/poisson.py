"""Losses of counts y with log link: Poisson's, capped, and a bounded score of it.

Poisson: e^z - y z up to a public cap of the predictor z, and along the tangent beyond it, so it
stays convex. Slope e^min(z, cap) - y, at most max(e^cap, largest count); curvature at most e^cap.

The bounded score is unbiased under a negative binomial model. With rate m = e^z,
K = 2 max(1, √m), ω = min(1, top / m) and Y of mean m and variance m + α m²,

    slope     = ω (clip(m - y, ±K) + ē(m)),            ē(m) = E clip(Y - m, ±K)
    curvature = ω [|y - m| < K] (m + ē'(log m) / P(|Y - m| < K))

Clipping a skewed response biases its mean; adding ē removes that bias under the model. The curvature is never negative,
and its mean is ω (m P + ē'(log m)). ē and ē' / P are tabulated over log m and interpolated.

The weighted score has slope ω (m - y) and curvature ω m = min(m, top): its mean is zero wherever
the model's mean is right.
"""

import math

import numba
import numpy as np
from numpy.typing import NDArray
from scipy import special

from tacit.losses.float_bits import exp_negative
from tacit.losses.loss import Code, Loss

POINTS = 256
BELOW, ABOVE = 8.0, 4.0
"""The table spans log mean - 8 to log mean + 4; rates are clipped to it."""
HEAD = 4
"""Entries of `shape` before the tables: first point, points per unit, top, largest rate."""
CLIP_DEVIATIONS = 2.0
"""K in standard deviations of a Poisson count."""
FINER, MARGIN = 16, 1e-4
"""The constants are maxima over a grid 16 times finer than the table, times 1 + 1e-4."""
LARGEST_MATRIX = 2**18

Vector = NDArray[np.float64]


def loss(cap: float, largest: float) -> Loss:
    """Poisson's loss with a public cap on the predictor and a public largest count."""
    highest = math.exp(cap)
    return Loss("poisson", Code.POISSON, max(highest, largest), highest, (cap, highest))


@numba.njit(nogil=True, error_model="numpy", inline="always")
def slope(z: float, y: float, cap: float, highest: float) -> float:
    """Return the rate e^min(z, cap) less the count; `highest` is e^cap."""
    return highest * exp_negative(min(z - cap, 0.0)) - y


@numba.njit(nogil=True, error_model="numpy", inline="always")
def curvature(z: float, cap: float, highest: float) -> float:
    """Return the rate below the cap, 0 beyond it."""
    return highest * exp_negative(min(z - cap, 0.0)) if z <= cap else 0.0


def bounded(mean: float, dispersion: float, top: float) -> Loss:
    """The loss for counts around a mean with dispersion α; all three are public."""
    points = np.linspace(math.log(mean) - BELOW, math.log(mean) + ABOVE, POINTS)
    rates = np.exp(points)
    shift, inside = expected_clip(rates, dispersion)
    correction = np.gradient(shift, points) / np.maximum(inside, 0.05)
    head = (float(points[0]), (POINTS - 1) / (BELOW + ABOVE), top, float(rates[-1]))
    shape = (*head, *shift.tolist(), *correction.tolist())
    # Slope and curvature may peak between points of the table or at the top.
    finer = np.linspace(points[0], points[-1], FINER * (len(points) - 1) + 1)
    finer = np.append(finer, min(max(math.log(top), points[0]), points[-1]))
    rates = np.exp(finer)
    weight = np.minimum(1.0, top / rates)
    clip = CLIP_DEVIATIONS * np.maximum(1.0, np.sqrt(rates))
    slopes = weight * (clip + np.abs(np.interp(finer, points, shift)))
    curvatures = weight * np.maximum(rates + np.interp(finer, points, correction), 0.0)
    steepest, most_curved = (float(each.max()) * (1 + MARGIN) for each in (slopes, curvatures))
    return Loss("bounded-poisson", Code.BOUNDED_POISSON, steepest, most_curved, shape)


def slope_bound(dispersion: float, top: float) -> float:
    """Bound on |slope| in closed form: ½(K + √(m + α m² + K²)) at the rate m = top.

    By Scarf, E (V - K)₊ ≤ ½(√(v + K²) - K) for V of mean 0 and variance v; this bounds |ē|. The
    bound grows up to the rate `top` and falls beyond it with ω.
    """
    clip = CLIP_DEVIATIONS * max(1.0, math.sqrt(top))
    return (clip + math.sqrt(top + dispersion * top**2 + clip**2)) / 2


def expected_clip(rates: Vector, dispersion: float) -> tuple[Vector, Vector]:
    """Return E clip(Y - m, ±K) and P(|Y - m| < K) for every rate m."""
    shift, inside = np.empty_like(rates), np.empty_like(rates)
    clip = CLIP_DEVIATIONS * np.maximum(1.0, np.sqrt(rates))
    last = np.ceil(rates + clip)
    first = 0
    while first < len(rates):
        # As many rates at once as fit into one moderate matrix of counts.
        some = slice(first, first + max(1, int(LARGEST_MATRIX // (last[first:].max() + 1))))
        counts = np.arange(last[some].max() + 1)
        gap = counts - rates[some, None]
        law = probabilities(counts, rates[some, None], dispersion)
        law *= counts <= last[some, None]
        bound = clip[some, None]
        beyond = np.maximum(0.0, 1.0 - law.sum(axis=1))
        shift[some] = (law * np.clip(gap, -bound, bound)).sum(axis=1) + beyond * clip[some]
        inside[some] = np.where(np.abs(gap) < bound, law, 0.0).sum(axis=1)
        first = some.stop
    return shift, inside


def probabilities(counts: Vector, rate: float | Vector, dispersion: float) -> Vector:
    """Return P(Y = count) for a mean and a variance rate + dispersion·rate²; Poisson at 0."""
    if dispersion < 1e-6:
        return np.asarray(np.exp(special.xlogy(counts, rate) - rate - special.gammaln(counts + 1)))
    size = 1.0 / dispersion
    logs = special.gammaln(counts + size) - special.gammaln(size) - special.gammaln(counts + 1)
    logs = logs + size * np.log(size / (size + rate)) + special.xlogy(counts, rate / (size + rate))
    return np.asarray(np.exp(logs))


@numba.njit(nogil=True, error_model="numpy", inline="always")
def _rate_and_place(z: float, shape: Vector) -> tuple[float, int, float]:
    """Return the rate, the point of the table below it, and the fraction of the way to the next."""
    last = shape[0] + (POINTS - 1) / shape[1]
    z = min(max(z, shape[0]), last)
    place = (z - shape[0]) * shape[1]
    point = min(int(place), POINTS - 2) if place >= 0.0 else 0
    return shape[3] * exp_negative(z - last), point, place - point


@numba.njit(nogil=True, error_model="numpy", inline="always")
def bounded_slope(z: float, y: float, shape: Vector) -> float:
    """Return the slope in the linear predictor."""
    rate, point, part = _rate_and_place(z, shape)
    clip = CLIP_DEVIATIONS * max(1.0, math.sqrt(rate))
    first = shape[HEAD + point]
    shift = first + part * (shape[HEAD + point + 1] - first)
    weight = min(1.0, shape[2] / rate)
    return float(weight * (min(max(rate - y, -clip), clip) + shift))


@numba.njit(nogil=True, error_model="numpy", inline="always")
def bounded_curvature(z: float, y: float, shape: Vector) -> float:
    """Return the curvature, not below zero."""
    rate, point, part = _rate_and_place(z, shape)
    if abs(rate - y) >= CLIP_DEVIATIONS * max(1.0, math.sqrt(rate)):
        return 0.0
    first = shape[HEAD + POINTS + point]
    correction = first + part * (shape[HEAD + POINTS + point + 1] - first)
    return float(min(1.0, shape[2] / rate) * max(rate + correction, 0.0))


def weighted(mean: float, top: float, largest: float) -> Loss:
    """The weighted score for counts around a mean, with a public largest count."""
    last = math.log(mean) + ABOVE
    shape = (math.log(mean) - BELOW, last, math.exp(last), top)
    return Loss("weighted-poisson", Code.WEIGHTED_POISSON, max(top, largest), top, shape)


@numba.njit(nogil=True, error_model="numpy", inline="always")
def weighted_slope(z: float, y: float, shape: Vector) -> float:
    """Return the weighted rate less the weighted count."""
    rate = shape[2] * exp_negative(min(max(z, shape[0]), shape[1]) - shape[1])
    return float(min(1.0, shape[3] / rate) * (rate - y))


@numba.njit(nogil=True, error_model="numpy", inline="always")
def weighted_curvature(z: float, shape: Vector) -> float:
    """Return the rate, cut at the top."""
    rate = shape[2] * exp_negative(min(max(z, shape[0]), shape[1]) - shape[1])
    return float(min(rate, shape[3]))
