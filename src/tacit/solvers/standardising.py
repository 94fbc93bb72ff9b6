"""Centre and scale of every column from counts alone, as a linear map of the prepared row.

Twelve bisections for a column's median, then six, over thirteen octaves, for the radius around it
that holds a share of the records as large as the noise lets one see. One answer counts all columns
at once. Values are not clipped: a map to (x - m) / s moves no record and changes no model, and
public bounds enter through the logarithm of their width only. Columns of zeros and ones keep their
scale.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from tacit.problem.gate import Gate
from tacit.problem.plan import Plan, Standardising
from tacit.problem.query import ColumnCounts

OCTAVES = 12
SMALLEST_SHARE, LARGEST_SHARE = 0.6, 0.98
COUNTED = 0.1
"""Three deviations of a number of records that had to be counted, as a share of it."""

Vector = NDArray[np.float64]


def standardise(gate: Gate, plan: Plan, asked: Standardising) -> tuple[Vector, Vector]:
    """Return centre and scale of every stored column, response last; 0 and 1 where not asked."""
    places = np.array(asked.columns, dtype=np.int64)
    low, high = np.full(len(places), -1.0), np.full(len(places), 1.0)
    half, below = plan.count / 2, np.full(len(places), -math.inf)
    noise = 0.0
    for _ in range(asked.medians):
        middle = (low + high) / 2
        answer = gate.ask(ColumnCounts(asked.columns, below, middle))
        enough = answer.value >= half
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        noise = answer.noise_scale
    median = (low + high) / 2 if asked.medians else np.zeros(len(places))
    share = min(max(1 - 4 * noise / plan.count, SMALLEST_SHARE), LARGEST_SHARE)
    small, large = np.full(len(places), -float(OCTAVES)), np.full(len(places), 1.0)
    inside = np.zeros(len(places))
    for _ in range(asked.radii):
        middle = (small + large) / 2
        radius = np.exp2(middle)
        ends = np.nextafter(median - radius, -math.inf), median + radius
        answer = gate.ask(ColumnCounts(asked.columns, *ends))
        inside += answer.value
        enough = answer.value >= share * plan.count
        small, large = np.where(enough, small, middle), np.where(enough, middle, large)
    scale = np.exp2((small + large) / 2) / NormalDist().inv_cdf((1 + share) / 2)
    # A column of one value but for a few records shows no scale, and keeps the one it has.
    elsewhere = 1 - inside / (asked.radii * plan.count)
    doubt = 3 * answer.noise_scale / (plan.count * math.sqrt(asked.radii))
    doubt += 0.0 if plan.counting is None else COUNTED
    scale = np.where((small == -OCTAVES) & (elsewhere > doubt), 1.0, scale)
    centers, scales = np.zeros(plan.design.width + 1), np.ones(plan.design.width + 1)
    centers[places], scales[places] = median, scale
    return centers, scales


def linear_map(plan: Plan, centers: Vector, scales: Vector) -> NDArray[np.float64]:
    """Matrix T with T'(u, 1) = ((u - center) / scale, 1); without an intercept nothing moves."""
    width = plan.design.width
    matrix = np.diag(1.0 / scales[:width])
    if plan.design.intercept:
        matrix[-1, :-1] = -centers[: width - 1] / scales[: width - 1]
        matrix[-1, -1] = 1.0
    return matrix
