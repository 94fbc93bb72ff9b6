"""Certificates of selections and draws: what they state follows from the price, and forgeries do not add up."""

import copy
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tacit.certificate.certificate import Certificate
from tacit.constraints.region import L1Ball
from tacit.contract.plan import Penalty, Plan, PublicFact
from tacit.contract.query import QueryKind
from tacit.contract.release import Release
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.documents.canonical_json import digest_of
from tacit.errors import CertificateError
from tacit.losses import classification
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.choice import make_plan
from tacit.solvers.solver import PublicFacts, SolverOptions


def plan_of(solver: str, relation: Relation = Relation.REPLACE_ONE, columns: int = 4, delta: float = 1e-6) -> Plan:
    names = [f"x{j}" for j in range(columns)]
    design = matrix_design(names, Binary("y", (0, 1)), bounds=(-1, 1), row_norm=None, intercept=True)
    penalty = Penalty(constraint=L1Ball(2.0)) if solver == "frank-wolfe" else Penalty()
    facts = PublicFacts(
        design, 3000, relation, "row", Budget(epsilon=1.0, delta=delta), penalty, classification.LOGISTIC
    )
    return make_plan(facts, SolverOptions(solver))


def document_of(plan: Plan) -> dict[str, Any]:
    return Certificate.issue(Release(plan, np.zeros(plan.design.width))).document


def forged(document: dict[str, Any]) -> Certificate:
    return Certificate.from_json(json.dumps({**document, "digest": digest_of(document)}))


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize(("solver", "columns"), [("frank-wolfe", 4), ("exponential", 2), ("exponential", 4)])
def test_what_is_stated_is_consistent(solver: str, columns: int, relation: Relation) -> None:
    document = document_of(plan_of(solver, relation, columns))
    assert forged(document).check().consistent
    assert document["total"]["epsilon"] <= 1.0 + 1e-6


def test_draws_are_stated_over_the_reals_and_selections_exactly() -> None:
    draw, choice = (document_of(plan_of("exponential", columns=columns))["events"][0] for columns in (4, 2))
    assert (draw["arithmetic"], draw["noise"]["law"]) == ("real-number proof", "draw from a posterior")
    assert (choice["arithmetic"], choice["noise"]["law"]) == ("exact", "exponential")


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [
        ("sensitivity", "range", "1"),
        ("sensitivity", "bound", "-3"),
        ("sensitivity", "bound", "1"),
        ("noise", "rate", "1/1000000000000"),
        ("noise", "rate", "0"),
        ("noise", "rate", "7"),
        ("noise", "law", "gumbel"),
        ("noise", "law", "permute-and-flip"),
    ],
)
def test_forgeries_are_refused(part: str, field: str, value: str) -> None:
    """T23 among them: permute-and-flip under the price of a bounded range."""
    document = copy.deepcopy(document_of(plan_of("frank-wolfe")))
    document["events"][0][part][field] = value
    with pytest.raises(CertificateError):
        forged(document).check()


def test_another_relation_another_range() -> None:
    document = copy.deepcopy(document_of(plan_of("frank-wolfe", Relation.ZERO_OUT)))
    document["relation"] = "replace-one"
    with pytest.raises(CertificateError, match="does not follow"):
        forged(document).check()


@pytest.mark.parametrize(("solver", "columns"), [("exponential", 2), ("exponential", 4)])
def test_persons_and_other_losses_are_refused(solver: str, columns: int) -> None:
    plan = plan_of(solver, columns=columns).with_facts(PublicFact("unit", "patient", "declared"))
    with pytest.raises(CertificateError, match="plain records"):
        forged(document_of(plan)).check()
    if columns == 4:
        document = copy.deepcopy(document_of(plan_of(solver, columns=columns)))
        document["loss"] = "pinball"
        with pytest.raises(CertificateError, match="no proof"):
            forged(document).check()


def test_another_kind_of_selection_is_refused() -> None:
    """Unsigned scores move by half as much: with them a walk would cost half of what it does."""
    plan = plan_of("frank-wolfe")
    steps = tuple(replace(step, kind=QueryKind.SELECTION) for step in plan.steps)
    with pytest.raises(CertificateError, match="asks for no selection"):
        document_of(replace(plan, steps=steps))
