"""A bounded score for counts with log link, centred under a negative binomial law.

With rate m = e^z, K = 2 max(1, √m) and ω = min(1, top / m),

    slope     = ω (clip(m - y, ±K) + ē(m)),            ē(m) = E clip(Y - m, ±K)
    curvature = ω [|y - m| < K] (m + ē'(log m) / P(|Y - m| < K))

for Y with mean m and variance m + α m². Clipping alone would bias a skewed response; ē takes the
bias out under the model, whatever the features are. The observed curvature is never negative and
right on average. ē and the curvature's second part are tabulated over log m and interpolated.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numpy.typing import NDArray
from scipy import special

from tacit.losses.exponential import exp_negative
from tacit.losses.loss import Code, Loss

POINTS = 256
BELOW, ABOVE = 8.0, 4.0
"""Logarithms around the mean that the table spans; rates are kept within."""
HEAD = 4
"""Numbers before the tables: first point, points a unit, top, largest rate."""
REACH = 2.0
"""Clip in standard deviations of a Poisson count."""
FINER, MARGIN = 16, 1e-4
"""Bounds are looked for on a grid so much finer than the table; what lies between is less."""
LARGEST_MATRIX = 2**18
"""Probabilities held at a time."""


def loss(mean: float, dispersion: float, top: float) -> Loss:
    """The loss for counts around a mean, with the α of their variance and a cap on a rate's weight.

    All three are public: functions of noised answers.
    """
    points = np.linspace(math.log(mean) - BELOW, math.log(mean) + ABOVE, POINTS)
    rates = np.exp(points)
    shift, kept = expected_clip(rates, dispersion)
    bend = np.gradient(shift, points) / np.maximum(kept, 0.05)
    spacing = (POINTS - 1) / (BELOW + ABOVE)
    lipschitz, smoothness = _largest(points, shift, bend, top)
    return Loss(
        "bounded-poisson",
        Code.BOUNDED_POISSON,
        lipschitz=lipschitz,
        smoothness=smoothness,
        shape=(float(points[0]), spacing, top, float(rates[-1]), *shift.tolist(), *bend.tolist()),
    )


def slope_bound(dispersion: float, top: float) -> float:
    """Bound on |slope| in closed form: ½(K + √(m + α m² + K²)) at the rate m = top.

    Of a variable with mean 0 and variance v, what lies beyond K has a mean of at most
    ½(√(v + K²) - K) (Scarf), so |ē| is no more than that. The bound grows up to the top, and falls
    beyond it with the weight.
    """
    reach = REACH * max(1.0, math.sqrt(top))
    return (reach + math.sqrt(top + dispersion * top**2 + reach**2)) / 2


def _largest(
    points: NDArray[np.float64], shift: NDArray[np.float64], bend: NDArray[np.float64], top: float
) -> tuple[float, float]:
    """Bounds on slope and curvature; both may peak between points of the table, at the top."""
    finer = np.linspace(points[0], points[-1], FINER * (len(points) - 1) + 1)
    finer = np.append(finer, min(max(math.log(top), points[0]), points[-1]))
    rates = np.exp(finer)
    weight = np.minimum(1.0, top / rates)
    reach = REACH * np.maximum(1.0, np.sqrt(rates))
    slopes = weight * (reach + np.abs(np.interp(finer, points, shift)))
    curvatures = weight * np.maximum(rates + np.interp(finer, points, bend), 0.0)
    return float(slopes.max()) * (1 + MARGIN), float(curvatures.max()) * (1 + MARGIN)


def expected_clip(
    rates: NDArray[np.float64], dispersion: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return E clip(Y - m, ±K) and P(|Y - m| < K) for every rate m."""
    shift, kept = np.empty_like(rates), np.empty_like(rates)
    reach = REACH * np.maximum(1.0, np.sqrt(rates))
    last = np.ceil(rates + reach)
    first = 0
    while first < len(rates):
        # As many rates at once as fit into one moderate matrix of counts.
        some = slice(first, first + max(1, int(LARGEST_MATRIX // (last[first:].max() + 1))))
        counts = np.arange(last[some].max() + 1)
        gap = counts - rates[some, None]
        law = probabilities(counts, rates[some, None], dispersion)
        law *= counts <= last[some, None]
        within = reach[some, None]
        beyond = np.maximum(0.0, 1.0 - law.sum(axis=1))
        shift[some] = (law * np.clip(gap, -within, within)).sum(axis=1) + beyond * reach[some]
        kept[some] = np.where(np.abs(gap) < within, law, 0.0).sum(axis=1)
        first = some.stop
    return shift, kept


def probabilities(
    counts: NDArray[np.float64], rate: float | NDArray[np.float64], dispersion: float
) -> NDArray[np.float64]:
    """Return P(Y = count) for a mean and a variance rate + dispersion·rate²; Poisson at 0."""
    if dispersion < 1e-6:
        return np.asarray(np.exp(special.xlogy(counts, rate) - rate - special.gammaln(counts + 1)))
    size = 1.0 / dispersion
    logs = special.gammaln(counts + size) - special.gammaln(size) - special.gammaln(counts + 1)
    logs = logs + size * np.log(size / (size + rate)) + special.xlogy(counts, rate / (size + rate))
    return np.asarray(np.exp(logs))


@numba.njit(nogil=True, error_model="numpy", inline="always")
def rate_and_place(z: float, shape: NDArray[np.float64]) -> tuple[float, int, float]:
    """Return the rate, the point of the table below it and how far it lies behind."""
    last = shape[0] + (POINTS - 1) / shape[1]
    z = min(max(z, shape[0]), last)
    place = (z - shape[0]) * shape[1]
    point = min(int(place), POINTS - 2) if place >= 0.0 else 0
    return shape[3] * exp_negative(z - last), point, place - point


@numba.njit(nogil=True, error_model="numpy", inline="always")
def derivative(z: float, y: float, shape: NDArray[np.float64]) -> float:
    """Return the slope in the linear predictor."""
    rate, point, part = rate_and_place(z, shape)
    reach = REACH * max(1.0, math.sqrt(rate))
    first = shape[HEAD + point]
    shift = first + part * (shape[HEAD + point + 1] - first)
    weight = min(1.0, shape[2] / rate)
    slope: float = weight * (min(max(rate - y, -reach), reach) + shift)
    return slope


@numba.njit(nogil=True, error_model="numpy", inline="always")
def curvature(z: float, y: float, shape: NDArray[np.float64]) -> float:
    """Return the observed curvature, not below zero."""
    rate, point, part = rate_and_place(z, shape)
    reach = REACH * max(1.0, math.sqrt(rate))
    if abs(rate - y) >= reach:
        return 0.0
    first = shape[HEAD + POINTS + point]
    bend = first + part * (shape[HEAD + POINTS + point + 1] - first)
    bent: float = min(1.0, shape[2] / rate) * max(rate + bend, 0.0)
    return bent
