"""An intercept and slopes of zero: where slopes would be noise, the response's level is released.

Below n·μ = 25 even counts would be noise: one mean over the whole range, pulled to its middle by
what the noise alone would explain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tacit.contract.plan import Plan, Solution
from tacit.contract.purpose import Purpose
from tacit.contract.query import Gate, QueryKind
from tacit.losses.loss import LOG_LINKED, TWO_LABELS, Code
from tacit.solvers.coordinates import response_ends
from tacit.solvers.quantiles import bisect, records_below
from tacit.solvers.response_location import LocatingResponse, ResponseLocation, ask_mean, label_start, locate_response
from tacit.solvers.rules import INTERCEPT_ONLY, RESPONSE, STAGED, between
from tacit.solvers.solver import CoefficientSolver, PublicFacts, SolverOptions, assembled, priced


@dataclass(frozen=True)
class InterceptOnly(CoefficientSolver):
    """The level of the response; its median and scale are asked for first, if that is planned."""

    locating_response: LocatingResponse | None = None
    name: str = "level"
    maps_rows: ClassVar[bool] = False
    level_only: ClassVar[bool] = True

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for the level."""
        if plan.loss.code in TWO_LABELS:
            return Solution(label_start(gate, plan))
        theta = np.zeros(plan.design.width)
        level = self._level(gate, plan)
        theta[-1] = math.log(level) if plan.loss.code in LOG_LINKED else level
        return Solution(theta)

    def _level(self, gate: Gate, plan: Plan) -> float:
        if self.locating_response is None:
            return _pulled_mean(gate, plan)
        location = locate_response(gate, plan, self.locating_response)
        if plan.loss.code is Code.PINBALL:
            return _quantile(gate, plan, location)
        return _mean_near(gate, plan, location)


def _pulled_mean(gate: Gate, plan: Plan) -> float:
    low, high = response_ends(plan)
    mean, noise = _mean_between(gate, plan, low, high)
    middle = (low + high) / 2
    pull = 1 / (1 + (noise / (INTERCEPT_ONLY.prior * (high - low))) ** 2)
    level = between(middle + pull * (mean - middle), low, high)
    return _positive(plan, level, high - low)


def _mean_near(gate: Gate, plan: Plan, location: ResponseLocation) -> float:
    """Mean of the response within some sizes of its median: more, the less noise there is."""
    noise = plan.step(Purpose.RESPONSE_LEVEL).noise_share(plan.count)
    most = 1 / (INTERCEPT_ONLY.mean_noise * noise) if noise > 0 else math.inf
    low, high = _near(plan, location, max(INTERCEPT_ONLY.mean_sizes, most))
    mean, _ = _mean_between(gate, plan, low, high)
    return _positive(plan, mean, high)


def _quantile(gate: Gate, plan: Plan, location: ResponseLocation) -> float:
    ends = _near(plan, location, INTERCEPT_ONLY.quantile_sizes)

    def below(end: float) -> float:
        return records_below(gate, plan.design.width, end)

    rounds = plan.step(Purpose.RESPONSE_LEVEL).times
    return bisect(below, *ends, rounds, plan.loss.shape[0] * plan.count)


def _near(plan: Plan, location: ResponseLocation, sizes: float) -> tuple[float, float]:
    """Ends so many mean sizes from the median, within the range of the response."""
    low, high = response_ends(plan)
    distance = location.size * sizes
    return max(low, location.median - distance), min(high, location.median + distance)


def _positive(plan: Plan, level: float, top: float) -> float:
    """Return the level; of counts, whose logarithm is taken, no less than a share of the top."""
    if plan.loss.code not in LOG_LINKED:
        return level
    return max(level, top * INTERCEPT_ONLY.smallest_rate)


def _mean_between(gate: Gate, plan: Plan, low: float, high: float) -> tuple[float, float]:
    """Mean of the response cut at two ends, and the noise on it."""
    if high <= low:
        high = low + 1e-6
    answer = ask_mean(gate, plan, low, high)
    share = between(float(answer.value[0]) / plan.count, 0.0, 1.0)
    return low + (high - low) * share, (high - low) * (answer.noise_scale / plan.count)


def plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price the level of a continuous response, of counts, or of two labels."""
    del options
    if facts.loss.code in TWO_LABELS:
        steps = (priced(facts, QueryKind.COUNTS, allowed, 1, Purpose.LABEL_SHARE),)
        return assembled(facts, InterceptOnly(), steps)
    if facts.n_mu(allowed) < INTERCEPT_ONLY.counts_pay:
        steps = (priced(facts, QueryKind.COUNTS, allowed, 1, Purpose.RESPONSE_MEAN),)
        return assembled(facts, InterceptOnly(), steps)
    locating = LocatingResponse(RESPONSE.medians, RESPONSE.radii)
    rounds = STAGED.shift_rounds if facts.loss.code is Code.PINBALL else 1
    share = allowed * INTERCEPT_ONLY.counts_share
    level = priced(facts, QueryKind.COUNTS, allowed - share, rounds, Purpose.RESPONSE_LEVEL)
    return assembled(facts, InterceptOnly(locating), (*locating.steps(facts, share), level))
