"""Descent in stages, for responses whose residuals have an unknown scale.

The response is placed first and the intercept starts there. Before a stage the residuals of the
stage before are measured, by counts; clip, thresholds and smoothing are in their units. So one rule
serves dollars and degrees, and a wide declared range costs little.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.contract.gate import Gate
from tacit.contract.plan import Descent, Plan
from tacit.contract.query import Measure, ResidualSize
from tacit.design.response import Count
from tacit.errors import SettingError
from tacit.losses import pinball, poisson
from tacit.losses.loss import Code, Loss
from tacit.solvers.coordinates import Coordinates
from tacit.solvers.descent import run_stage
from tacit.solvers.placement import (
    DEVIATIONS,
    LEVEL,
    NORMAL_DEVIATION,
    Place,
    bisect,
    bisect_octaves,
    place_response,
    response_ends,
)
from tacit.solvers.recalibration import recalibrate
from tacit.solvers.relative import in_units
from tacit.solvers.shrinkage import shrink
from tacit.solvers.whitening import whiten

LARGEST_RATE = 3.0
"""Logarithms above the mean at which a rate is capped."""
FIRST_CORNER = 1.0
"""Width of the pinball's corner in the first stage, in deviations: a line through the middle."""

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Measured:
    """What is known of the residuals: mean size and standard deviation, in prepared units."""

    size: float
    deviation: float
    rate: float


def descend_in_stages(gate: Gate, plan: Plan) -> tuple[Coordinates, Vector]:
    """Run the plan's stages; return their coordinates and the coefficients in them."""
    if plan.placing is None or plan.whitening is None:
        raise SettingError("The plan places no response.")
    place = place_response(gate, plan, plan.placing)
    coordinates = whiten(gate, plan, plan.whitening)
    start = coordinates.working(_start(plan, place))
    known = Measured(place.size, NORMAL_DEVIATION * place.size, place.mean or 1.0)
    if plan.design.response.kind == Count.kind:
        known = replace(known, size=max(known.size, 0.8 * math.sqrt(known.rate)))
    theta = start
    sizes = []
    for index, stage in enumerate(plan.stages):
        known = measure(gate, plan, stage, coordinates, theta, known)
        sizes.append(known.size)
        theta = _shift(gate, plan, stage, coordinates, theta, known)
        loss = loss_in_units(plan, known, first=index == 0)
        clip = (stage.clip_factor or 1.0) * math.sqrt(coordinates.dimension)
        clip *= known.size if loss.code in {Code.SQUARED, Code.POISSON} else loss.lipschitz
        sized = replace(stage, step_size=stage.step_size * step_unit(loss, known))
        theta, noise = run_stage(gate, plan, sized, coordinates, theta, clip, loss)
    if plan.shrinkage > 0:
        theta = start + shrink(theta - start, coordinates, stage, noise, plan.shrinkage)
    if plan.recalibrating is not None:
        rule = plan.recalibrating
        theta = recalibrate(
            gate, plan, rule, coordinates, theta, (sizes[0], sizes[-1]), place.median
        )
    return coordinates, theta


def _start(plan: Plan, place: Place) -> Vector:
    """Coefficients of the prepared row: an intercept where the response lies, slopes of zero."""
    start = np.zeros(plan.design.width)
    if plan.design.intercept:
        start[-1] = place.median
        if place.mean is not None:
            offset = plan.design.beside.offset
            start[-1] = math.log(place.mean)
            start[-1] -= 0.0 if offset is None else (offset.lower + offset.upper) / 2
    return start


def loss_in_units(plan: Plan, known: Measured, *, first: bool) -> Loss:
    """Return the stage's loss, with shapes in units of what was measured."""
    loss = plan.loss
    match loss.code:
        case Code.HUBER if loss.relative:
            return in_units(loss, known.deviation)
        case Code.PINBALL:
            if first:
                return pinball.loss(0.5, FIRST_CORNER * known.deviation)
            return in_units(loss, known.deviation) if loss.relative else loss
        case Code.POISSON:
            largest = response_ends(plan)[1]
            cap = min(loss.shape[0], math.log(known.rate) + LARGEST_RATE)
            return poisson.loss(cap, largest)
    return loss


def step_unit(loss: Loss, known: Measured) -> float:
    """Unit of a step: the inverse of the loss's typical curvature."""
    if loss.code is Code.PINBALL:
        return known.deviation
    return 1 / known.rate if loss.code is Code.POISSON else 1.0


def measure(
    gate: Gate,
    plan: Plan,
    stage: Descent,
    coordinates: Coordinates,
    theta: Vector,
    known: Measured,
) -> Measured:
    """Ask how large the residuals are, as the stage says."""
    low, high = response_ends(plan)
    if stage.scale_rounds == 1:
        cap = min(high - low, 4 * known.size)
        counted = plan.design.response.kind == Count.kind
        ends = (-LARGEST_RATE * 10, loss_in_units(plan, known, first=False).shape[0])
        lowest, highest = ends if counted else (low, high)
        query = ResidualSize(
            theta,
            cap,
            coordinates.matrix,
            lowest,
            highest,
            exponential=counted,
            every=_one_in(plan),
        )
        mean = cap * float(gate.ask(query).value[0]) / plan.count
        size = min(max(mean, cap / 40), cap)
        return replace(known, size=size, deviation=NORMAL_DEVIATION * size)
    if stage.scale_rounds > 1:
        top = min(2 * (high - low), 6 * known.deviation)

        def within(radius: float) -> float:
            apart = _one_in(plan)
            return _residuals_within(gate, coordinates, theta, -radius, radius, apart)

        wanted = LEVEL * plan.count
        radius = bisect_octaves(within, top, 6, stage.scale_rounds, wanted)
        deviation = radius / DEVIATIONS
        return replace(known, size=deviation / NORMAL_DEVIATION, deviation=deviation)
    return known


def _shift(
    gate: Gate,
    plan: Plan,
    stage: Descent,
    coordinates: Coordinates,
    theta: Vector,
    known: Measured,
) -> Vector:
    """Move the intercept to the residuals' quantile, where the stage says so."""
    if not stage.shift_rounds:
        return theta
    reach = 4 * known.deviation

    def below(end: float) -> float:
        return _residuals_within(gate, coordinates, theta, -1e6, end)

    wanted = plan.loss.shape[0] * plan.count
    shift = np.zeros(plan.design.width)
    shift[-1] = bisect(below, -reach, reach, stage.shift_rounds, wanted)
    return np.asarray(theta + coordinates.working(shift))


def _one_in(plan: Plan) -> int:
    """How much of the records tells the size of residuals: as much as tells a look."""
    return 1 if plan.whitening is None else plan.whitening.every


def _residuals_within(
    gate: Gate, coordinates: Coordinates, theta: Vector, low: float, high: float, every: int = 1
) -> float:
    query = ResidualSize(
        theta,
        high - low,
        coordinates.matrix,
        lowest=-1e6,
        highest=1e6,
        measure=Measure.WITHIN,
        start=low,
        every=every,
    )
    return float(gate.ask(query).value[0])
