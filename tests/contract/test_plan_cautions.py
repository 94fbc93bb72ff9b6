"""Budgets that protect little are warned of, from public facts alone."""

import math

import pytest

from tacit.contract.plan import ONE_RECORD, VALID, Penalty, Plan, cautions, premise_of
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.choice import make_plan
from tacit.solvers.solver import PublicFacts, SolverOptions

DESIGN = matrix_design(["x0"], Binary("y", (0, 1)), bounds=(0, 1), row_norm=None, intercept=True)


def plan(budget: Budget, n: int = 1000, relation: Relation = Relation.REPLACE_ONE) -> Plan:
    return make_plan(PublicFacts(DESIGN, n, relation, "row", budget, Penalty()), SolverOptions())


@pytest.mark.parametrize(
    ("epsilon", "delta", "records", "texts"),
    [
        (1.0, 1e-6, 1000, []),
        (10.0, 0.000999, 1000, []),
        (1.0, 0.001, 1000, ["δ = 0.001"]),
        (1.0, 0.5, 3, ["δ = 0.5"]),
        (10.001, 1e-6, 1000, ["ε = 10"]),
        (1e9, 0.5, 1000, ["δ = 0.5", "ε = 1e+09"]),
        (math.inf, 1e-6, 1000, []),
    ],
)
def test_delta_of_one_over_n_and_epsilon_above_ten(
    epsilon: float, delta: float, records: int, texts: list[str]
) -> None:
    found = cautions(epsilon, delta, records)
    assert len(found) == len(texts)
    for text, start in zip(found, texts, strict=True):
        assert text.startswith(start)


def test_where_n_is_private_its_lower_bound_stands_in() -> None:
    assert "1/n_at_least" in cautions(1.0, 0.01, 100, n_is_public=False)[0]
    found = plan(Budget(epsilon=1, delta=0.01), 100, Relation.ADD_REMOVE).cautions()
    assert "1/n_at_least" in found[0]


@pytest.mark.parametrize(
    ("budget", "warned"),
    [
        (Budget(epsilon=10, delta=1e-6), False),
        (Budget(epsilon=11, delta=1e-6), True),
        (Budget(mu=1, delta=1e-6), False),
        (Budget(mu=5, delta=1e-6), True),
        (Budget(rho=0.5, delta=1e-6), False),
        (Budget(rho=10, delta=1e-6), True),
        (Budget(epsilon=math.inf, delta=1e-6), False),
    ],
)
def test_other_currencies_are_judged_by_their_epsilon(budget: Budget, warned: bool) -> None:
    assert bool(plan(budget).cautions()) == warned


def test_the_unit_of_a_guarantee_has_its_premise() -> None:
    assert premise_of([VALID, "columns"]) is None
    assert premise_of(["columns", ONE_RECORD]) == "each has at most one record"
