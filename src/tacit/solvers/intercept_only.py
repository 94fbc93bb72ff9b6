"""An intercept and slopes of zero: where slopes would be noise, the response's level is released.

A mean x of noise σ is pulled to the public middle m of the range by what the noise alone would explain,

    m + (x - m)·max(0, 1 - a σ² / (x - m)²)          (Stein's positive part)

One noised mean cannot both keep to the middle and follow a mean two noises away (benchmarks/level_bound.py). So below
n·μ = 40 the records near the middle are counted first. Where most are there, the mean is that of values cut to a
narrow range, with less noise; elsewhere it is that of the whole range. Above, the median and the scale are asked for,
and the mean near the median is taken unless the mean of the range tells that a tail was cut. A quantile, or Huber's
center, goes by the median alone, and below n·μ = 25 by one mean of the range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tacit.contract.plan import Plan, Solution
from tacit.contract.purpose import Purpose
from tacit.contract.query import ColumnCounts, Gate, QueryKind
from tacit.losses.loss import LOG_LINKED, TWO_LABELS, Code
from tacit.solvers.coordinates import response_ends
from tacit.solvers.level_rules import NEAR_MIDDLE
from tacit.solvers.quantiles import around, bisect, records_below
from tacit.solvers.response_location import LocatingResponse, ResponseLocation, ask_mean, label_start, locate_response
from tacit.solvers.rules import INTERCEPT_ONLY, RESPONSE, STAGED, between
from tacit.solvers.solver import CoefficientSolver, PublicFacts, SolverOptions, assembled, priced


@dataclass(frozen=True)
class InterceptOnly(CoefficientSolver):
    """The level of the response; its median and scale are asked for first, if that is planned.

    With `whole` the mean of the whole range is asked for beside that near the median. With `near`, which is n·μ, the
    records near the middle are counted before the mean.
    """

    locating_response: LocatingResponse | None = None
    whole: bool = False
    near: float | None = None
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
        low, high = response_ends(plan)
        if self.near is not None:
            return _positive(plan, _mean_by_count(gate, plan, self.near), high - low)
        if self.locating_response is None:
            return _positive(plan, pulled(*_mean_between(gate, plan, low, high), low, high), high - low)
        location = locate_response(gate, plan, self.locating_response)
        if plan.loss.code is Code.PINBALL:
            return _quantile(gate, plan, location)
        whole = _mean_between(gate, plan, low, high) if self.whole else None
        mean, noise, top = _mean_near(gate, plan, location)
        if whole is not None and abs(mean - whole[0]) > INTERCEPT_ONLY.apart * math.hypot(noise, whole[1]):
            (mean, noise), top = whole, high
        return _positive(plan, pulled(mean, noise, low, high), top)


def _mean_by_count(gate: Gate, plan: Plan, n_mu: float) -> float:
    """Mean near the middle of the range where the count says that most records are there, else of the range."""
    low, high = response_ends(plan)
    middle, half = (low + high) / 2, NEAR_MIDDLE.half_width.at(n_mu) * (high - low)
    ends = around(np.array([middle]), np.array([half]))
    held = float(gate.ask(ColumnCounts((plan.design.width,), *ends)).value[0]) / plan.count
    times = NEAR_MIDDLE.whole_pull.at(n_mu)
    if held >= NEAR_MIDDLE.held.at(n_mu):
        low, high, times = middle - half, middle + half, NEAR_MIDDLE.pull.at(n_mu)
    return pulled(*_mean_between(gate, plan, low, high), low, high, times)


def pulled(mean: float, noise: float, low: float, high: float, times: float | None = None) -> float:
    """A noised mean within a public range, pulled to its middle by so many variances of its noise."""
    middle, wide = (low + high) / 2, high - low
    if noise <= 0:
        return between(mean, low, high)
    gap = mean - middle
    taken = (INTERCEPT_ONLY.pull.at(wide / noise) if times is None else times) * noise**2
    kept = max(0.0, 1 - taken / gap**2) if gap != 0 else 0.0
    return between(middle + kept * gap, low, high)


def _mean_near(gate: Gate, plan: Plan, location: ResponseLocation) -> tuple[float, float, float]:
    """Mean of the response within some sizes of its median, its noise and the upper end: more, the less noise."""
    noise = plan.step(Purpose.RESPONSE_LEVEL).noise_share(plan.count)
    most = 1 / (INTERCEPT_ONLY.mean_noise * noise) if noise > 0 else math.inf
    low, high = _near(plan, location, max(INTERCEPT_ONLY.mean_sizes, most))
    return *_mean_between(gate, plan, low, high), high


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
    # A quantile or a robust center is near the median, whatever the mean of the range is.
    robust = facts.loss.code in {Code.PINBALL, Code.HUBER}
    if facts.n_mu(allowed) < (INTERCEPT_ONLY.counts_pay if robust else INTERCEPT_ONLY.means_pay):
        if robust:
            steps = (priced(facts, QueryKind.COUNTS, allowed, 1, Purpose.RESPONSE_MEAN),)
            return assembled(facts, InterceptOnly(), steps)
        n_mu = facts.n_mu(allowed)
        part = allowed * Fraction(NEAR_MIDDLE.share.at(n_mu))
        near = priced(facts, QueryKind.COUNTS, part, 1, Purpose.NEAR_MIDDLE)
        mean = priced(facts, QueryKind.COUNTS, allowed - part, 1, Purpose.RESPONSE_MEAN)
        return assembled(facts, InterceptOnly(near=n_mu), (near, mean))
    locating = LocatingResponse(RESPONSE.medians, RESPONSE.radii)
    if robust:
        rounds = STAGED.shift_rounds if facts.loss.code is Code.PINBALL else 1
        share = allowed * INTERCEPT_ONLY.counts_share
        level = priced(facts, QueryKind.COUNTS, allowed - share, rounds, Purpose.RESPONSE_LEVEL)
        return assembled(facts, InterceptOnly(locating), (*locating.steps(facts, share), level))
    first, second = (allowed * share for share in INTERCEPT_ONLY.shares)
    whole = priced(facts, QueryKind.COUNTS, second, 1, Purpose.RESPONSE_MEAN)
    level = priced(facts, QueryKind.COUNTS, allowed - first - second, 1, Purpose.RESPONSE_LEVEL)
    return assembled(facts, InterceptOnly(locating, whole=True), (*locating.steps(facts, first), whole, level))
