r"""The choice of tilt, window and grids of a composition, from a coarse pass over its losses.

Nothing here is certified and nothing needs to be: a bad choice makes a bound loose, never wrong.
Why: ``proofs/accounting/pld/grid_choice.md``.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.accounting.pld.distribution import LARGEST_LOSS, SMALLEST_STEP, Grid, dyadic, from_pair, rounded_step
from tacit.accounting.pld.pairs.pair import Direction, GridTooLong, Pair
from tacit.accounting.pld.transform import LONGEST, Window
from tacit.accounting.rounding import Floats

# Points per doubling of the loss: enough for a few pairs, affordable for thousands.
_PER_OCTAVE, _PER_OCTAVE_MANY, _MANY = 24, 5, 30
# Fractions of delta that the mass outside the window and truncated losses may add.
OUTSIDE = 1e-8
TRUNCATED = 1e-8
# Round-off of a composition per loss, as it usually is, and the fraction of delta it may be.
_ROUND_OFF, _ROUND_OFF_SHARE = 2e-14, 1e-6
# Tilted by s, a loss with less than this variance in units of 1/s is at its maximum for good.
_SATURATED = 0.01


@dataclass(frozen=True)
class Moments:
    """Cumulant function of a composition at one tilt, with two derivatives; mean of each loss."""

    cumulant: float
    mean: float
    variance: float
    means: Floats


@dataclass(frozen=True)
class Aim:
    """An estimated point of the profile, and the tilt that moves the mean of the loss there."""

    tilt: float
    epsilon: float
    log_delta: float
    moments: Moments


@dataclass(frozen=True)
class CoarseLosses:
    r"""Coarse masses of all losses of a composition in one direction.

    .. math:: K(s) = \sum_i T_i \log \sum_k m_{ik} e^{s y_k}

    `masses` has one row per pair, each occurring `times` times, on common `points`; `beyond` is the mass beyond the
    last point. For speed, moments are computed from `logarithms` of rows averaged over groups of similar deviation,
    `group_times` losses each; `membership` is a pair's group.

    Guarantee: for a Gaussian pair the moments are within 5 % (the mean: of the deviation) of the exact ones.
    """

    points: Floats
    masses: Floats
    times: Floats
    logarithms: Floats
    group_times: Floats
    membership: NDArray[np.intp]
    beyond: Floats

    def moments(self, tilt: float) -> Moments:
        """Return the cumulant function and its derivatives at a tilt."""
        exponents = self.logarithms + tilt * self.points
        tops = exponents.max(axis=1)
        weights = np.exp(exponents - tops[:, None])
        total = weights.sum(axis=1)
        means = (weights * self.points).sum(axis=1) / total
        # Around the mean, because the square of a mean may exceed the variance by any factor.
        around = self.points - means[:, None]
        variances = (weights * around * around).sum(axis=1) / total
        cumulants = np.log(total) + tops
        cumulant, mean, variance = (float((self.group_times * each).sum()) for each in (cumulants, means, variances))
        return Moments(cumulant, mean, variance, means[self.membership])

    def aim_at_delta(self, delta: float) -> Aim:
        """Estimate epsilon at delta by the saddle-point method."""
        target = math.log(delta)

        def excess(tilt: float) -> float:
            found = self.moments(tilt)
            if tilt * tilt * found.variance < _SATURATED:
                return math.inf
            return target - _log_level(tilt, found)

        return replace(self._aim(self._crossing(excess)), log_delta=target)

    def without_tails(self, log_delta: float) -> CoarseLosses:
        """Return the coarse losses without those that truncation will make infinite."""
        used = self._above() > self._truncated(log_delta)
        masses = np.where(used, self.masses, 0.0)
        logarithms = _averaged(masses, self.times, self.membership)
        return replace(self, masses=masses, logarithms=logarithms)

    def aim_at_epsilon(self, epsilon: float) -> Aim:
        """Estimate delta at epsilon by the saddle-point method."""

        def excess(tilt: float) -> float:
            found = self.moments(tilt)
            if tilt * tilt * found.variance < _SATURATED and tilt > 0.0:
                return math.inf
            if found.cumulant - tilt * epsilon < -700.0:
                return math.inf
            return found.mean - epsilon

        tilt = 0.0 if excess(0.0) >= 0.0 else self._crossing(excess)
        return replace(self._aim(tilt), epsilon=epsilon)

    def working_tilt(self, aim: Aim) -> float:
        """Return the smallest tilt at which round-off stays a small part of delta."""
        # The sharp tilt of the aim gives rare large losses so much weight that the window is long.
        if aim.tilt == 0.0:
            return 0.0
        sharp = aim.moments.cumulant - aim.tilt * aim.epsilon
        spare = math.log(_ROUND_OFF_SHARE / (_ROUND_OFF * float(self.times.sum())))
        allowed = max(aim.log_delta + spare, sharp + 0.5)

        def excess(tilt: float) -> float:
            return allowed - (self.moments(tilt).cumulant - tilt * aim.epsilon)

        if excess(0.0) >= 0.0:
            return 0.0
        low, high = 0.0, aim.tilt
        while high - low > 0.02 * aim.tilt:
            middle = 0.5 * (low + high)
            low, high = (low, middle) if excess(middle) >= 0.0 else (middle, high)
        return high

    def window(self, tilt: float, aim: Aim) -> tuple[Window, float]:
        """Return the range of the composition, and about how wide it is."""
        center = self.moments(tilt)
        deviation = math.sqrt(center.variance) or SMALLEST_STEP
        needed = center.cumulant - tilt * aim.epsilon - aim.log_delta - math.log(OUTSIDE)
        needed = max(needed, 1.0)
        high, low = (math.inf, 0.0), (-math.inf, 0.0)
        for spread in np.geomspace(0.25, 128.0, 28) / deviation:
            rise = self.moments(tilt + spread).cumulant - center.cumulant
            high = min(high, ((rise + needed) / spread, spread))
            fall = self.moments(tilt - spread).cumulant - center.cumulant
            low = max(low, (-(fall + needed) / spread, spread))
        return Window(tilt, low[1], high[1], needed), high[0] - low[0]

    def ranges(self, aim: Aim) -> tuple[Floats, Floats]:
        """Return, for each pair, the losses that matter: lowest and highest."""
        count = float(self.times.sum())
        negligible = self._above() <= self._truncated(aim.log_delta)
        last = np.where(negligible.any(axis=1), negligible.argmax(axis=1), -1)
        below = np.cumsum(self.masses, axis=1)
        needed = below > TRUNCATED / count * below[:, -1:]
        first = np.maximum(needed.argmax(axis=1) - 1, 0)
        highest = np.where(last >= 0, self.points[last], LARGEST_LOSS)
        return self.points[first], np.maximum(highest, self.points[first])

    def _above(self) -> Floats:
        return np.cumsum(self.masses[:, ::-1], axis=1)[:, ::-1] + self.beyond[:, None]

    def _truncated(self, log_delta: float) -> float:
        return math.exp(min(max(log_delta, -650.0), 0.0)) * TRUNCATED / float(self.times.sum())

    def _aim(self, tilt: float) -> Aim:
        found = self.moments(tilt)
        return Aim(tilt, found.mean, _log_level(tilt, found), found)

    def _crossing(self, excess: Callable[[float], float]) -> float:
        """Solve an increasing function of the tilt, to a percent."""
        # The inverse of the composition's deviation.
        low = high = start = 1.0 / (math.sqrt(self.moments(0.0).variance) + SMALLEST_STEP)
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
            low, high = (low, middle) if excess(middle) >= 0.0 else (middle, high)
        return low


_coarse_grid = functools.cache(functools.partial(dyadic, SMALLEST_STEP, center=0, low=-LARGEST_LOSS, high=LARGEST_LOSS))


def coarse_pass(items: Sequence[tuple[Pair, int]], direction: Direction) -> CoarseLosses:
    """Discretise every pair of a composition on the coarse grid: one row per item, in order."""
    few = len(items) < _MANY
    grid = _coarse_grid(per_octave=_PER_OCTAVE if few else _PER_OCTAVE_MANY)
    laws = [from_pair(pair, direction, grid, "upper") for pair, _ in items]
    masses = np.stack([law.masses for law in laws])
    # Columns that no law reaches would only make the exponentials overflow.
    used = np.flatnonzero(masses.max(axis=0) > 1e-100)
    if not used.size:
        raise GridTooLong(f"no finite losses below {LARGEST_LOSS:.0f}; use Rényi accounting")
    first, last = max(int(used[0]) - 1, 0), min(int(used[-1]) + 2, grid.indices.size)
    points, masses = grid.points[first:last], masses[:, first:last]
    times = np.array([float(number) for _, number in items])
    membership = np.arange(len(items))
    if not few:
        order = np.argsort((masses * points**2).sum(axis=1), kind="stable")
        membership[order] = np.arange(len(items)) * _MANY // len(items)
    beyond = np.array([law.infinite - pair.infinite(direction) for law, (pair, _) in zip(laws, items, strict=True)])
    averaged, group_times = _averaged(masses, times, membership), np.bincount(membership, times).astype(np.float64)
    return CoarseLosses(points, masses, times, averaged, group_times, membership, beyond)


def _averaged(masses: Floats, times: Floats, membership: NDArray[np.intp]) -> Floats:
    """Average rows over the members of each group; return logarithms."""
    number = int(membership.max()) + 1
    if number < len(masses):
        sums = np.zeros((number, masses.shape[1]))
        np.add.at(sums, membership, masses * times[:, None])
        masses = sums / np.bincount(membership, times)[:, None]
    # A mass of 0 becomes one that no exponential can bring back.
    logarithms: Floats = np.where(masses > 0.0, np.log(np.maximum(masses, 1e-300)), -1e30)
    return logarithms


def _log_level(tilt: float, found: Moments) -> float:
    """Logarithm of the saddle-point estimate of delta at the mean of a tilted composition."""
    curvature = tilt * (1.0 + tilt) * math.sqrt(2.0 * math.pi * found.variance)
    return found.cumulant - tilt * found.mean - math.log1p(curvature)


@dataclass(frozen=True)
class Resolution:
    """What a composition is discretised and transformed with: one grid per pair, one step; `guess` of epsilon."""

    window: Window
    grids: tuple[Grid, ...]
    guess: float
    step: float


def resolve(
    items: Sequence[tuple[Pair, int]],
    direction: Direction,
    coarse: CoarseLosses,
    aim: Aim,
    accuracy: float,
    longest: int = LONGEST,
) -> Resolution:
    """Choose a window and grids for an accuracy of epsilon.

    Guarantee: the window has about as many steps as the accuracy needs, but fewer than `longest`; a single lattice of
    atoms lies on the grid up to 2^-29, relatively.
    """
    window, width = coarse.window(coarse.working_tilt(aim), aim)
    lowest, highest = coarse.ranges(aim)
    if not math.isfinite(width) or np.max(highest) >= LARGEST_LOSS:
        raise GridTooLong(f"losses above {LARGEST_LOSS:.0f}; expected moderate noise. Use Rényi accounting")
    count = float(coarse.times.sum())
    deviation = math.sqrt(aim.moments.variance / count)
    wanted = accuracy_step(aim, count, accuracy)
    step = on_lattice(items, max(wanted, width / (longest / 2), SMALLEST_STEP), width)
    per_octave = min(max(math.ceil(deviation / step), 8), 512)
    grids = []
    means = aim.moments.means
    for (pair, _), mean, bottom, top in zip(items, means, lowest, highest, strict=True):
        center, low, high = round(float(mean) / step), float(bottom), float(top) + step
        grid = dyadic(step, center=center, low=low, high=high, per_octave=per_octave)
        grids.append(with_atoms(grid, pair, direction))
    return Resolution(window, tuple(grids), aim.epsilon, step)


def accuracy_step(aim: Aim, count: float, accuracy: float) -> float:
    """Return the step √(12 a ε / (T (1 + s))) that costs a fraction a of epsilon; above 0 if there is variance."""
    # An epsilon near 0 is measured against the deviation of the composition.
    size = max(aim.epsilon, 0.1 * math.sqrt(aim.moments.variance))
    return math.sqrt(12.0 * accuracy * size / (count * (1.0 + aim.tilt)))


def on_lattice(items: Sequence[tuple[Pair, int]], step: float, width: float) -> float:
    """Round the step so that it divides the one lattice of atoms, if there is just one."""
    lattices = {pair.lattice for pair, _ in items if pair.lattice > 0.0}
    if len(lattices) == 1:
        (lattice,) = lattices
        divided = lattice / math.ceil(lattice / step) if step < lattice else lattice
        if divided >= SMALLEST_STEP and width / divided < LONGEST / 2:
            return rounded_step(divided)
    return rounded_step(step)


def with_atoms(grid: Grid, pair: Pair, direction: Direction) -> Grid:
    """Add the neighbours of every atom within the range of the grid."""
    losses, _ = pair.atoms(direction)
    if not losses.size:
        return grid
    near = np.rint(losses / grid.step).astype(np.int64)
    around = np.concatenate([near - 1, near, near + 1])
    first, last = grid.indices[0], grid.indices[-1]
    around = around[(around >= first) & (around <= last)]
    return Grid(grid.step, np.union1d(grid.indices, around))
