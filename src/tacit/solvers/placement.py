"""Where the response lies and how wide it is, from counts alone.

Eight bisections for the median between public ends, then five, over ten octaves, for the radius
around it that holds seven tenths of the records; a mean where one is asked for. Public rules on
noised answers, a fixed number of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from tacit.contract.gate import Gate
from tacit.contract.plan import Placing, Plan
from tacit.contract.query import ColumnCounts, Measure, ResidualSize
from tacit.design.response import Count

LEVEL = 0.7
"""Share of the records that a radius holds."""
OCTAVES = 10
MEAN_SIZE = 1.3
"""Radius that holds seven tenths of a normal response, over its mean distance from the center."""
DEVIATIONS = 1.036
"""The same radius over the standard deviation."""
NORMAL_DEVIATION = 1.25
"""Standard deviation of a normal variable over its mean size."""
MEAN_REACH = 6.0
"""A mean is taken of values cut at so many mean sizes above the median."""

Asked = TypeVar("Asked")


@dataclass(frozen=True)
class Place:
    """Median, mean size of deviations from it, and mean where asked for; in prepared units."""

    median: float
    size: float
    mean: float | None = None


def place_response(gate: Gate, plan: Plan, placing: Placing) -> Place:
    """Ask for the placing's counts."""
    low, high = response_ends(plan)
    column = (plan.design.width,)
    half = plan.count / 2

    def below(end: float) -> float:
        query = ColumnCounts(column, np.array([-math.inf]), np.array([end]))
        return float(gate.ask(query).value[0])

    # Without an intercept nothing can follow a shift, and distances are from zero.
    median = bisect(below, low, high, placing.medians, half) if placing.medians else 0.0

    def around(radius: float) -> float:
        ends = np.array([np.nextafter(median - radius, -math.inf)]), np.array([median + radius])
        return float(gate.ask(ColumnCounts(column, *ends)).value[0])

    radius = bisect_octaves(around, high - low, OCTAVES, placing.radii, LEVEL * plan.count)
    size = radius / MEAN_SIZE
    return Place(median, size, _mean(gate, plan, median, size) if placing.mean else None)


def response_ends(plan: Plan) -> tuple[float, float]:
    """Public ends of the prepared response."""
    response = plan.design.response
    return (0.0, response.upper) if isinstance(response, Count) else (-1.0, 1.0)


def bisect(
    count: Callable[[float], float], low: float, high: float, rounds: int, wanted: float
) -> float:
    """Return where a rising count reaches what is wanted, after so many halvings of the ends."""
    for _ in range(rounds):
        middle = (low + high) / 2
        if count(middle) < wanted:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def bisect_octaves(
    count: Callable[[float], float], top: float, octaves: int, rounds: int, wanted: float
) -> float:
    """The same for a radius between top / 2^octaves and top, by its logarithm."""
    power = bisect(lambda x: count(top * 2.0**x), -float(octaves), 0.0, rounds, wanted)
    return float(top * 2.0**power)


def _mean(gate: Gate, plan: Plan, median: float, size: float) -> float:
    """Mean of the response cut at a public multiple of what is known of it."""
    low, high = response_ends(plan)
    top = min(high, median + MEAN_REACH * max(size, 0.5))
    query = ResidualSize(
        np.zeros(plan.design.width),
        top - low,
        lowest=0.0,
        highest=0.0,
        measure=Measure.SHARE,
        start=low,
    )
    mean = low + (top - low) * float(gate.ask(query).value[0]) / plan.count
    return min(max(mean, low + (top - low) / 200), high)
