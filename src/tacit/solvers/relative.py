"""Losses in units of a deviation that is found together with the fit, at ε = ∞.

Deviation and coefficients take turns, from least squares on, until neither moves: the radius that
holds seven tenths of the residuals over that of a unit normal variable, then the fit with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.contract.gate import Gate
from tacit.contract.plan import Plan
from tacit.contract.query import Measure, ResidualSize
from tacit.losses import squared
from tacit.losses.loss import Code, Loss
from tacit.solvers.placement import DEVIATIONS, LEVEL, bisect

TURNS = 30
HALVINGS = 60
TOLERANCE = 1e-9
SMALLEST = 2.0**-30

Vector = NDArray[np.float64]


def minimise_in_turns(gate: Gate, plan: Plan, fit: Callable[[Plan], Vector]) -> Vector:
    """Return the fit whose loss is in units of its own residuals' deviation."""
    theta = fit(replace(plan, loss=squared.LOSS))
    deviation = deviation_of(gate, plan, theta)
    for _ in range(TURNS):
        theta = fit(replace(plan, loss=in_units(plan.loss, deviation)))
        before, deviation = deviation, deviation_of(gate, plan, theta)
        if abs(deviation - before) <= TOLERANCE * before:
            break
    return theta


def in_units(loss: Loss, deviation: float) -> Loss:
    """Return a relative loss with its shape in the response's units."""
    first, second = loss.shape
    if loss.code is Code.PINBALL:
        width = second * deviation
        return replace(loss, shape=(first, width), smoothness=0.5 / width, relative=False)
    threshold = first * deviation
    return replace(loss, shape=(threshold, 0.0), lipschitz=threshold, relative=False)


def deviation_of(gate: Gate, plan: Plan, theta: Vector) -> float:
    """Deviation of the residuals: the radius of seven tenths of them, as of a normal law."""

    def within(radius: float) -> float:
        query = ResidualSize(
            theta, 2 * radius, None, -1e6, 1e6, measure=Measure.WITHIN, start=-radius
        )
        return float(gate.ask(query).value[0])

    radius = bisect(within, SMALLEST, 4.0, HALVINGS, LEVEL * plan.count)
    return radius / DEVIATIONS
