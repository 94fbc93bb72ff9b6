"""How large the residuals of a stage are, by counts, and losses in units of that."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tacit.contract.plan import Plan
from tacit.contract.query import Gate, Measure, ResidualSize
from tacit.design.response import Count, Positive
from tacit.losses import log_link, poisson, regression
from tacit.losses.loss import Code, Loss
from tacit.solvers.coordinates import Coordinates, Vector, response_ends
from tacit.solvers.far_out_rules import FAR_OUT
from tacit.solvers.quantiles import FARTHEST, bisect, bisect_octaves, residuals_within
from tacit.solvers.rules import RESPONSE, STAGED, between


@dataclass(frozen=True)
class Residuals:
    """Mean size and standard deviation of residuals, in prepared units; the mean rate of counts."""

    size: float
    deviation: float
    rate: float


def loss_in_units(plan: Plan, known: Residuals, *, first: bool) -> Loss:
    """Return a stage's loss, with shapes in units of what was measured."""
    loss = plan.loss
    match loss.code:
        case Code.HUBER if loss.relative:
            return in_units(loss, known.deviation)
        case Code.PINBALL:
            if first:
                return regression.pinball(0.5, STAGED.first_corner * known.deviation)
            return in_units(loss, known.deviation) if loss.relative else loss
        case Code.POISSON:
            cap = min(loss.shape[0], math.log(known.rate) + STAGED.largest_rate)
            return poisson.loss(cap, response_ends(plan)[1])
        case Code.GAMMA | Code.NEGATIVE_BINOMIAL:
            middle = math.log(known.rate)
            ends = middle - STAGED.largest_rate, middle + STAGED.largest_rate
            return log_link.narrowed(loss, *ends, response_ends(plan)[1])
    return loss


def slope_size(loss: Loss, known: Residuals) -> float:
    """Unit of a clip of slopes: their mean size, or the bound on them where there is one."""
    if loss.code in {Code.GAMMA, Code.NEGATIVE_BINOMIAL}:
        return known.size / log_link.slope_unit(loss, known.rate)
    return known.size if loss.code in {Code.SQUARED, Code.POISSON} else loss.lipschitz


def in_units(loss: Loss, deviation: float) -> Loss:
    """Return a relative loss with its shape in the response's units."""
    first, second = loss.shape
    if loss.code is Code.PINBALL:
        width = second * deviation
        return replace(loss, shape=(first, width), smoothness=0.5 / width, relative=False)
    threshold = first * deviation
    return replace(loss, shape=(threshold, 0.0), lipschitz=threshold, relative=False)


def step_unit(loss: Loss, known: Residuals) -> float:
    """Unit of a step: the inverse of the loss's typical curvature."""
    if loss.code is Code.PINBALL:
        return known.deviation
    if loss.code in {Code.GAMMA, Code.NEGATIVE_BINOMIAL}:
        return 1 / log_link.expected_curvature(loss, known.rate)
    return 1 / known.rate if loss.code is Code.POISSON else 1.0


def measure(
    gate: Gate,
    plan: Plan,
    rounds: int,
    coordinates: Coordinates,
    theta: Vector,
    known: Residuals,
    one_in: int,
    *,
    far_out: bool = False,
) -> Residuals:
    """Ask for the mean size of the residuals (one round) or the radius of most (several).

    With `far_out` residuals are squared, and cut at a share of the range; the size stays what it was where their mean
    square does not stand out of its noise.
    """
    low, high = response_ends(plan)
    if rounds == 0:
        return known
    if rounds > 1:

        def within(radius: float) -> float:
            return residuals_within(gate, theta, -radius, radius, coordinates.matrix, one_in=one_in)

        top = min(2 * (high - low), STAGED.scale_cap * known.deviation)
        held = RESPONSE.held * plan.count
        radius = bisect_octaves(within, top, STAGED.scale_octaves, rounds, held)
        deviation = radius / RESPONSE.deviation
        return replace(known, size=deviation / RESPONSE.normal, deviation=deviation)
    if far_out:
        return _measured_far_out(gate, plan, coordinates, theta, known, one_in)
    cap = min(high - low, STAGED.size_cap * known.size)
    counts = isinstance(plan.design.response, Count | Positive)
    if counts:
        ends = loss_in_units(plan, known, first=False).shape
        low, high = -STAGED.largest_rate * 10, ends[0]
        if plan.loss.code is not Code.POISSON:
            low, high = ends[log_link.LOWEST], ends[log_link.HIGHEST]
    query = ResidualSize(theta, cap, coordinates.matrix, low, high, exponential=counts, every=one_in)
    mean = cap * float(gate.ask(query).value[0]) / plan.count
    size = between(mean, cap / STAGED.size_floor, cap)
    return replace(known, size=size, deviation=RESPONSE.normal * size)


def is_shared(plan: Plan, known: Residuals) -> bool:
    """Whether most records have one response, as finely as their median was sought."""
    low, high = response_ends(plan)
    return known.size < FAR_OUT.shared * (high - low)


def _measured_far_out(
    gate: Gate, plan: Plan, coordinates: Coordinates, theta: Vector, known: Residuals, one_in: int
) -> Residuals:
    """Size by the mean square: what most records are near tells nothing of the others."""
    low, high = response_ends(plan)
    cap = FAR_OUT.cut * (high - low)
    query = ResidualSize(theta, cap, coordinates.matrix, low, high, Measure.SQUARE, every=one_in)
    answer = gate.ask(query)
    square, noise = float(answer.value[0]) / plan.count, answer.noise_scale / plan.count
    if square < FAR_OUT.noises * noise:
        return known
    deviation = cap * math.sqrt(min(square, 1.0))
    return replace(known, size=deviation / RESPONSE.normal, deviation=deviation)


def shift_to_quantile(
    gate: Gate, plan: Plan, rounds: int, coordinates: Coordinates, theta: Vector, known: Residuals
) -> Vector:
    """Move the intercept to the residuals' quantile."""
    width = STAGED.shift_width * known.deviation

    def below(end: float) -> float:
        return residuals_within(gate, theta, -FARTHEST, end, coordinates.matrix)

    shift = np.zeros(plan.design.width)
    shift[-1] = bisect(below, -width, width, rounds, plan.loss.shape[0] * plan.count)
    return np.asarray(theta + coordinates.working(shift))
