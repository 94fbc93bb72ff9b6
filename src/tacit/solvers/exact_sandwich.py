"""The matrices of the sandwich at a minimum found without noise (ε = ∞), which protects nobody.

Records enter a second moment as whole numbers, so many to the bound on a row and on a slope or a
curvature. The bounds of the private route are public and may be far above what the records need;
here answers are exact, so columns are first brought to their own scale and the bounds to the next
power of two above rows and residuals.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.losses.loss import Code, Loss
from tacit.problem.gate import Gate
from tacit.problem.plan import Plan
from tacit.problem.query import Measure, ResidualSize, SecondMoments, Weights
from tacit.problem.release import Sandwich
from tacit.solvers.relative import deviation_of, in_units
from tacit.solvers.standardising import linear_map

DEPENDENT = 1e-8
"""Share of a direction's own curvature below which columns count as linearly dependent."""
CONSTANT = 1e-14
"""Variance of a prepared column below which it counts as constant."""
WIDEST = 60
"""Residuals are looked for below two to this power."""
HALVINGS = 32
"""A bound on rows is halved less often than this."""

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


def infer_exactly(gate: Gate, plan: Plan, theta: Vector) -> Sandwich:
    """Return curvature and score at a minimum; rows keep their full weight."""
    loss = close_bounds(gate, plan, theta)
    matrix, bound = close_rows(gate, plan)
    working = np.linalg.solve(matrix, theta)

    def moment(weights: Weights) -> Matrix:
        return gate.ask(SecondMoments(bound, matrix, working, weights, loss)).value / plan.records

    curvature = moment(Weights.CURVATURE) * loss.smoothness
    return Sandwich(
        curvature=curvature,
        score=moment(Weights.SCORE) * loss.lipschitz**2,
        to_user=plan.design.to_user() @ matrix,
        lifted=is_dependent(curvature),
        capped=False,
        step_noise=0.0,
        curvature_noise=0.0,
        score_noise=0.0,
    )


def close_rows(gate: Gate, plan: Plan) -> tuple[Matrix, float]:
    """Return a map to columns of mean 0 and deviation 1, and a bound on all rows of a unit there."""
    design = plan.design
    moments = gate.ask(SecondMoments(design.unit_norm)).value
    centers, scales = np.zeros(design.width + 1), np.ones(design.width + 1)
    places = len(design.columns)
    squares = np.diagonal(moments)[:places] / max(moments[-1, -1], np.finfo(float).tiny)
    if design.intercept:
        centers[:places] = moments[-1, :places] / moments[-1, -1]
        squares = squares - centers[:places] ** 2
    else:
        squares = np.diagonal(moments) / plan.records
    # A column without spread keeps its scale.
    spread = squares > CONSTANT
    scales[:places][spread] = np.sqrt(squares[spread])
    matrix = linear_map(plan, centers, scales)
    farthest = (design.feature_norm + np.abs(centers[:places])) / scales[:places]
    widest = design.unit_rows * math.hypot(1.0, *farthest.tolist())
    return matrix, _row_bound(gate, plan, matrix, widest)


def _row_bound(gate: Gate, plan: Plan, matrix: Matrix, widest: float) -> float:
    """Halve a bound while the sum of squares does not notice, and double it again.

    A unit beyond twice a radius r would lower the sum by more than 3r², far above the part of it
    that is let go by: no unit is longer than the bound.
    """

    def size(bound: float) -> float:
        return float(np.trace(gate.ask(SecondMoments(bound, matrix)).value))

    least = size(widest) * (1 - 1 / (4 * plan.records))
    low, high = 0, HALVINGS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if size(math.ldexp(widest, -middle)) >= least else (low, middle)
    # The norms of a unit's rows add up to at most √rows times the root of their squares' sum.
    radius = math.ldexp(widest, -max(low - 1, 0))
    return radius * math.sqrt(plan.design.unit_rows)


def close_bounds(gate: Gate, plan: Plan, theta: Vector) -> Loss:
    """Return the plan's loss with bounds on slope and curvature that hug the records."""
    loss = plan.loss
    if loss.relative:
        return in_units(loss, deviation_of(gate, plan, theta))
    if loss.code is Code.SQUARED:
        return replace(loss, lipschitz=_reach(lambda r: _around(gate, theta, r)))
    if loss.code is Code.POISSON:
        cap = loss.shape[0]
        residual = _reach(lambda r: _around(gate, theta, r, cap))
        count = _reach(lambda r: _around(gate, np.zeros_like(theta), r, 0.0, exponential=False))
        # A rate is a count less its residual.
        smoothness = min(loss.smoothness, count + residual)
        return replace(loss, lipschitz=min(loss.lipschitz, residual), smoothness=smoothness)
    return loss


def is_dependent(curvature: Matrix) -> bool:
    """Whether some direction has hardly any curvature, columns being measured in their own units.

    Examples
    --------
    >>> is_dependent(np.diag([1e-12, 1.0])), is_dependent(np.ones((2, 2)))
    (False, True)
    """
    own = np.sqrt(np.maximum(np.diagonal(curvature), 0.0))
    if not (own > 0).all():
        return True
    return bool(np.linalg.eigvalsh(curvature / np.outer(own, own)).min() < DEPENDENT)


def _around(
    gate: Gate,
    theta: Vector,
    radius: float,
    highest: float | None = None,
    *,
    exponential: bool = True,
) -> float:
    """How many residuals lie within a radius; predictions are exponentials below `highest`."""
    ends = (-1e6, 1e6) if highest is None else (min(highest, 0.0) - 600.0 * exponential, highest)
    query = ResidualSize(
        theta,
        2 * radius,
        None,
        *ends,
        measure=Measure.WITHIN,
        start=-radius,
        exponential=exponential and highest is not None,
    )
    return float(gate.ask(query).value[0])


def _reach(within: Callable[[float], float]) -> float:
    """The smallest power of two that is a radius of all residuals."""
    everyone = within(math.ldexp(1.0, WIDEST))
    low, high = -WIDEST, WIDEST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if within(math.ldexp(1.0, middle)) >= everyone else (middle, high)
    return math.ldexp(1.0, high)
