"""The matrices of the sandwich at a minimum found without noise (ε = ∞), which protects nobody.

Records enter a second moment as whole numbers, so many to the bound on a row and on a slope or a
curvature. Public bounds may be far above what the records need; here answers are exact, so columns
and residuals are first brought to the next power of two.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.contract.plan import Plan
from tacit.contract.query import ColumnCounts, CurvatureAndScore, Gate, GradientNorm, SecondMoments, Weights
from tacit.contract.release import Sandwich
from tacit.losses import log_link
from tacit.losses.loss import Code, Loss
from tacit.solvers.coordinates import Matrix, Vector
from tacit.solvers.predictors import Predictors
from tacit.solvers.quantiles import FARTHEST, Places, around, bisect, bisect_places, residuals_within
from tacit.solvers.residual_scale import in_units
from tacit.solvers.rules import RESPONSE
from tacit.solvers.standardised_start import linear_map

DEPENDENT = 1e-8
"""Share of a direction's own curvature below which columns count as linearly dependent."""
WIDEST = 60
"""Residuals are searched in [2^-60, 2^60]."""
LARGEST_COLUMN = 40
"""Column scales are searched in [2^-40, 2^40]."""
SMALLEST_DEVIATION, HALVINGS = 2.0**-30, 60


def exact_sandwich(gate: Gate, plan: Plan, theta: Vector) -> Sandwich:
    """Return curvature and score at a minimum; rows have their full weight."""
    loss = close_bounds(gate, plan, theta)
    matrix, bound = close_rows(gate, plan)
    working = np.asarray(np.linalg.solve(matrix, theta), dtype=np.float64)

    def moment(weights: Weights) -> Matrix:
        return gate.ask(SecondMoments(bound, matrix, working, weights, loss)).value / plan.records

    predictors = Predictors.of(plan)
    if theta.ndim > 1:
        pair = predictors.matrices(gate.ask(CurvatureAndScore(working, bound, matrix, loss)))
        curvature, score = pair.value / plan.records
    else:
        curvature, score = moment(Weights.CURVATURE), moment(Weights.SCORE)
    curvature = curvature * loss.smoothness
    return Sandwich(
        curvature=curvature,
        score=score * loss.lipschitz**2,
        to_user=predictors.to_user(plan.design.to_user() @ matrix),
        lifted=is_dependent(curvature),
        capped=False,
        step_noise=0.0,
        curvature_noise=0.0,
        score_noise=0.0,
    )


def close_rows(gate: Gate, plan: Plan) -> tuple[Matrix, float]:
    """Return a map after which no column exceeds 1, and a bound on a unit's rows there.

    Columns are centred at their mean where an intercept can absorb it.
    """
    design = plan.design
    columns = tuple(range(len(design.columns)))
    centers, scales = np.zeros(design.width + 1), np.ones(design.width + 1)
    if design.intercept:
        moments = gate.ask(SecondMoments(design.row_norm)).value
        centers[: len(columns)] = moments[-1, :-1] / max(moments[-1, -1], 1.0)
    if columns:
        scales[: len(columns)] = _column_scales(gate, columns, centers[: len(columns)])
    return linear_map(plan, centers, scales), math.sqrt(design.width)


def _column_scales(gate: Gate, columns: tuple[int, ...], centers: Vector) -> Vector:
    """For each column the smallest power of two within which all its values lie of its center."""

    def within(radius: Vector) -> Vector:
        return gate.ask(ColumnCounts(columns, *around(centers, radius))).value

    everyone = within(np.full(len(columns), math.inf))

    def enough(power: Places) -> NDArray[np.bool_]:
        return np.asarray(within(np.ldexp(1.0, power)) >= everyone)

    power = bisect_places(enough, LARGEST_COLUMN, len(columns))
    # A column that is all center is not scaled.
    return np.where(power > 1 - LARGEST_COLUMN, np.ldexp(1.0, power), 1.0)


def close_bounds(gate: Gate, plan: Plan, theta: Vector) -> Loss:
    """Return the plan's loss with bounds on slope and curvature that are close to the records."""
    loss = plan.loss
    if loss.relative:
        return in_units(loss, deviation_of(gate, plan, theta))
    if loss.code is Code.SQUARED:
        return replace(loss, lipschitz=_largest_residual(gate, theta))
    if loss.code is Code.POISSON:
        cap = loss.shape[0]
        residual = _largest_residual(gate, theta, (min(cap, 0.0) - 600.0, cap), exponential=True)
        count = _largest_residual(gate, np.zeros_like(theta), (0.0, 0.0))
        # A rate is a count less its residual.
        smoothness = min(loss.smoothness, count + residual)
        return replace(loss, lipschitz=min(loss.lipschitz, residual), smoothness=smoothness)
    if loss.code in {Code.GAMMA, Code.NEGATIVE_BINOMIAL} and plan.design.intercept:
        # The norm of a row is at least that of its constant 1, so that a gradient bounds its slope.
        slope = min(loss.lipschitz, _largest_gradient(gate, plan, theta))
        return replace(loss, lipschitz=slope, smoothness=min(loss.smoothness, log_link.curvature_bound(loss, slope)))
    return loss


def _largest_residual(
    gate: Gate, theta: Vector, predictions: tuple[float, float] = (-FARTHEST, FARTHEST), *, exponential: bool = False
) -> float:
    """The smallest power of two that is a radius of all residuals."""

    def within(power: int) -> float:
        radius = math.ldexp(1.0, power)
        return residuals_within(gate, theta, -radius, radius, predictions=predictions, exponential=exponential)

    everyone = within(WIDEST)
    power = bisect_places(lambda place: np.array([within(int(place[0])) >= everyone]), WIDEST, 1)
    return math.ldexp(1.0, int(power[0]))


def _largest_gradient(gate: Gate, plan: Plan, theta: Vector) -> float:
    """The smallest power of two that no gradient is longer than."""
    bound = plan.design.row_norm

    def within(power: int) -> float:
        radius = math.ldexp(1.0, power)
        return float(gate.ask(GradientNorm(theta, bound, 2 * radius, None, plan.loss, start=-radius)).value[0])

    everyone = within(WIDEST)
    power = bisect_places(lambda place: np.array([within(int(place[0])) >= everyone]), WIDEST, 1)
    return math.ldexp(1.0, int(power[0]))


def deviation_of(gate: Gate, plan: Plan, theta: Vector) -> float:
    """Deviation of the residuals: the radius of 70% of them, as of a normal law."""

    def within(radius: float) -> float:
        return residuals_within(gate, theta, -radius, radius)

    held = RESPONSE.held * plan.count
    return bisect(within, SMALLEST_DEVIATION, 4.0, HALVINGS, held) / RESPONSE.deviation


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
