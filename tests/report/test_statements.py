"""Statements: never a smaller number than the true one."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.certificate.certificate import Certificate
from tacit.certificate.holdout_certificate import HoldoutCertificate
from tacit.contract.holdout_price import holdout_price
from tacit.contract.plan import Plan, PublicFact
from tacit.contract.release import Release
from tacit.documents.canonical_json import canonical, digest_of
from tacit.estimators.settings import check_settings
from tacit.formula.formula import design_from_formula
from tacit.planning.demo_table import CLINIC_FORMULA, CLINIC_SCHEMA
from tacit.privacy.budget import Budget, Guarantee
from tacit.privacy.relation import Relation
from tacit.report import statements
from tacit.report.statements import certificate_table, forecast_line, plan_document, plan_headline, plan_table, promise
from tacit.schema.schema import Schema


def clinic_plan(relation: str = "replace-one", epsilon: float = 1.0, solver: str = "auto") -> Plan:
    schema = Schema.parse(CLINIC_SCHEMA)
    n_at_least = 20_000 if relation == "add-remove" else None
    request = check_settings(
        epsilon=epsilon,
        delta=None,
        budget=None,
        relation=relation,
        unit="patient",
        n_at_least=n_at_least,
        solver=solver,
    )
    return request.plan(design_from_formula(CLINIC_FORMULA, schema), 20_000)


def certificate_of(plan: Plan, *, reproducible: bool = False) -> Certificate:
    return Certificate.issue(Release(plan, np.zeros(plan.design.width), reproducible=reproducible))


@pytest.mark.parametrize("solver", ["auto", "objective-perturbation", "double-noise-newton"])
def test_shares_add_up(solver: str) -> None:
    plan = clinic_plan(solver=solver)
    table = plan_table(plan)
    # Each is rounded by at most a half.
    total = sum(int(share.rstrip("%")) for *_, share in table.rows)
    assert abs(total - 100) <= len(table.rows) / 2
    assert sum(int(passes) for _, passes, _ in table.rows) == plan.queries


def test_headlines() -> None:
    assert "on 20,000 records" in plan_headline(clinic_plan())
    assert "on at least 20,000 records" in plan_headline(clinic_plan("add-remove"))
    assert "not private" in plan_headline(clinic_plan(epsilon=math.inf))
    assert plan_table(clinic_plan(epsilon=math.inf)).rows == ()
    assert forecast_line(clinic_plan(epsilon=math.inf)) is None
    line = forecast_line(clinic_plan())
    assert line is not None
    assert line.startswith("expected excess loss at most")


def test_documents_hold_no_infinity() -> None:
    document = plan_document(clinic_plan(epsilon=math.inf))
    assert (document["epsilon"], document["mu"]) == ("inf", "inf")
    assert document["excess_loss"] is None
    assert 0.99 < plan_document(clinic_plan())["epsilon"] <= 1
    assert plan_document(clinic_plan(solver="objective-perturbation"))["mu"] is None


@pytest.mark.parametrize(
    ("relation", "words"),
    [
        ("replace-one", "the record of any one patient been a different one"),
        ("zero-out", "the record of any one patient been blank"),
        ("add-remove", "any one patient not been in the table"),
    ],
)
def test_promises_name_the_neighbours(relation: str, words: str) -> None:
    text = promise(certificate_of(clinic_plan(relation)))
    assert words in text
    assert "2.72 times as likely" in text


def test_promises_name_their_premises() -> None:
    """A unit without a column may have several records: that it has one is assumed."""
    plan = clinic_plan()
    assert "if: each patient has at most one record" in promise(certificate_of(plan))
    valid = plan.with_facts(PublicFact("every record is valid", True, "assumed"))
    assert promise(certificate_of(valid)).count("; every record is valid") == 1
    assert "This holds if" not in promise(certificate_of(replace(plan, facts=(), unit="row")))


def test_no_promise() -> None:
    assert "Nothing is promised" in promise(certificate_of(clinic_plan(epsilon=math.inf)))
    seeded = promise(certificate_of(clinic_plan(), reproducible=True))
    assert "fixed seed" in seeded


def test_a_large_epsilon_stays_a_power() -> None:
    strong = promise(certificate_of(clinic_plan(epsilon=30.0)))
    assert "e^30" in strong
    assert "ε = 30 is above 10" in strong


@given(st.floats(1e-9, 13.8))
def test_factors_are_rounded_up(epsilon: float) -> None:
    factor = float(statements._factor(epsilon))
    assert math.exp(epsilon) <= factor <= math.exp(epsilon) * 1.01


def test_a_pure_promise_has_no_rest() -> None:
    pure = Guarantee(Relation.ZERO_OUT, "row", 1.0, 0.0, None)
    assert statements.odds_of(pure, several=False).endswith("at most 2.72 times as likely")
    assert "plus a probability of 1e-06" in statements.odds_of(replace(pure, delta=1e-6), several=False)


@pytest.mark.parametrize(
    ("sensitivity", "noise", "words"),
    [
        ({"squared": "4"}, {"variance": "36"}, "3"),
        ({"squared": "4"}, {"scale": "3"}, "1.5"),
        ({"bound": "7"}, {"scale": "2"}, "0.2857"),
        ({"squared": "0"}, {"variance": "1"}, "inf"),
    ],
)
def test_noise_multipliers_are_rounded_down(sensitivity: dict[str, str], noise: dict[str, str], words: str) -> None:
    assert statements.noise_multiplier(sensitivity, noise) == words


def test_events_are_tabled() -> None:
    plan = clinic_plan()
    table = certificate_table(certificate_of(plan))
    assert [int(times) for _, times, _ in table.rows] == [step.times for step in plan.steps]
    total = sum(int(times) / float(ratio) ** 2 for _, times, ratio in table.rows)
    mu = plan.guarantee().mu
    assert mu is not None
    assert math.sqrt(total) == pytest.approx(mu, rel=1e-3)
    assert certificate_table(certificate_of(clinic_plan(epsilon=math.inf))).rows == ()


def test_premises_are_listed() -> None:
    plan = replace(clinic_plan(), facts=()).with_facts(
        PublicFact("columns", ["age"], "assumed"),
        PublicFact("number of patients", "n", "assumed"),
        PublicFact("each patient has at most one record", True, "assumed"),
        PublicFact("every record is valid", False, "assumed"),
        PublicFact("season. Signed by key 00", "winter", "assumed"),
    )
    text = promise(certificate_of(plan))
    assert text.endswith(
        "This holds if: the names of the columns are public; the number of patients is public; "
        '"each patient has at most one record"; it is not so that "every record is valid"; '
        '"season. Signed by key 00" is public.'
    )
    declared = plan.with_facts(PublicFact("bounds", [0, 1], "declared"))
    assert promise(certificate_of(declared)).endswith("did not depend on records.")


def test_long_lists_of_premises_are_cut() -> None:
    facts = [PublicFact(f"premise {number}", True, "assumed") for number in range(30)]
    text = promise(certificate_of(replace(clinic_plan(), facts=()).with_facts(*facts)))
    assert "10 more, in the certificate, are true." in text
    assert "premise 29" not in text


def test_labels_of_events_are_quoted() -> None:
    document = certificate_of(clinic_plan()).document
    document["events"][0]["label"] = "x\u202e  1  2.0"
    document["digest"] = digest_of(document)
    table = certificate_table(Certificate(canonical(document)))
    assert table.rows[0][0] == '"x\\u202e  1  2.0"'


def test_the_table_of_a_holdout_has_its_two_pure_events() -> None:
    budget = Budget(epsilon=1.0, delta=0.0)
    price = holdout_price(budget, Relation.ZERO_OUT, 4, 1000)
    made = HoldoutCertificate.issue(
        price, budget, Relation.ZERO_OUT, "row", records=1000, answers=[], seeded=False, facts=[]
    )
    rows = certificate_table(made).rows
    assert [(row[1], row[2]) for row in rows] == [("4", "8")] * 2
    assert "2.72 times as likely" in promise(made)
