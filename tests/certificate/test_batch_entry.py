"""Certificates of fits over batches: what they state follows from the batches, and forgeries do not add up."""

import json
from typing import Any

import numpy as np
import pytest

from tacit.certificate.certificate import MOST_PERTURBED, Certificate
from tacit.contract.plan import Plan
from tacit.contract.release import Release
from tacit.documents.canonical_json import digest_of
from tacit.errors import CertificateError, InputError
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.choice import make_plan
from tacit.solvers.solver import SolverOptions
from tests.solvers.batch_facts import facts


def plan_of(relation: Relation = Relation.REPLACE_ONE, **options: Any) -> Plan:
    return make_plan(facts(n=3000, d=2, relation=relation), SolverOptions("stochastic", **options))


def document_of(plan: Plan) -> dict[str, Any]:
    return Certificate.issue(Release(plan, np.zeros(3))).document


def forged(document: dict[str, Any]) -> Certificate:
    return Certificate.from_json(json.dumps({**document, "digest": digest_of(document)}))


CASES = [
    (Relation.REPLACE_ONE, "poisson"),
    (Relation.ZERO_OUT, "poisson"),
    (Relation.ADD_REMOVE, "poisson"),
    (Relation.REPLACE_ONE, "without-replacement"),
    (Relation.REPLACE_ONE, "with-replacement"),
]


@pytest.mark.parametrize(("relation", "sampling"), CASES)
def test_batches_are_listed_and_verified(relation: Relation, sampling: str) -> None:
    document = document_of(plan_of(relation, sampling=sampling))
    entry = document["events"][-1]
    assert entry["query"] == "batch-gradient"
    assert entry["arithmetic"] == "exact"
    assert entry["sensitivity"]["sampling"] == sampling
    factor = 1 if sampling == "poisson" else 4
    assert int(entry["sensitivity"]["squared"]) == factor * int(entry["sensitivity"]["bound"]) ** 2
    total = document["total"]
    assert total["mu"] is None
    assert 0.99 < total["epsilon"] <= 1.0 * (1 + 1e-9)
    found = forged(document).check()
    assert found.consistent
    assert "ε = " in found.statement


DOCUMENT = document_of(plan_of())


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("sample", "1", "does not follow"),
        ("sample", "0", "sample"),
        ("sample", "1.5", "whole number"),
        ("population", "4096000", "power of 1/2"),
        ("population", "1", "sample"),
        ("sampling", "shuffle", "is not one of"),
        ("sampling", "with-replacement", "does not follow"),
        ("bound", "5", "does not follow"),
        ("squared", "5", "does not follow"),
    ],
)
def test_a_forged_entry_is_refused(name: str, value: str, match: str) -> None:
    entry = DOCUMENT["events"][-1]
    changed = {**entry, "sensitivity": {**entry["sensitivity"], name: value}}
    with pytest.raises(CertificateError, match=match):
        forged({**DOCUMENT, "events": [*DOCUMENT["events"][:-1], changed]}).check()


def test_steps_of_another_budget_do_not_add_up_to_the_total() -> None:
    for epsilon in (0.5, 2.0):
        known = facts(n=3000, d=2, budget=Budget(epsilon=epsilon, delta=1e-6))
        other = document_of(make_plan(known, SolverOptions("stochastic")))["events"][-1]
        with pytest.raises(CertificateError, match="total"):
            forged({**DOCUMENT, "events": [*DOCUMENT["events"][:-1], other]}).check()
    with pytest.raises(CertificateError, match="total"):
        forged({**DOCUMENT, "events": DOCUMENT["events"][:-1]}).check()


def test_the_fields_of_batches_are_for_batches() -> None:
    moments, entry = DOCUMENT["events"]
    with pytest.raises(CertificateError, match="sensitivity"):
        forged({**DOCUMENT, "events": [{**moments, "sensitivity": entry["sensitivity"]}, entry]}).check()
    with pytest.raises(CertificateError, match="entries of sums over batches"):
        forged({**DOCUMENT, "events": [moments, *[entry] * (MOST_PERTURBED + 1)]}).check()


def test_a_fixed_size_is_not_certified_under_another_relation() -> None:
    document = document_of(plan_of(sampling="without-replacement"))
    with pytest.raises(InputError):
        forged({**document, "relation": "zero-out"}).check()


def test_a_bound_of_zero_is_refused() -> None:
    document = document_of(plan_of())
    batches = next(entry for entry in document["events"] if entry["query"] == "batch-gradient")
    batches["sensitivity"]["bound"] = "0"
    with pytest.raises(CertificateError, match="bound is not a whole number above 0"):
        forged(document).check()
