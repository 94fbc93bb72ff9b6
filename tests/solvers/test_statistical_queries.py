"""Plans of statistical queries: within the budget, equal noise by default, the count first where n is private."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from tacit.accounting.composition import compose, mu_squared_of
from tacit.contract.plan import Penalty
from tacit.contract.purpose import Purpose
from tacit.contract.query import QueryKind
from tacit.design.design import matrix_design
from tacit.design.response import Absent
from tacit.errors import BudgetError, PlanViolation
from tacit.losses import regression
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.solver import PublicFacts
from tacit.solvers.statistical_queries import QueryShape, StatisticalQueries, plan

SHAPES = (QueryShape(1), QueryShape(3), QueryShape(2, grouped=True), QueryShape(0, grouped=True))


def facts(relation: Relation = Relation.REPLACE_ONE, epsilon: float = 1.0, records: int = 5000) -> PublicFacts:
    design = matrix_design(["a", "b"], Absent(), bounds=(0, 1), row_norm=None, intercept=True)
    budget = Budget(epsilon=epsilon, delta=1e-6)
    return PublicFacts(design, records, relation, "row", budget, Penalty(), regression.DISTANCE)


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("count", [1, 5, 50])
def test_t03_the_queries_cost_the_budget_and_no_more(relation: Relation, count: int) -> None:
    known = facts(relation)
    found = plan(known, (QueryShape(1),) * count)
    allowed = mu_squared_of(known.budget)
    assert 0.999 * allowed < compose(found.events()).mu_squared <= allowed
    assert found.queries == count + (relation is Relation.ADD_REMOVE)


@pytest.mark.parametrize("relation", list(Relation))
def test_by_default_every_mean_has_the_same_noise(relation: Relation) -> None:
    steps = [step for step in plan(facts(relation), SHAPES).steps if step.purpose is Purpose.STATISTIC]
    assert [step.kind for step in steps] == [QueryKind.MEANS] * 2 + [QueryKind.GROUP_MEANS] * 2
    assert [step.size for step in steps] == [1, 3, 3, 1]
    noises = [step.noise_share(1.0) for step in steps]
    assert max(noises) == pytest.approx(min(noises), rel=1e-6)


def test_equal_queries_in_a_row_are_one_step() -> None:
    found = plan(facts(), (*[QueryShape(1)] * 4, QueryShape(2), QueryShape(1)))
    assert [(step.size, step.times) for step in found.steps] == [(1, 4), (2, 1), (1, 1)]
    noises = [step.noise_share(1.0) for step in found.steps]
    assert max(noises) == pytest.approx(min(noises), rel=1e-6)


def test_shares_divide_the_budget() -> None:
    found = plan(facts(), SHAPES[:2], (Fraction(1), Fraction(9)))
    first, second = (compose([event]).mu_squared for event in found.events())
    assert float(second / first) == pytest.approx(9.0, rel=1e-6)


def test_where_n_is_private_the_records_are_counted_first() -> None:
    found = plan(facts(Relation.ADD_REMOVE), SHAPES)
    assert found.counting
    assert found.steps[0].purpose is Purpose.RECORD_COUNT
    assert not plan(facts(), SHAPES).counting


def test_without_privacy_nothing_is_priced() -> None:
    found = plan(facts(epsilon=math.inf), SHAPES)
    assert found.steps == ()
    assert not found.private
    assert plan(facts(Relation.ADD_REMOVE, math.inf), SHAPES).counting


def test_a_budget_too_small_for_so_many_queries_is_refused() -> None:
    tiny = PublicFacts(**{**vars(facts()), "budget": Budget(mu=1e-13).with_delta(1e-6)})
    with pytest.raises(BudgetError, match="too small"):
        plan(tiny, (QueryShape(1),) * 10_000)


def test_a_plan_of_queries_is_not_run_but_asked() -> None:
    gate: Any = None
    with pytest.raises(PlanViolation, match="one by one"):
        StatisticalQueries(SHAPES).run(gate, plan(facts(), SHAPES))


def test_a_shape_says_what_it_is() -> None:
    assert [str(shape) for shape in SHAPES] == ["1 mean", "3 means", "2 means by group", "0 means by group"]
