r"""A first, coarse look at a composition, from which the fine grid is chosen.

Every pair is discretised on one coarse grid of about 13 % between neighbours. From these masses come
estimates of the cumulant function :math:`K(s) = \sum_i T_i \log E e^{s Y_i}`, the tilt at which the
composed loss has its mean where delta or epsilon asks for it, the window that holds the tilted
composition, and the part of each law that matters.

Nothing here is certified and nothing needs to be: a bad choice makes a bound loose, never wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.accounting.pld.distribution import from_pair
from tacit.accounting.pld.grid import LARGEST_LOSS, SMALLEST_STEP, Grid, dyadic
from tacit.accounting.pld.pairs.pair import Direction, Floats, Pair

COARSE: Grid = dyadic(
    SMALLEST_STEP, center=0, low=-LARGEST_LOSS, high=LARGEST_LOSS, per_octave=8
)
# Tilted mass that the window may miss, and delta that truncated losses may add, relatively.
OUTSIDE = 1e-11
TRUNCATED = 1e-9
# At a tilt with K(s) this many times log(1/delta) a bounded loss is at its maximum for good.
_SATURATED = 1e3
_UNDERFLOW = 700.0
_SPREADS = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 11.0, 14.0, 20.0, 40.0, 100.0])


@dataclass(frozen=True)
class Moments:
    """Cumulant function of a composition at one tilt, with its first two derivatives.

    Parameters
    ----------
    cumulant, mean, variance
        Of the whole composition.
    means
        Of each tilted loss.
    """

    cumulant: float
    mean: float
    variance: float
    means: Floats


@dataclass(frozen=True)
class Survey:
    r"""Coarse masses of all losses of a composition in one direction.

    .. math:: K(s) = \sum_i T_i \log \sum_k m_{ik} e^{s y_k}

    Guarantee
    ---------
    - For a Gaussian pair the moments agree with the closed forms within 5 %.

    Parameters
    ----------
    points
        Common losses.
    masses
        One row per pair.
    times
        How often each pair occurs.
    infinite
        Mass at infinity of each pair, with what is beyond the last point.

    Examples
    --------
    >>> from tacit.accounting.pld.pairs import GaussianPair
    >>> survey = look([(GaussianPair(1.0), 4)], "remove")
    >>> round(survey.moments(0.0).mean, 1)
    2.0
    """

    points: Floats
    masses: Floats
    times: Floats
    infinite: Floats

    def moments(self, tilt: float) -> Moments:
        """Return the cumulant function and its derivatives at a tilt."""
        exponents = tilt * self.points
        top = float(np.max(exponents))
        weights = np.exp(np.maximum(exponents - top, -_UNDERFLOW))
        columns = np.stack([weights, weights * self.points, weights * self.points**2], axis=1)
        sums = self.masses @ columns
        total = np.maximum(sums[:, 0], 1e-300)
        means = sums[:, 1] / total
        variances = np.maximum(sums[:, 2] / total - means**2, 0.0)
        cumulants = np.log(total) + top
        return Moments(
            float(self.times @ cumulants),
            float(self.times @ means),
            float(self.times @ variances),
            means,
        )

    def tilt_for_delta(self, delta: float) -> float:
        """Return the tilt that minimises the Chernoff bound (K(s) + log(1/delta)) / s."""
        target = -math.log(delta)

        def excess(tilt: float) -> float:
            found = self.moments(tilt)
            if found.cumulant > _SATURATED * target:
                return math.inf
            return tilt * found.mean - found.cumulant - target

        return _crossing(excess, self._first_tilt())

    def tilt_for_epsilon(self, epsilon: float) -> float:
        """Return the tilt at which the composition has mean epsilon, at least 0."""

        def excess(tilt: float) -> float:
            found = self.moments(tilt)
            if found.cumulant - tilt * epsilon < -_UNDERFLOW:
                return math.inf
            return found.mean - epsilon

        if excess(0.0) >= 0.0:
            return 0.0
        return _crossing(excess, self._first_tilt())

    def window(self, tilt: float) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the range of the tilted composition and the exponents that bound the rest."""
        center = self.moments(tilt)
        deviation = math.sqrt(center.variance) or SMALLEST_STEP
        needed = math.log(1.0 / OUTSIDE) + math.log1p(tilt)
        high, low = (math.inf, 0.0), (-math.inf, 0.0)
        for spread in _SPREADS / deviation:
            rise = self.moments(tilt + spread).cumulant - center.cumulant
            high = min(high, ((rise + needed) / spread, spread))
            fall = self.moments(tilt - spread).cumulant - center.cumulant
            low = max(low, (-(fall + needed) / spread, spread))
        return (low[0], high[0]), (low[1], high[1])

    def ranges(self, tilt: float) -> tuple[Floats, Floats]:
        """Return, for each pair, the losses that matter at a tilt: lowest and highest."""
        center = self.moments(tilt)
        count = float(self.times.sum())
        level = center.cumulant - tilt * center.mean - math.log1p(tilt)
        tiny = math.exp(min(max(level, -650.0), 0.0)) * TRUNCATED / count
        above = np.cumsum(self.masses[:, ::-1], axis=1)[:, ::-1]
        highest = self.points[np.argmax(above <= np.maximum(tiny, 0.0), axis=1)]
        exponents = tilt * self.points
        weights = np.exp(np.maximum(exponents - np.max(exponents), -_UNDERFLOW))
        below = np.cumsum(self.masses * weights, axis=1)
        small = below <= OUTSIDE / count * below[:, -1:]
        first = np.maximum(np.argmin(small, axis=1) - 1, 0)
        never = ~np.any(above <= tiny, axis=1)
        highest = np.where(never, LARGEST_LOSS, highest)
        return self.points[first], highest

    def _first_tilt(self) -> float:
        """Return the inverse of the composition's deviation, where a search starts."""
        return 1.0 / (math.sqrt(self.moments(0.0).variance) + SMALLEST_STEP)


def look(items: Sequence[tuple[Pair, int]], direction: Direction) -> Survey:
    """Discretise every pair of a composition on the coarse grid.

    Guarantee
    ---------
    - One row per item, in order.

    Examples
    --------
    >>> from tacit.accounting.pld.pairs import LaplacePair
    >>> look([(LaplacePair(1.0), 3)], "add").times.tolist()
    [3.0]
    """
    laws = [from_pair(pair, direction, COARSE, "upper") for pair, _ in items]
    masses = np.stack([law.masses for law in laws])
    # Columns that no law reaches would only make the exponentials overflow.
    used = np.flatnonzero(masses.max(axis=0) > 1e-100)
    first, last = max(int(used[0]) - 1, 0), min(int(used[-1]) + 2, COARSE.indices.size)
    return Survey(
        COARSE.points[first:last],
        masses[:, first:last],
        np.array([float(times) for _, times in items]),
        np.array([law.infinite for law in laws]),
    )


def _crossing(excess: Callable[[float], float], start: float) -> float:
    """Solve an increasing function of a positive number, to a percent."""
    low, high = start, start
    for _ in range(200):
        if excess(high) >= 0.0:
            break
        low, high = high, 2.0 * high
    else:
        return high
    while excess(low) >= 0.0 and low > 1e-12 * start:
        low, high = 0.5 * low, low
    while high > 1.01 * low:
        middle = math.sqrt(low * high)
        if excess(middle) >= 0.0:
            high = middle
        else:
            low = middle
    return low
