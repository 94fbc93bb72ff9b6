"""The response's level alone: an intercept, and slopes of zero."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tacit.contract.gate import Gate
from tacit.contract.plan import Plan
from tacit.contract.query import ColumnCounts, Measure, ResidualSize
from tacit.losses.loss import Code
from tacit.solvers.calming import odds_of_labels
from tacit.solvers.placement import Place, bisect, place_response, response_ends

PRIOR_DEVIATION = 0.25
"""Assumed deviation of the mean from the middle of the range, in ranges."""
QUANTILE_REACH = 6.0
SMALLEST_RATE = 1 / 200
"""Floor of a mean count, in units of what it was cut at."""


def find_level(gate: Gate, plan: Plan) -> NDArray[np.float64]:
    """Return coefficients of the prepared row: the level as intercept, nothing else."""
    if plan.loss.code is Code.LOGISTIC:
        return odds_of_labels(gate, plan)
    theta = np.zeros(plan.design.width)
    if plan.placing is None:
        level = _pulled_mean(gate, plan)
    else:
        place = place_response(gate, plan, plan.placing)
        level = (
            _quantile(gate, plan, place)
            if plan.loss.code is Code.PINBALL
            else _mean_near(gate, plan, place)
        )
    theta[-1] = math.log(level) if plan.loss.code is Code.POISSON else level
    return theta


def _pulled_mean(gate: Gate, plan: Plan) -> float:
    low, high = response_ends(plan)
    mean, noise = _mean_between(gate, plan, low, high)
    middle = (low + high) / 2
    kept = 1 / (1 + (noise / (PRIOR_DEVIATION * (high - low))) ** 2)
    level = min(max(middle + kept * (mean - middle), low), high)
    return max(level, (high - low) * SMALLEST_RATE) if plan.loss.code is Code.POISSON else level


def _mean_near(gate: Gate, plan: Plan, place: Place) -> float:
    """Mean of the response kept within some sizes of its median: more, the less noise there is."""
    low, high = response_ends(plan)
    price = plan.steps[-1].price
    share = 0.0 if price is None else 2.0**price.bits / (price.bound * plan.count)
    reach = place.size * max(2.0, 1 / (20 * share) if share > 0 else math.inf)
    ends = max(low, place.median - reach), min(high, place.median + reach)
    mean, _ = _mean_between(gate, plan, *ends)
    return max(mean, ends[1] * SMALLEST_RATE) if plan.loss.code is Code.POISSON else mean


def _mean_between(gate: Gate, plan: Plan, low: float, high: float) -> tuple[float, float]:
    """Mean of the response kept between two ends, and the noise on it."""
    if high <= low:
        high = low + 1e-6
    query = ResidualSize(
        np.zeros(plan.design.width),
        high - low,
        lowest=0.0,
        highest=0.0,
        measure=Measure.SHARE,
        start=low,
    )
    answer = gate.ask(query)
    share = float(answer.value[0]) / plan.count
    noise = answer.noise_scale / plan.count
    return low + (high - low) * min(max(share, 0.0), 1.0), (high - low) * noise


def _quantile(gate: Gate, plan: Plan, place: Place) -> float:
    low, high = response_ends(plan)
    reach = QUANTILE_REACH * place.size
    ends = max(low, place.median - reach), min(high, place.median + reach)
    column = (plan.design.width,)

    def below(end: float) -> float:
        query = ColumnCounts(column, np.array([-math.inf]), np.array([end]))
        return float(gate.ask(query).value[0])

    rounds = plan.steps[-1].times
    return bisect(below, *ends, rounds, plan.loss.shape[0] * plan.count)
