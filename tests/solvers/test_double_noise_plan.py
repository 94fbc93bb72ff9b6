"""Plans of Newton's method with double noise."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from tacit.accounting.composition import compose, mu_squared_of
from tacit.contract.plan import Penalty
from tacit.contract.query import QueryKind
from tacit.design.attached_columns import AttachedColumns, Unit
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.errors import SettingError
from tacit.losses import classification
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.choice import make_plan
from tacit.solvers.solver import PublicFacts, SolverOptions

SOLVER = "double-noise-newton"


def facts(relation: Relation = Relation.REPLACE_ONE) -> PublicFacts:
    design = matrix_design(["a", "b"], Binary("y", (0, 1)), bounds=(0, 1), row_norm=None, intercept=True)
    return PublicFacts(design, 4000, relation, "row", Budget(epsilon=1.0, delta=1e-6), Penalty())


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("rounds", [None, 1, 25])
def test_the_rounds_are_within_the_budget(relation: Relation, rounds: int | None) -> None:
    plan = make_plan(facts(relation), SolverOptions(SOLVER, iterations=rounds))
    allowed = mu_squared_of(plan.budget)
    spent = compose(plan.events()).mu_squared
    assert allowed * Fraction(999, 1000) < spent <= allowed
    kinds = [step.kind for step in plan.steps]
    assert kinds == [QueryKind.COUNTS, *(rounds or 10) * [QueryKind.GRADIENT, QueryKind.DIRECTION]]


def test_the_passes_that_are_allowed_set_the_rounds() -> None:
    plan = make_plan(facts(), SolverOptions(SOLVER, max_passes=8))
    assert plan.queries == 7


@pytest.mark.parametrize(
    ("changes", "wish", "match"),
    [
        ({"loss": classification.SOFTMAX}, {}, "two classes"),
        ({"penalty": Penalty(l2=1.0)}, {}, "takes no l2"),
        ({}, {"inference": True}, "no intervals"),
        ({}, {"step_size": 0.5}, "takes no step_size"),
        ({}, {"output": "tail"}, "takes no output"),
        ({}, {"max_passes": 2}, "at least 3"),
    ],
)
def test_what_the_route_cannot_do_is_refused(changes: dict[str, Any], wish: dict[str, Any], match: str) -> None:
    with pytest.raises(SettingError, match=match):
        make_plan(replace(facts(), **changes), SolverOptions(SOLVER, **wish))


def test_open_bounds_are_refused() -> None:
    design = matrix_design(["a"], Binary("y", (0, 1)), bounds="private", row_norm=None, intercept=True)
    with pytest.raises(SettingError, match="declared bounds"):
        make_plan(replace(facts(), design=design), SolverOptions(SOLVER))


def test_units_are_refused() -> None:
    given = facts()
    design = replace(given.design, attached=AttachedColumns(unit=Unit("who", 2)))
    with pytest.raises(SettingError, match="without units"):
        make_plan(replace(given, design=design), SolverOptions(SOLVER))
