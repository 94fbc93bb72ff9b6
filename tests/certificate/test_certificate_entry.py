"""Certificates of plans that perturb their objective or noise a direction."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tacit.certificate.certificate import Certificate, entry_of
from tacit.contract.plan import Penalty, Plan, PublicFact
from tacit.contract.release import Release
from tacit.contract.sensitivity import Price
from tacit.design.attached_columns import AttachedColumns, Weighting
from tacit.design.design import matrix_design
from tacit.design.response import Binary, Classes, Continuous, Response
from tacit.documents.canonical_json import digest_of
from tacit.errors import CertificateError
from tacit.losses import classification, regression
from tacit.losses.loss import Loss
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.choice import make_plan
from tacit.solvers.solver import PublicFacts, SolverOptions


def plan_of(solver: str, relation: Relation = Relation.REPLACE_ONE, *, weighted: bool = False) -> Plan:
    design = matrix_design(["a", "b"], Binary("y", (0, 1)), bounds=(0, 1), row_norm=None, intercept=True)
    if weighted:
        design = replace(design, attached=AttachedColumns(weighting=Weighting("w", 3.0)))
    budget = Budget(epsilon=1.0, delta=1e-6)
    facts = PublicFacts(design, 3000, relation, "row", budget, Penalty())
    return make_plan(facts, SolverOptions(solver))


PERTURBED = plan_of("objective-perturbation", weighted=True)


def document_of(plan: Plan) -> dict[str, Any]:
    return Certificate.issue(Release(plan, np.zeros(3))).document


def forged(document: dict[str, Any]) -> Certificate:
    return Certificate.from_json(json.dumps({**document, "digest": digest_of(document)}))


@pytest.mark.parametrize("relation", [Relation.REPLACE_ONE, Relation.ZERO_OUT])
def test_a_perturbed_objective_is_listed_and_verified(relation: Relation) -> None:
    plan = plan_of("objective-perturbation", relation)
    document = document_of(plan)
    (entry,) = document["events"]
    assert entry["query"] == "perturbed-minimum"
    assert entry["arithmetic"] == "bounded-float"
    assert entry["sensitivity"]["ratio"] == str(plan.steps[0].price.ratio)  # type: ignore[union-attr]
    total = document["total"]
    assert total["mu"] is None
    assert total["mu_squared"] is None
    assert plan.guarantee().epsilon <= total["epsilon"] <= 1.0 * (1 + 1e-9)
    found = forged(document).check()
    assert found.consistent
    assert "ε = " in found.statement


def test_the_steps_around_a_minimum_are_in_the_total() -> None:
    """Leaving one of them out, or claiming that μ is known, does not add up."""
    document = document_of(PERTURBED)
    assert forged(document).check().consistent
    for number in range(len(document["events"])):
        shorter = [entry for k, entry in enumerate(document["events"]) if k != number]
        with pytest.raises(CertificateError, match="total"):
            forged({**document, "events": shorter}).check()
    for name, value in (("mu", 0.2), ("mu_squared", "1/25"), ("epsilon", 0.9), ("epsilon", 1.1)):
        with pytest.raises(CertificateError, match="total"):
            forged({**document, "total": {**document["total"], name: value}}).check()


@pytest.mark.parametrize(
    ("part", "name", "value", "match"),
    [
        ("sensitivity", "bound", "5", "does not follow"),
        ("sensitivity", "ratio", "1/1000000", "does not follow"),
        ("sensitivity", "ratio", "0", "positive fraction"),
        ("sensitivity", "drift", "1", "does not follow"),
        ("sensitivity", "drift", "-1", "whole number"),
        ("noise", "bits", 51, "does not follow"),
        ("noise", "drift_bits", 52, "does not follow"),
        ("noise", "drift_bits", 99, "drift_bits is not from"),
        ("noise", "variance", "7", "does not follow"),
    ],
)
def test_an_altered_number_of_a_minimum_is_found(part: str, name: str, value: Any, match: str) -> None:
    document = document_of(PERTURBED)
    entry = next(e for e in document["events"] if e["query"] == "perturbed-minimum")
    entry[part][name] = value
    with pytest.raises(CertificateError, match=match):
        forged(document).check()


def test_a_minimum_is_not_certified_where_n_is_private() -> None:
    document = document_of(plan_of("objective-perturbation"))
    document["relation"] = "add-remove"
    document["records"]["which"] = "n_at_least"
    with pytest.raises(CertificateError, match="public number of records"):
        forged(document).check()


def test_a_budget_in_mu_cannot_hold_a_minimum() -> None:
    document = document_of(PERTURBED)
    document["budget"] = {"epsilon": None, "delta": 1e-6, "mu": 10.0, "rho": None}
    with pytest.raises(CertificateError, match="more than the budget"):
        forged(document).check()


@pytest.mark.parametrize("relation", list(Relation))
def test_directions_are_listed_and_verified(relation: Relation) -> None:
    document = document_of(plan_of("double-noise-newton", relation))
    entries = [e for e in document["events"] if e["query"] == "damped-direction"]
    assert len(entries) == 10
    for entry in entries:
        assert entry["arithmetic"] == "bounded-float"
        assert entry["sensitivity"]["squared"] == str(int(entry["sensitivity"]["bound"]) ** 2)
    assert document["total"]["mu"] is not None
    assert forged(document).check().consistent


FORMS: dict[str, tuple[Loss, Response]] = {
    "two signs": (regression.huber(0.5), Continuous.of("y", -1.0, 1.0)),
    "classes": (classification.SOFTMAX, Classes.of("y", ("a", "b", "c"))),
    "one sign": (classification.hinge(), Binary("y", (0, 1))),
}


def form_of(name: str, delta: float) -> Plan:
    loss, response = FORMS[name]
    design = matrix_design(["a", "b"], response, bounds=(0, 1), row_norm=None, intercept=True)
    budget = Budget(epsilon=1.0, delta=delta)
    facts = PublicFacts(design, 3000, Relation.REPLACE_ONE, "row", budget, Penalty(), loss)
    plan = make_plan(facts, SolverOptions("objective-perturbation"))
    return plan.with_facts(PublicFact("classes", list(response.classes), "declared"))


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_a_minimum_is_listed_and_verified(name: str, delta: float) -> None:
    plan = form_of(name, delta)
    document = Certificate.issue(Release(plan, np.zeros((3, plan.design.outputs)).squeeze())).document
    (entry,) = document["events"]
    assert entry["arithmetic"] == ("bounded-float" if delta else "real-number proof")
    assert forged(document).check().consistent
    alterations: list[tuple[str, str, Any, str]] = [
        ("sensitivity", "ratio", "1/1000000", "does not follow"),
        ("noise", "law", "none", "does not follow"),
    ]
    if name == "two signs" and delta:
        alterations += [("sensitivity", "signs", "1", "does not follow"), ("sensitivity", "signs", None, "does not")]
    if name == "classes":
        alterations += [("sensitivity", "classes", "2", "does not follow"), ("sensitivity", "classes", "0", "classes")]
    if not delta:
        alterations += [("noise", "cover", "1/100000", "does not follow"), ("noise", "cover", "-1", "cover")]
        alterations += [("sensitivity", "bound", "5", "does not follow"), ("noise", "bits", 51, "does not follow")]
    for part, field, value, match in alterations:
        stated = {key: it for key, it in {**entry[part], field: value}.items() if it is not None}
        wrong = {**document, "events": [{**entry, part: stated}]}
        with pytest.raises(CertificateError, match=match):
            forged(wrong).check()
    swapped = "real-number proof" if delta else "bounded-float"
    with pytest.raises(CertificateError, match="fields"):
        forged({**document, "events": [{**entry, "arithmetic": swapped}]}).check()


def test_a_sensitivity_of_zero_is_refused() -> None:
    """The fault: events of bound 0 added up to ε = 0."""
    plan = plan_of("gradient")
    document = document_of(plan)
    free = [entry_of(replace(step, price=Price(0, 0)), plan.relation) for step in plan.steps]
    document |= {"events": free, "total": {"epsilon": 0.0, "delta": 1e-6, "mu": 0.0, "mu_squared": "0"}}
    with pytest.raises(CertificateError, match="bound is 0"):
        forged(document).check()
