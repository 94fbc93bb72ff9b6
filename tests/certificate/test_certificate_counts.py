"""Certificates of plans that count: how many counts an answer has is stated and priced."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tacit.accounting.composition import mu_squared_of
from tacit.certificate.certificate import Certificate
from tacit.contract.plan import Penalty, Plan, Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import QueryKind
from tacit.contract.release import Release
from tacit.contract.sensitivity import price_for
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.documents.canonical_json import digest_of
from tacit.errors import CertificateError
from tacit.losses import classification
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.gradient import Gradient
from tacit.solvers.noisy_steps import Descent

BUDGET = Budget(epsilon=1.0, delta=1e-6)
COLUMNS = 7


def issued(relation: Relation) -> Certificate:
    return Certificate.issue(Release(issued_plan(relation), np.zeros(2)))


def issued_plan(relation: Relation) -> Plan:
    half = mu_squared_of(BUDGET) / 2
    steps = []
    for kind, times, size in ((QueryKind.COUNTS, 41, COLUMNS), (QueryKind.GRADIENT, 3, 1)):
        price = price_for(kind, half / times, relation, records=1000, width=2, size=size)
        steps.append(Step(kind, price, times, Purpose.GRADIENT, size))
    return Plan(
        solver=Gradient(Descent(20, 1.0, 0.0, None, "average")),
        loss=classification.LOGISTIC,
        design=matrix_design(["a"], Binary("y", (0, 1)), bounds=(0, 1), row_norm=None, intercept=True),
        records=1000,
        relation=relation,
        unit="row",
        budget=BUDGET,
        steps=tuple(steps),
        penalty=Penalty(),
        forecast=None,
    )


def issued_for_means() -> Certificate:
    half = mu_squared_of(BUDGET) / 2
    relation = Relation.REPLACE_ONE
    plan = issued_plan(relation)
    steps = []
    for kind, size in ((QueryKind.MEANS, 3), (QueryKind.GROUP_MEANS, 5)):
        price = price_for(kind, half, relation, records=1000, width=2, size=size)
        steps.append(Step(kind, price, 1, Purpose.STATISTIC, size))
    return Certificate.issue(Release(replace(plan, steps=tuple(steps)), np.zeros(2)))


def forged(document: dict[str, Any]) -> Certificate:
    return Certificate.from_json(json.dumps({**document, "digest": digest_of(document)}))


@pytest.mark.parametrize("relation", list(Relation))
def test_k_counts_have_k_times_the_squared_bound_under_every_relation(relation: Relation) -> None:
    certificate = issued(relation)
    assert certificate.check().consistent
    entry = certificate.document["events"][0]
    assert (entry["size"], entry["times"]) == (COLUMNS, 41)
    sensitivity = entry["sensitivity"]
    assert int(sensitivity["squared"]) == COLUMNS * int(sensitivity["bound"]) ** 2
    assert certificate.document["events"][1]["size"] == 1


@pytest.mark.parametrize(
    ("place", "size", "named"),
    [
        (0, 1, "sensitivity|event"),
        (0, COLUMNS - 1, "sensitivity|event"),
        (0, 0, "size"),
        (0, -COLUMNS, "size"),
        (0, 10**400, "size"),
        (0, float(COLUMNS), "size"),
        (1, 2, "size"),
    ],
)
def test_t03_fewer_counts_than_were_paid_for_are_a_forgery(place: int, size: Any, named: str) -> None:
    document = issued(Relation.REPLACE_ONE).document
    document["events"][place]["size"] = size
    with pytest.raises(CertificateError, match=named):
        forged(document).check()


@pytest.mark.parametrize(("place", "size"), [(0, 2), (0, 4), (1, 4), (1, 6), (0, 0)])
def test_a_certificate_that_states_another_number_of_means_is_refused(place: int, size: int) -> None:
    certificate = issued_for_means()
    assert certificate.check().consistent
    document = json.loads(certificate.to_json())
    document.pop("digest")
    bound = int(document["events"][1]["sensitivity"]["bound"])
    assert int(document["events"][1]["sensitivity"]["squared"]) == 16 * bound**2
    document["events"][place]["size"] = size
    with pytest.raises(CertificateError, match="event"):
        forged(document).check()
