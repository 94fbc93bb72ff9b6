"""The matrices of the sandwich at a minimum found without noise (ε = ∞), which protects nobody.

Records enter a second moment as whole numbers, so many to the bound on a row and on a slope or a
curvature. The bounds of the private route are public and may be far above what the records need;
here answers are exact, so columns and residuals are first brought to the next power of two.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.contract.gate import Gate
from tacit.contract.plan import Plan
from tacit.contract.query import ColumnCounts, Measure, ResidualSize, SecondMoments, Weights
from tacit.contract.release import Sandwich
from tacit.losses.loss import Code, Loss
from tacit.solvers.relative import deviation_of, in_units
from tacit.solvers.standardising import linear_map

DEPENDENT = 1e-8
"""Share of a direction's own curvature below which columns count as linearly dependent."""
WIDEST = 60
"""Residuals are looked for below two to this power."""
SMALLEST, LARGEST = 40, 40
"""Columns are looked for between two to the power of the one, negative, and of the other."""

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


def infer_exactly(gate: Gate, plan: Plan, theta: Vector) -> Sandwich:
    """Return curvature and score at a minimum; rows keep their full weight."""
    loss = close_bounds(gate, plan, theta)
    matrix, bound = close_rows(gate, plan)
    working = np.asarray(np.linalg.solve(matrix, theta), dtype=np.float64)

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
    """Return a map after which no column reaches beyond 1, and a bound on a unit's rows there.

    Columns are centred at their mean where an intercept can absorb it.
    """
    design = plan.design
    columns = tuple(range(len(design.columns)))
    centers, scales = np.zeros(design.width + 1), np.ones(design.width + 1)
    if design.intercept:
        moments = gate.ask(SecondMoments(design.unit_norm)).value
        centers[: len(columns)] = moments[-1, :-1] / max(moments[-1, -1], 1.0)
    scales[: len(columns)] = _column_reach(gate, columns, centers[: len(columns)])
    return linear_map(plan, centers, scales), design.unit_rows * math.sqrt(design.width)


def _column_reach(gate: Gate, columns: tuple[int, ...], centers: Vector) -> Vector:
    """For each column the smallest power of two within which all its values lie of its center."""

    def within(radius: Vector) -> Vector:
        ends = np.nextafter(centers - radius, -math.inf), centers + radius
        return gate.ask(ColumnCounts(columns, *ends)).value

    if not columns:
        return np.ones(0)
    everyone = within(np.full(len(columns), math.inf))
    low, high = np.full(len(columns), -SMALLEST), np.full(len(columns), LARGEST)
    while (high - low).max() > 1:
        middle = (low + high) // 2
        enough = within(np.ldexp(1.0, middle)) >= everyone
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    # A column that is all center keeps its scale.
    return np.where(high > 1 - SMALLEST, np.ldexp(1.0, high), 1.0)


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
