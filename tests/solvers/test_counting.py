"""The sum of the weights: asked for once, kept within what is public, used for every mean."""

from dataclasses import replace

import numpy as np
import pytest

from tacit.contract.plan import Penalty, Plan
from tacit.contract.query import Answer, ColumnCounts, Query
from tacit.design.attached_columns import AttachedColumns, Weighting
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.choice import make_plan
from tacit.solvers.coordinates import Coordinates, penalty_in
from tacit.solvers.counting import SMALLEST_SHARE, count_records
from tacit.solvers.solver import PublicFacts, SolverOptions

N = 1000


class Fixed:
    """A gate with one answer, which remembers what it was asked."""

    def __init__(self, value: float, noise: float = 0.0) -> None:
        self.value, self.noise = value, noise
        self.asked: list[Query] = []

    def ask(self, query: Query) -> Answer:
        self.asked.append(query)
        return Answer(np.array([self.value]), self.noise)


def plan_of(relation: Relation, weighting: Weighting | None) -> Plan:
    design = matrix_design(["a", "b"], Binary("y", (0, 1)), bounds=(0, 1), row_norm=None, intercept=True)
    design = replace(design, attached=AttachedColumns(weighting))
    budget = Budget(epsilon=1.0, delta=1e-6)
    return make_plan(PublicFacts(design, N, relation, "row", budget, Penalty()), SolverOptions())


def counted(value: float, noise: float, relation: Relation, weighting: Weighting | None) -> float:
    return count_records(Fixed(value, noise), plan_of(relation, weighting)).count


def test_one_count_of_the_response_over_all_numbers() -> None:
    gate = Fixed(321.5)
    plan = count_records(gate, plan_of(Relation.REPLACE_ONE, Weighting("w", 2.0)))
    assert len(gate.asked) == 1
    query = gate.asked[0]
    assert isinstance(query, ColumnCounts)
    assert query.columns == (plan.design.width,)
    assert (query.lower[0], query.upper[0]) == (-np.inf, np.inf)
    assert (plan.total, plan.count, plan.records) == (321.5, 321.5, N)


def test_the_total_stays_within_what_is_public() -> None:
    weights = Weighting("w", 2.0)
    assert counted(N + 50.0, 1.0, Relation.REPLACE_ONE, weights) == N
    assert counted(-30.0, 7.0, Relation.REPLACE_ONE, weights) == 7.0
    assert counted(0.0, 0.0, Relation.REPLACE_ONE, weights) == SMALLEST_SHARE * N
    assert counted(5.0 * N, 1.0, Relation.ADD_REMOVE, None) == 5 * N
    assert counted(N - 20.0, 1.0, Relation.ADD_REMOVE, None) == N
    assert counted(N - 20.0, 1.0, Relation.ADD_REMOVE, weights) == N - 20


def test_before_a_run_the_declared_number_stands_for_it() -> None:
    plan = plan_of(Relation.ADD_REMOVE, None)
    assert plan.total is None
    assert plan.count == N


@pytest.mark.parametrize("by_class", [None, (1.0, 3.0)])
def test_a_penalty_is_beside_the_weighted_mean(by_class: tuple[float, float] | None) -> None:
    """Sums are divided by the sum of the weights, so that no weights change a penalty."""
    weighted = plan_of(Relation.REPLACE_ONE, Weighting("w", 8.0, by_class))
    plain = plan_of(Relation.REPLACE_ONE, None)
    for plan in (weighted, replace(weighted, total=N / 8), plain, plan_of(Relation.ADD_REMOVE, None)):
        penalised = replace(plan, penalty=replace(plan.penalty, l2=0.25))
        ridge, _, _ = penalty_in(penalised, Coordinates(None, float(plan.design.width)))
        assert ridge.l2 == 0.25


def test_evidence_goes_by_what_was_counted() -> None:
    plan = plan_of(Relation.REPLACE_ONE, Weighting("w", 2.0))
    assert replace(plan, total=N / 4).signal == pytest.approx(plan.signal / 4)
