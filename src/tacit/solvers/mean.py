"""The mean of the rows, by one sum: in prepared coordinates, or in whitened ones.

The sum's noise is sensitivity·clip / (n μ) in each coordinate. In prepared coordinates the clip is
the row norm, about √d for columns that fill their bounds. In whitened ones it is 2√d in units of
the columns' own spread, at 80% of the budget: better as soon as the spread is below two fifths of
a bound's half width, if the second moments can resolve it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tacit.contract.plan import Plan, Solution, Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import Gate, GradientSum, QueryKind, SecondMoments
from tacit.contract.sensitivity import laplace_price
from tacit.design.attached_columns import AttachedColumns
from tacit.losses import regression
from tacit.solvers.coordinates import Coordinates
from tacit.solvers.counting import SMALLEST_SHARE, with_counting
from tacit.solvers.requirements import Requirement, require
from tacit.solvers.rules import LABELS, MEAN, between
from tacit.solvers.solver import PublicFacts, SolverOptions, assembled, priced
from tacit.solvers.whitened_gradient import Whitening, whiten

_PURE_SOLVER = Requirement(
    lambda _, options: options.solver in {"auto", "gradient"},
    'With delta=0 a mean is one sum with Laplace noise: leave solver="auto".',
)


@dataclass(frozen=True)
class Mean:
    """One sum of the rows; in whitened coordinates they are clipped at `clip_factor`·√d_eff."""

    whitening: Whitening | None = None
    clip_factor: float = 1.0
    intervals: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """Name of either form."""
        return "mean" if self.whitening is None else "whitened-mean"

    @property
    def maps_rows(self) -> bool:
        """Whether rows are whitened."""
        return self.whitening is not None

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for the second moments, if planned, and for the sum."""
        if self.whitening is None:
            return mean_in(gate, plan, Coordinates(None, 1.0), plan.design.row_norm)
        coordinates = whiten(gate, plan, self.whitening)
        return mean_in(gate, plan, coordinates, self.clip_factor * math.sqrt(coordinates.dimension))


def exact_mean(gate: Gate, plan: Plan) -> Solution:
    """Return mean and second moments without noise (ε = ∞)."""
    moments = gate.ask(SecondMoments(plan.design.row_norm)).value / plan.count
    return mean_in(gate, plan, Coordinates(None, 1.0, (moments, None)), plan.design.row_norm)


def mean_in(gate: Gate, plan: Plan, coordinates: Coordinates, clip: float) -> Solution:
    """Return the mean of the prepared rows (u, 1), and their mean second moments if known."""
    start = np.zeros(plan.design.width)
    query = GradientSum(start, clip, coordinates.matrix, loss=regression.DISTANCE)
    mean = np.asarray(-gate.ask(query).value / plan.count)
    if coordinates.matrix is not None:
        mean = np.asarray(np.linalg.solve(coordinates.matrix.T, mean), dtype=np.float64)
    attached, moments = plan.design.attached, coordinates.moments
    # The constant's mean is the share of n that the weights, the rows of units, or the unknown n
    # come to; second moments that shrink units with many rows have their own.
    if attached != AttachedColumns() or not plan.relation.n_is_public:
        share = max(float(mean[-1]), SMALLEST_SHARE)
        if moments is not None:
            own = share if attached.unit is None else float(moments[-1, -1])
            moments = moments / max(own, SMALLEST_SHARE)
        return Solution(mean / share, moments=moments)
    return Solution(mean, moments=moments)


def plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price a mean, and a covariance where the second moments are asked for."""
    signal = facts.signal(allowed)
    if options.solver == "gradient" or signal < MEAN.signal:
        alone = priced(facts, QueryKind.GRADIENT, allowed, 1, Purpose.ROW_SUM)
        return assembled(facts, Mean(), (alone,))
    return with_counting(facts, allowed, lambda rest: _whitened(facts, signal, rest))


def pure_plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price a mean with Laplace noise, where delta is 0: one sum in prepared coordinates.

    Guarantee
    ---------
    - The event of the plan costs at most `allowed`, an ε, in exact rationals.
    """
    require((_PURE_SOLVER,), facts, options)
    price = laplace_price(allowed, facts.relation, records=facts.records, width=facts.coordinates)
    return assembled(facts, Mean(), (Step(QueryKind.GRADIENT, price, 1, Purpose.ROW_SUM),))


def _whitened(facts: PublicFacts, signal: float, allowed: Fraction) -> Plan:
    ridge = between(MEAN.ridge * math.sqrt(facts.design.width), *MEAN.ridge_ends)
    whitening = Whitening(MEAN.queries, ridge, LABELS.row_factor.at(signal))
    share = allowed * MEAN.share
    steps = (
        priced(facts, QueryKind.SECOND_MOMENTS, share, MEAN.queries, Purpose.SECOND_MOMENTS),
        priced(facts, QueryKind.GRADIENT, allowed - share, 1, Purpose.ROW_SUM),
    )
    return assembled(facts, Mean(whitening, MEAN.clip), steps)
