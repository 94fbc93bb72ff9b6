r"""Distributions of a privacy loss on a grid, above and below the exact one.

A grid is a set of integers n, dense where the mass is; its losses are the exact products n h. **Upper.** Each cell is
split between its ends so that both of its masses stay ("connect the dots"). **Lower.** A polygon through the points of
the profile, lowered below its tangents, with corners on the grid. Proofs: ``proofs/accounting/pld/distribution.md``.
"""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit.accounting.pld.pairs.pair import UNIT, Direction, Pair, tail_error
from tacit.accounting.rounding import Floats
from tacit.errors import SettingError

# exp of a loss must stay a normal float.
LARGEST_LOSS = 690.0
# Below this step the split of a cell drowns in the rounding of its two tails.
SMALLEST_STEP = 2.0**-33
_STEP_BITS = 30


@dataclass(frozen=True)
class Grid:
    """Losses ``indices * step``, increasing; exact for indices of at most 23 bits, or if the step is a power of 2."""

    step: float
    indices: NDArray[np.int64]

    @property
    def points(self) -> NDArray[np.float64]:
        """The losses themselves."""
        return self.indices.astype(np.float64) * self.step


def rounded_step(step: float) -> float:
    """Return the largest step of at most 30 bits up to the given one, at most a factor of 1 - 2^-29 below it."""
    if not 0.0 < step < math.inf:
        raise SettingError(f"step is {step!r}; expected a finite number above 0")
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.floor(mantissa * 2.0**_STEP_BITS), exponent - _STEP_BITS)


def dyadic(step: float, *, center: int, low: float, high: float, per_octave: int) -> Grid:
    """Return a grid that is dense around a centre and thins out with the distance from it.

    Guarantee: it holds a point at or below ``low``, one at or above ``high``, and the centre between; points at
    distance r from the centre are at most ``max(step, r / per_octave)`` apart.
    """
    first, last = math.floor(low / step), math.ceil(high / step)
    center = min(max(center, first), last)
    right = _offsets(last - center, per_octave)
    left = _offsets(center - first, per_octave)
    indices = np.concatenate([center - left[:0:-1], center + right])
    return Grid(step, indices)


def _offsets(farthest: int, per_octave: int) -> NDArray[np.int64]:
    """Distances 0, 1, … that double their spacing every octave, ending with the farthest."""
    pieces = [np.arange(min(2 * per_octave, farthest) + 1, dtype=np.int64)]
    spacing, start = 2, 2 * per_octave
    while start < farthest:
        stop = min(2 * start, farthest)
        pieces.append(np.arange(start + spacing, stop + 1, spacing, dtype=np.int64))
        spacing, start = 2 * spacing, 2 * start
    offsets = np.concatenate(pieces)
    return offsets if offsets[-1] == farthest else np.append(offsets, np.int64(farthest))


Bound: TypeAlias = Literal["upper", "lower"]

# Relative error of a mass through the subtractions and sums that are not accounted for one by one.
_MASS_ERROR = 2.0**-49
# Raises the lowered polygon's depth over its own rounding; costs a thousandth of a small term.
_DEPTH_MARGIN = 1.001
# Error of the apex of a triangle that the margin above covers.
_APEX_ERROR = 1e-4
# An atom this fraction of a step below a grid point counts as on it; the shift is accounted for.
_NEARLY = 2.0**-20


@dataclass(frozen=True)
class LossDistribution:
    """Masses of a privacy loss on the multiples of a step: δ(ε) = m_∞ + Σ m_n (1 - e^(ε - nh)) over nh > ε.

    Guarantee: upper: the exact loss lowered by `loss_error` is dominated by these masses times ``1 + mass_error``;
    lower: the other way round, with raised and ``1 - mass_error``.
    """

    step: float
    indices: NDArray[np.int64]
    masses: Floats
    infinite: float
    loss_error: float
    mass_error: float

    def delta(self, epsilon: float) -> float:
        """Return the profile of these masses, without the rounding they record."""
        losses = self.indices * self.step
        above = losses > epsilon
        return self.infinite + float((self.masses[above] * -np.expm1(epsilon - losses[above])).sum())


def from_pair(pair: Pair, direction: Direction, grid: Grid, bound: Bound) -> LossDistribution:
    """Discretise the privacy loss of a pair on a grid of at least two losses.

    Guarantee: the upper profile is never below the exact one, and losses above the grid become infinite; the lower one
    is never above it, and losses outside of the grid are dropped or lowered.
    """
    return (_upper if bound == "upper" else _lower)(pair, direction, grid)


def _upper(pair: Pair, direction: Direction, grid: Grid) -> LossDistribution:
    points = grid.points
    shift = pair.loss_error(float(np.max(np.abs(points)))) + _product_error(points)
    total = 1.0
    if pair.knows_slopes:
        extended_p, extended_q = pair.smooth(direction, np.concatenate([[-np.inf], points]))
        total, above_p, above_q = float(extended_p[0]), extended_p[1:], extended_q[1:]
    else:
        above_p, above_q = pair.smooth(direction, points)
    error_p, error_q = tail_error(above_p), tail_error(above_q)
    powers, shrink = np.exp(points[:-1]), -np.expm1(points[:-1] - points[1:])
    inside_p = above_p[:-1] - above_p[1:]
    inside_q = powers * (above_q[:-1] - above_q[1:])
    error = error_p[:-1] + error_p[1:] + powers * (error_q[:-1] + error_q[1:])
    rise = inside_p - inside_q + error + (shift + 4.0 * UNIT) * np.abs(inside_q)
    most = above_p[:-1] + error_p[:-1] - above_p[1:] + error_p[1:]
    right = np.clip(rise / shrink * (1.0 + 4.0 * UNIT), 0.0, np.maximum(most, 0.0))
    tails = np.empty(points.size + 1)
    tails[-1] = above_p[-1] + error_p[-1]
    tails[1:-1] = above_p[1:] + error_p[1:] + right
    tails[0] = total * (1.0 + 32.0 * UNIT)
    tails = np.maximum.accumulate(tails[::-1])[::-1]
    masses = tails[:-1] - tails[1:]
    infinite = float(tails[-1]) + pair.infinite(direction)
    losses, weights = pair.atoms(direction)
    if losses.size:
        inside = losses <= points[-1]
        infinite += float(weights[~inside].sum())
        losses, weights = losses[inside], weights[inside]
        cells = np.searchsorted(points, losses, side="right") - 1
        cells = np.clip(cells, 0, points.size - 2)
        part = -np.expm1(np.minimum(points[cells] - losses, 0.0)) / shrink[cells]
        part = np.minimum(part * (1.0 + 8.0 * UNIT), 1.0)
        masses += np.bincount(cells, weights * (1.0 - part), points.size)
        masses += np.bincount(cells + 1, weights * part, points.size)
    return LossDistribution(grid.step, grid.indices, masses, infinite, shift, _MASS_ERROR)


def _lower(pair: Pair, direction: Direction, grid: Grid) -> LossDistribution:
    points = grid.points
    masses = np.zeros(points.size)
    above_p, above_q = pair.smooth(direction, points)
    tails = _Tails(above_p, above_q, tail_error(above_p), tail_error(above_q))
    shift = 0.0
    if pair.knows_slopes:
        masses, tails = _without_steep_cells(tails)
        shift = pair.loss_error(float(np.max(np.abs(points)))) if masses.any() else 0.0
    masses = masses + _lowered(pair, points, tails)
    losses, weights = pair.atoms(direction)
    if losses.size:
        nearly = losses + _NEARLY * grid.step
        inside = nearly >= points[0]
        losses, weights, nearly = losses[inside], weights[inside], nearly[inside]
        cells = np.searchsorted(points, nearly, side="right") - 1
        masses += np.bincount(cells, weights, points.size)
        # Also covers atoms that are themselves computed with an error.
        moved = max(float(np.max(points[cells] - losses, initial=0.0)), 0.0)
        moved += pair.loss_error(float(np.max(np.abs(losses), initial=0.0)))
        shift = max(shift, moved)
    infinite = pair.infinite(direction)
    shift += _product_error(points)
    return LossDistribution(grid.step, grid.indices, masses, infinite, shift, _MASS_ERROR)


def _product_error(points: Floats) -> float:
    """Bound the rounding of an index times a step, where the index has more than 23 bits."""
    return 2.0 * UNIT * float(np.max(np.abs(points)))


@dataclass(frozen=True)
class _Tails:
    """Tails above each point under P and Q, with bounds of their errors."""

    p: Floats
    q: Floats
    error_p: Floats
    error_q: Floats


def _without_steep_cells(tails: _Tails) -> tuple[Floats, _Tails]:
    """Round down the cells that hold most of what is above them; return that and the rest."""
    inside_p, inside_q = -np.diff(tails.p), -np.diff(tails.q)
    # A cell with so many times the mass of all above it is rounded down as one.
    steep = inside_p > 4.0 * tails.p[1:]
    rounded = np.zeros(tails.p.size)
    if not steep.any():
        return rounded, tails
    error_p = tails.error_p[:-1] + tails.error_p[1:]
    error_q = tails.error_q[:-1] + tails.error_q[1:]
    rounded[:-1] = np.where(steep, np.maximum(inside_p - error_p, 0.0), 0.0)
    rest = _Tails(
        _sums_above(np.where(steep, 0.0, inside_p), tails.p[-1]),
        _sums_above(np.where(steep, 0.0, inside_q), tails.q[-1]),
        tails.error_p + _sums_above(np.where(steep, error_p, 0.0), 0.0) + UNIT * tails.p,
        tails.error_q + _sums_above(np.where(steep, error_q, 0.0), 0.0) + UNIT * tails.q,
    )
    return rounded, rest


def _sums_above(cells: Floats, last: float) -> Floats:
    """Return the sum of all cells above each point, and of what is beyond the last one."""
    return np.append(np.cumsum(cells[::-1])[::-1] + last, last)


def _lowered(pair: Pair, points: Floats, tails: _Tails) -> Floats:
    """Return the masses of a polygon below the profile, with corners at the points."""
    powers = np.exp(points)
    shrink = -np.expm1(points[:-1] - points[1:])
    drop = tails.q[:-1] - tails.q[1:] + tails.error_q[:-1] + tails.error_q[1:]
    if not pair.knows_slopes:
        # The slope at a point is between those of the chords on its two sides.
        first = (1.0 - tails.p[0] + powers[0] * tails.q[0]) / powers[0] - tails.q[0]
        drop = drop + np.concatenate([[max(first, 0.0)], tails.q[:-2] - tails.q[1:-1]])
    error = tails.error_p + powers * tails.error_q
    inside = tails.p[:-1] - tails.p[1:] - powers[:-1] * (tails.q[:-1] - tails.q[1:])
    right = np.maximum((inside - error[:-1] - error[1:]) / shrink, 0.0)
    # Height of a triangle over a chord of length dx with slopes that differ by drop.
    height = 0.25 * _DEPTH_MARGIN * powers[1:] * shrink * np.maximum(drop, 0.0)
    # Where in each cell its two tangents meet, if that is known well enough.
    moved = np.maximum(drop * powers[1:], 1e-300)
    known = (error[:-1] + error[1:]) / shrink < _APEX_ERROR * moved
    depth = _depth(height, np.clip(right / moved, 0.0, 1.0), known & pair.knows_slopes)
    above = tails.p - tails.error_p - depth
    above[1:] += right + (depth[1:] - depth[:-1]) / shrink
    above[1:] -= 8.0 * UNIT * (depth[1:] + depth[:-1]) / shrink
    values = tails.p - powers * tails.q - error - depth
    ended = np.flatnonzero((above < 0.0) | (values < 0.0))
    if ended.size:
        above[ended[0] :] = 0.0
    above = np.minimum.accumulate(above)
    masses: Floats = above - np.append(above[1:], 0.0)
    return masses


def _depth(height: Floats, apex: Floats, known: NDArray[np.bool_]) -> Floats:
    """Return how far each point is lowered so that every chord is lowered enough at its apex."""
    left, right = np.insert(height, 0, 0.0), np.append(height, 0.0)
    depth = np.minimum(0.5 * (left + right), 3.0 * np.minimum(left, right))
    reached = (1.0 - apex) * depth[:-1] + apex * depth[1:]
    reached = np.where(known, reached, np.minimum(depth[:-1], depth[1:]))
    missing = np.maximum(height - reached, 0.0)
    lifted: Floats = depth + np.maximum(np.insert(missing, 0, 0.0), np.append(missing, 0.0))
    return lifted
