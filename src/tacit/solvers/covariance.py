"""Mean and covariance from second moments of the rows (u, 1), whose last column holds the mean.

A first query, in prepared coordinates, is for orientation. The second has most of the budget. It is asked in whitened
coordinates if that promises less noise, judged by the first answer, and else in prepared ones again; both answers are
then averaged. In whitened coordinates rows longer than `row_factor`·√d_eff are shortened to that, so that mean and
covariance weigh far rows less: with the default of 3, none within about 4 deviations where there is one column.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tacit.contract.plan import Plan, Solution
from tacit.contract.purpose import Purpose
from tacit.contract.query import Gate, QueryKind, SecondMoments
from tacit.contract.statistic_query import GroupSums
from tacit.design.attached_columns import AttachedColumns
from tacit.design.expression import Statistic, interval_of
from tacit.design.expression_tree import Apply, Cell, Interval, Number
from tacit.solvers.counting import SMALLEST_SHARE
from tacit.solvers.mean import exact_mean
from tacit.solvers.requirements import Requirement, declared_bounds, require
from tacit.solvers.rules import COVARIANCE, between
from tacit.solvers.solver import PublicFacts, SolverOptions, assembled, priced
from tacit.solvers.whitened_gradient import Whitening, whiten

MOST_PRODUCTS = 64
"""Columns whose products are summed one by one where there is no noise."""
REQUIRES = (
    Requirement(
        lambda _, options: options.solver in {"auto", "moments"},
        'Covariance takes solver="auto", or "moments" for prepared coordinates alone.',
    ),
    Requirement(declared_bounds, "Covariance needs declared bounds or a row_norm."),
)


@dataclass(frozen=True)
class SecondMomentMatrix:
    """One or two queries of second moments; without `whitening` both are in prepared coordinates."""

    first_share: float
    whitening: Whitening | None = None
    intervals: ClassVar[bool] = False
    name: str = "covariance"

    @property
    def maps_rows(self) -> bool:
        """Whether rows may be whitened."""
        return self.whitening is not None

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for the second moments, and divide by their share of the records."""
        bound = plan.design.row_norm
        if self.whitening is None:
            return _solution(gate.ask(SecondMoments(bound)).value / plan.count, plan, weighted=False)
        found = whiten(gate, plan, self.whitening)
        if found.matrix is None or found.moments is None:
            raise AssertionError("Whitening has coordinates and moments.")
        longest = self.whitening.row_factor * math.sqrt(found.dimension)
        # The mean over directions of the noise in units of the whitened rows.
        plain = bound * float(np.linalg.norm(found.matrix)) / math.sqrt(plan.design.width)
        if longest >= plain:
            again = gate.ask(SecondMoments(bound)).value / plan.count
            both = self.first_share * found.moments + (1 - self.first_share) * again
            return _solution(both, plan, weighted=False)
        whitened = gate.ask(SecondMoments(longest, found.matrix)).value / plan.count
        inverse = np.linalg.inv(found.matrix)
        return _solution(inverse.T @ whitened @ inverse, plan, weighted=True)


def _solution(moments: np.ndarray, plan: Plan, *, weighted: bool) -> Solution:
    """Mean and second moments per record; where rows weigh less, or n is not known, over the noisy sum of weights."""
    if weighted or plan.design.attached != AttachedColumns() or not plan.relation.n_is_public:
        moments = moments / max(float(moments[-1, -1]), SMALLEST_SHARE)
    mean = np.append(moments[:-1, -1], 1.0)
    return Solution(mean, moments=np.ascontiguousarray(moments))


def exact_covariance(gate: Gate, plan: Plan) -> Solution:
    """Return mean and second moments without noise (ε = ∞).

    Second moments are sums of products of integers, with 25 bits a factor: too coarse for columns that are narrow in
    their bounds. So the products of deviations from the mean are summed as bounded statistics, with 50 bits each.
    """
    found, design = exact_mean(gate, plan), plan.design
    count = len(design.columns)
    if design.attached != AttachedColumns() or count > MOST_PRODUCTS:
        return found
    mean = found.theta[:count]
    largest = 1.0 if all(math.isfinite(column.lower) for column in design.columns) else design.feature_norm
    deviations = [
        Statistic(
            column.name, Apply("-", (Cell(column.name, place, 1.0), Number(m))), Interval(-largest - m, largest - m)
        )
        for place, (column, m) in enumerate(zip(design.columns, mean.tolist(), strict=True))
    ]
    moments, everybody = np.zeros((design.width, design.width)), Cell("records", count, 1.0)
    for place, one in enumerate(deviations):
        products = tuple(_product(one, other) for other in deviations[: place + 1])
        answer = gate.ask(GroupSums(products, everybody, 1)).value[0] / plan.count
        centers, halves = np.array([(it.interval.center, it.interval.half_width) for it in products]).T
        own = centers * answer[0] + halves * answer[1:]
        moments[place, : place + 1] = moments[: place + 1, place] = own
    # Of the records a share is valid: Σ uu' = Σ (u - m)(u - m)' + (2 - share) n mm' with Σ u = n m.
    whole = np.append(mean, 1.0)
    about = np.outer(whole, whole)
    about[:count, :count] *= 2.0 - answer[0]
    return Solution(found.theta, moments=moments + about)


def _product(one: Statistic, other: Statistic) -> Statistic:
    """The product of two statistics."""
    interval = interval_of("*", (one.interval, other.interval))
    return Statistic(f"{one.spelling} * {other.spelling}", Apply("*", (one.expression, other.expression)), interval)


def plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price one query, or an orientation and the query itself."""
    require(REQUIRES, facts, options)
    if options.solver == "moments" or facts.design.attached.unit is not None:
        # A unit's rows are weighed by their size in whitened coordinates, which changes what is estimated.
        alone = priced(facts, QueryKind.SECOND_MOMENTS, allowed, 1, Purpose.SECOND_MOMENTS)
        return assembled(facts, SecondMomentMatrix(1.0), (alone,))
    share = allowed * COVARIANCE.first_share
    steps = (
        priced(facts, QueryKind.SECOND_MOMENTS, share, 1, Purpose.SECOND_MOMENTS),
        priced(facts, QueryKind.SECOND_MOMENTS, allowed - share, 1, Purpose.SECOND_MOMENTS),
    )
    ridge = between(COVARIANCE.ridge * math.sqrt(facts.design.width), *COVARIANCE.ridge_ends)
    whitening = Whitening(1, ridge, COVARIANCE.row_factor)
    return assembled(facts, SecondMomentMatrix(float(COVARIANCE.first_share), whitening), steps)
