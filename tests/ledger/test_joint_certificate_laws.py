"""The joint certificate of ledgers by other laws than gdp: costs, law and order are checked."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from tacit.errors import CertificateError
from tacit.ledger import joint_certificate
from tacit.ledger.joint_certificate import LAWFUL, JointCertificate
from tacit.ledger.ledger import Ledger
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian, Laplace, ObjectivePerturbation
from tacit.report.statements import analyst_table, joint_promise


@pytest.fixture
def certificate() -> JointCertificate:
    budget = Budget(epsilon=3, delta=1e-6)
    for analyst, event in (("ana", ObjectivePerturbation(1, 400, Fraction(1, 100), 1)), ("ben", Laplace(1, 10))):
        if analyst == "ana":
            ledger = Ledger(budget=budget, law="rdp", analyst="ana")
        ledger.reserve([event, Gaussian(1, 400)], relation="replace-one", unit="row")
    return ledger.certificate()


def altered(certificate: JointCertificate, change: Callable[[dict[str, Any]], object]) -> JointCertificate:
    document = certificate.document
    change(document)
    return JointCertificate.made({name: document[name] for name in document if name not in ("digest", "signature")})


def test_it_is_written_read_back_and_checked(certificate: JointCertificate) -> None:
    assert certificate.document["format"] == LAWFUL
    again = JointCertificate.from_json(certificate.to_json())
    assert again == certificate
    assert "All charges add up" in again.check().statement
    assert joint_promise(again)
    assert analyst_table(again).rows[-1][0] == "(together)"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda it: it["total"].update(epsilon=0.1), "total.epsilon"),
        (lambda it: it["total"].update(mu=0.1), "the events have none"),
        (lambda it: it["total"].update(delta=1e-5), "delta"),
        (lambda it: it["budget"].update(epsilon=0.5), "too small|more than the budget"),
        (lambda it: it["charges"][0].update(cost="1/1000000"), "below that of its events"),
        (lambda it: it["charges"][0].update(cost="10"), "more than the budget"),
        (lambda it: it.update(capacity="100"), "more than the budget allows"),
        (lambda it: it.update(order=30.0), "cost|more than the budget"),
        (lambda it: it.update(law="zcdp"), "belong together"),
        (lambda it: it.update(order=None), "belong together"),
        (lambda it: it.update(law="zcdp", order=None), "cannot price"),
        (lambda it: it.update(law="gdp", order=None), "belong together"),
        (lambda it: it.update(law="new"), "law"),
    ],
)
def test_what_does_not_add_up_is_refused(
    certificate: JointCertificate, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    with pytest.raises(CertificateError, match=message):
        altered(certificate, change).check()


def test_a_pure_total_is_exact() -> None:
    ledger = Ledger(budget=Budget(epsilon=1, delta=0))
    for _ in range(3):
        ledger.reserve([Laplace(1, 10)], relation="zero-out", unit="row")
    found = ledger.certificate().rederive()
    assert (found.epsilon, found.delta, found.mu) == (0.30000000000000004, 0.0, None)
    assert Fraction(found.epsilon) >= Fraction(3, 10)


def test_more_events_than_can_be_priced_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint_certificate, "MOST_PRICED", 3)
    ledger = Ledger(budget=Budget(epsilon=3, delta=1e-6), law="rdp")
    for scale in (100, 101, 102, 102, 103):
        assert ledger.guarantee() is None or ledger.certificate().check()
        ledger.reserve([Laplace(1, scale)], relation="replace-one", unit="row")
    with pytest.raises(CertificateError, match="more than 3 different events"):
        ledger.certificate()
