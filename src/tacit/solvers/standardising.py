"""Centre and scale of every column from counts alone, as a linear map of the prepared row.

Twelve bisections for a column's median, then six, over thirteen octaves, for the radius around it
that holds a share of the records as large as the noise lets one see. One answer counts all columns
at once. Values are not clipped: a map to (x - m) / s moves no record and changes no model, and
public bounds enter through the logarithm of their width only. Columns of zeros and ones keep their
scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from tacit.contract.gate import Gate
from tacit.contract.plan import Plan, Standardising
from tacit.contract.query import ColumnCounts
from tacit.solvers.doubtful_bisection import doubted, seek

OCTAVES = 12
SMALLEST_SHARE, LARGEST_SHARE = 0.6, 0.98
COUNTED = 0.1
"""Three deviations of a number of records that had to be counted, as a share of it."""

RARE = 0.05
"""Share of the records elsewhere, as counted, up to which a column is rare."""
NEAR_ZERO = 2.0**-10
"""Distance from the user's zero, as a share of half the range, at which a median counts as zero."""

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Standards:
    """Centre and scale of every stored column, response last; 0 and 1 where not asked.

    `rare` are the columns of one value but for a few records, which keep the scale they have.
    """

    centers: Vector
    scales: Vector
    rare: tuple[int, ...] = ()


def standardise(gate: Gate, plan: Plan, asked: Standardising) -> Standards:
    """Ask for the counts of all columns."""
    places = np.array(asked.columns, dtype=np.int64)
    below, noise = np.full(len(places), -math.inf), 0.0
    inside = np.zeros(len(places))

    def up_to(end: Vector) -> tuple[Vector, float]:
        nonlocal noise
        answer = gate.ask(ColumnCounts(asked.columns, below, end))
        noise = answer.noise_scale / plan.count
        return answer.value / plan.count, doubted(noise)

    median = np.zeros(len(places))
    if asked.medians:
        median = seek(up_to, median - 1.0, median + 1.0, asked.medians, 0.5)
    share = min(max(1 - 4 * noise, SMALLEST_SHARE), LARGEST_SHARE)

    def within(power: Vector) -> tuple[Vector, float]:
        nonlocal inside, noise
        radius = np.exp2(power)
        ends = np.nextafter(median - radius, -math.inf), median + radius
        answer = gate.ask(ColumnCounts(asked.columns, *ends))
        noise = answer.noise_scale / plan.count
        inside = inside + answer.value / plan.count
        return answer.value / plan.count, doubted(noise)

    small, large = np.full(len(places), -float(OCTAVES)), np.full(len(places), 1.0)
    power = seek(within, small, large, asked.radii, share)
    lowest = -OCTAVES + (OCTAVES + 1) / 2.0**asked.radii
    scale = np.exp2(power) / NormalDist().inv_cdf((1 + share) / 2)
    # A column of one value but for a few records shows no scale, and keeps the one it has.
    elsewhere = 1 - inside / asked.radii
    doubt = 3 * noise / math.sqrt(asked.radii)
    doubt += 0.0 if plan.counting is None else COUNTED
    alone = (power < lowest) & ((elsewhere > doubt) | _at_zero(plan, places, median))
    scale = np.where(alone, 1.0, scale)
    centers, scales = np.zeros(plan.design.width + 1), np.ones(plan.design.width + 1)
    centers[places], scales[places] = median, scale
    rare = places[alone & (elsewhere <= RARE) & (places < plan.design.width)]
    return Standards(centers, scales, tuple(rare.tolist()))


def _at_zero(plan: Plan, places: NDArray[np.int64], median: Vector) -> NDArray[np.bool_]:
    """Whether medians lie where the user's zero does, which all but a few records may share."""
    columns = plan.design.columns
    zero = [-columns[j].center / columns[j].scale if j < len(columns) else math.nan for j in places]
    return np.asarray(np.abs(median - np.array(zero)) <= NEAR_ZERO)


def linear_map(plan: Plan, centers: Vector, scales: Vector) -> NDArray[np.float64]:
    """Matrix T with T'(u, 1) = ((u - center) / scale, 1); without an intercept nothing moves."""
    width = plan.design.width
    matrix = np.diag(1.0 / scales[:width])
    if plan.design.intercept:
        matrix[-1, :-1] = -centers[: width - 1] / scales[: width - 1]
        matrix[-1, -1] = 1.0
    return matrix
