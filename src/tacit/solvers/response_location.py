"""Where the response lies and how wide it is, from counts alone.

Of two labels their share, by one count. Of numbers eight bisections for the median between public
ends, then five, over ten octaves, for the radius around it that holds 70% of the records; a mean
where one is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tacit.contract.plan import Plan, Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import Answer, ColumnCounts, Gate, Measure, QueryKind, ResidualSize
from tacit.design.response import Count
from tacit.losses.links import margin_of
from tacit.solvers.coordinates import Vector, response_ends
from tacit.solvers.quantiles import around, bisect, bisect_octaves, records_below
from tacit.solvers.rules import LABELS, RESPONSE, between
from tacit.solvers.solver import PublicFacts, priced


@dataclass(frozen=True)
class LocatingResponse:
    """Number of counts for the median and for the radius; and whether the mean is asked for."""

    medians: int
    radii: int
    mean: bool = False

    def steps(self, facts: PublicFacts, share: Fraction) -> list[Step]:
        """Price the counts, and the mean at as much."""
        rounds = self.medians + self.radii
        if not self.mean:
            return [priced(facts, QueryKind.COUNTS, share, rounds, Purpose.RESPONSE_LOCATION)]
        return [
            priced(facts, QueryKind.COUNTS, share / 2, rounds, Purpose.RESPONSE_LOCATION),
            priced(facts, QueryKind.COUNTS, share / 2, 1, Purpose.RESPONSE_MEAN),
        ]


@dataclass(frozen=True)
class ResponseLocation:
    """Median, mean size of deviations from it, and mean where asked for; in prepared units."""

    median: float
    size: float
    mean: float | None = None


def locate_response(gate: Gate, plan: Plan, asked: LocatingResponse) -> ResponseLocation:
    """Ask for the counts."""
    low, high = response_ends(plan)
    column = plan.design.width

    def below(end: float) -> float:
        return records_below(gate, column, end)

    # Without an intercept nothing can follow a shift, and distances are from zero.
    median = bisect(below, low, high, asked.medians, plan.count / 2) if asked.medians else 0.0

    def within(radius: float) -> float:
        ends = around(np.array([median]), np.array([radius]))
        return float(gate.ask(ColumnCounts((column,), *ends)).value[0])

    held = RESPONSE.held * plan.count
    radius = bisect_octaves(within, high - low, RESPONSE.octaves, asked.radii, held)
    size = radius / RESPONSE.size
    return ResponseLocation(median, size, _mean(gate, plan, median, size) if asked.mean else None)


def ask_mean(gate: Gate, plan: Plan, low: float, high: float) -> Answer:
    """Ask for the sum of shares of the way from low to high at which responses lie, cut there."""
    query = ResidualSize(
        np.zeros(plan.design.width), high - low, lowest=0.0, highest=0.0, measure=Measure.SHARE, start=low
    )
    return gate.ask(query)


def _mean(gate: Gate, plan: Plan, median: float, size: float) -> float:
    """Mean of the response cut at a public multiple of what is known of it."""
    low, high = response_ends(plan)
    least = RESPONSE.least_size if isinstance(plan.design.response, Count) else 0.0
    top = min(high, median + RESPONSE.mean_cut * max(size, least))
    mean = low + (top - low) * float(ask_mean(gate, plan, low, top).value[0]) / plan.count
    return between(mean, low + (top - low) / RESPONSE.mean_floor, high)


def label_start(gate: Gate, plan: Plan) -> Vector:
    """Coefficients of the prepared row whose intercept is the margin of the labels' share.

    The noised share is pulled to one half, by what its noise alone would explain.
    """
    answer = gate.ask(ColumnCounts((plan.design.width,), np.array([0.5]), np.array([1.5])))
    noise = answer.noise_scale / plan.count
    gap = float(answer.value[0]) / plan.count - 0.5
    share = 0.5 + gap * LABELS.prior_variance / (LABELS.prior_variance + noise**2)
    share = between(share, LABELS.farthest_share, 1 - LABELS.farthest_share)
    start = np.zeros(plan.design.width)
    start[-1] = margin_of(plan.loss.code, share)
    return start
