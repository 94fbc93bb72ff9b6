"""Counting the records first: only where their sum is private, inside the budget and the passes."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tacit.accounting.composition import compose, mu_squared_of
from tacit.contract.plan import Penalty, Plan
from tacit.contract.query import QueryKind
from tacit.design.attached_columns import AttachedColumns, Weighting
from tacit.design.design import matrix_design
from tacit.design.response import Absent, Binary, Continuous, Count, Response
from tacit.errors import SettingError
from tacit.losses import classification, poisson, regression
from tacit.losses.loss import Loss
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.choice import make_plan
from tacit.solvers.rules import COUNTING
from tacit.solvers.solver import PublicFacts, SolverOptions

NUMBER = Continuous.of("y", -1.0, 1.0)
ROUTES: dict[str, tuple[Response, Loss, SolverOptions]] = {
    "labels": (Binary("y", (0, 1)), classification.LOGISTIC, SolverOptions()),
    "linear": (NUMBER, regression.SQUARED, SolverOptions()),
    "huber": (NUMBER, replace(regression.huber(1.345), relative=True), SolverOptions()),
    "quantile": (NUMBER, regression.pinball(0.5, 0.3), SolverOptions()),
    "counts": (Count("y", 20.0), poisson.loss(math.log(20) + 1, 20.0), SolverOptions()),
    "intervals": (Binary("y", (0, 1)), classification.LOGISTIC, SolverOptions(inference=True)),
    "mean": (Absent(), regression.DISTANCE, SolverOptions()),
}
CASES = {"weights": (True, Relation.REPLACE_ONE), "private n": (False, Relation.ADD_REMOVE)}


def facts(route: str, *, weighted: bool, relation: Relation, n: int = 20_000, epsilon: float = 1.0) -> PublicFacts:
    response, loss, _ = ROUTES[route]
    design = matrix_design(["a", "b"], response, bounds=(0, 1), row_norm=None, intercept=True)
    if weighted:
        design = replace(design, attached=AttachedColumns(Weighting("w", 5.0)))
    return PublicFacts(design, n, relation, "row", Budget(epsilon=epsilon, delta=1e-6), Penalty(), loss)


def planned(route: str, wishes: SolverOptions | None = None, **settings: Any) -> Plan:
    return make_plan(facts(route, **settings), wishes or ROUTES[route][2])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("route", ROUTES)
def test_the_count_comes_first_and_is_in_the_budget(route: str, case: str) -> None:
    weighted, relation = CASES[case]
    plan = planned(route, weighted=weighted, relation=relation)
    first = plan.steps[0]
    assert plan.counting
    assert (first.kind, first.times, first.size) == (QueryKind.COUNTS, 1, 1)
    assert first.label == ("sum of the weights" if weighted else "number of records")
    assert first.price is not None
    cost = Fraction(first.price.bound**2, 4**first.price.bits)
    allowed = mu_squared_of(plan.budget)
    assert 0 < cost <= allowed * Fraction(COUNTING.share[1])
    assert allowed * Fraction(999, 1000) < compose(plan.events()).mu_squared <= allowed


@pytest.mark.parametrize("relation", [Relation.REPLACE_ONE, Relation.ZERO_OUT])
@pytest.mark.parametrize("route", ROUTES)
def test_nothing_is_counted_where_all_is_public(route: str, relation: Relation) -> None:
    plan = planned(route, weighted=False, relation=relation)
    assert not plan.counting
    assert not {"sum of the weights", "number of records"} & {step.label for step in plan.steps}


@pytest.mark.parametrize(("n", "wanted"), [(100, COUNTING.share[1]), (10**6, COUNTING.share[0])])
def test_the_share_lies_within_its_ends(n: int, wanted: float) -> None:
    plan = planned("linear", weighted=True, relation=Relation.REPLACE_ONE, n=n)
    price = plan.steps[0].price
    assert price is not None
    share = price.bound**2 / 4**price.bits / mu_squared_of(plan.budget)
    assert math.isclose(share, wanted, rel_tol=1e-3)


def test_between_its_ends_the_share_makes_a_known_noise() -> None:
    plan = planned("linear", weighted=True, relation=Relation.REPLACE_ONE, n=600)
    price = plan.steps[0].price
    assert price is not None
    assert math.isclose(2.0**price.bits / price.bound / 600, COUNTING.noise, rel_tol=1e-3)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_the_count_is_among_the_passes(case: str, epsilon: float) -> None:
    weighted, relation = CASES[case]
    settings: dict[str, Any] = {"weighted": weighted, "relation": relation, "epsilon": epsilon}
    assert planned("labels", n=10**7, **settings).queries <= 30
    assert planned("labels", SolverOptions(max_passes=4), **settings).passes <= 4
    with pytest.raises(SettingError, match="max_passes must be at least 5"):
        planned("labels", SolverOptions("whitened-gradient", max_passes=4, iterations=3), **settings)


def test_a_single_gradient_is_planned_without_a_count() -> None:
    plan = planned("labels", SolverOptions("gradient", max_passes=7), weighted=True, relation=Relation.REPLACE_ONE)
    assert not plan.counting
    assert {step.kind for step in plan.steps} == {QueryKind.GRADIENT}
    assert plan.queries <= 7


@pytest.mark.parametrize("case", CASES)
def test_without_noise_they_are_counted_too(case: str) -> None:
    weighted, relation = CASES[case]
    plan = planned("linear", weighted=weighted, relation=relation, epsilon=np.inf)
    assert plan.counting
    assert plan.steps == ()
    public = planned("linear", weighted=False, relation=Relation.REPLACE_ONE, epsilon=np.inf)
    assert not public.counting
