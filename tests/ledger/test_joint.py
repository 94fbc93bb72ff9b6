"""One certificate for everything a ledger was charged."""

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tacit.errors import CertificateError, LedgerError
from tacit.ledger.joint import JointCertificate
from tacit.ledger.ledger import Ledger
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian
from tacit.problem.signature import canonical, digest_of, new_key, sign


@pytest.fixture
def ledger() -> Ledger:
    ledger = Ledger(budget=Budget(epsilon=3, delta=1e-6), dataset="clinic 2024")
    for label, variance in (("first", 20), ("second", 30), ("third", 12)):
        charge = ledger.reserve(
            [Gaussian(1, variance)], relation="replace-one", unit="patient", label=label
        )
        if label != "third":
            ledger.commit(charge, f"sha256:{label}")
    return ledger


def test_the_total_is_that_of_all_charges(ledger: Ledger) -> None:
    certificate = ledger.certificate()
    document = certificate.document
    assert Fraction(document["total"]["mu_squared"]) == Fraction(1, 6)
    assert [charge["release"] for charge in document["charges"]] == [
        "sha256:first",
        "sha256:second",
        None,
    ]
    assert document["dataset"] == "clinic 2024"
    assert document["ledger"]["head"] == ledger.verify().head
    guarantee = certificate.rederive()
    assert guarantee == ledger.guarantee()
    assert guarantee.epsilon <= 3.0
    assert "All charges add up" in certificate.check().statement


def test_it_is_written_and_read_back(ledger: Ledger) -> None:
    certificate = ledger.certificate()
    assert JointCertificate.from_json(certificate.to_json()) == certificate
    assert certificate.digest in repr(certificate)


def test_before_the_first_charge_there_is_none() -> None:
    with pytest.raises(LedgerError, match="nothing has been charged"):
        Ledger(budget=Budget(mu=1.0)).certificate()


def alter(place: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        *outer, last = place.split(".")
        for name in outer:
            document = document[name]
        document[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (alter("total.epsilon", 0.1), "total.epsilon"),
        (alter("total.epsilon", 50.0), "total.epsilon"),
        (alter("total.mu", 0.1), "total.mu"),
        (alter("total.mu_squared", "1/7"), "mu_squared"),
        (alter("total.delta", 1e-5), "delta"),
        (alter("budget.epsilon", 1.0), "more than the budget"),
        (alter("relation", "neighbour"), "does not add up"),
        (alter("private", False), "private"),
        (lambda document: document["charges"].pop(), "mu_squared"),
        (lambda document: document["charges"].clear(), "no events"),
    ],
)
def test_a_forged_certificate_does_not_pass(
    ledger: Ledger, change: Callable[[dict[str, Any]], None], message: str
) -> None:
    document = ledger.certificate().document
    change(document)
    with pytest.raises(CertificateError, match="digest does not fit"):
        JointCertificate(canonical(document)).check()
    # The forger knows how to compute a digest.
    document["digest"] = digest_of(document)
    with pytest.raises(CertificateError, match=message):
        JointCertificate(canonical(document)).check()


@pytest.mark.parametrize(
    "change",
    [
        alter("format", "tacit-certificate/1"),
        alter("more", 1),
        alter("total", {}),
        alter("charges", [{}]),
    ],
)
def test_another_layout_is_refused(
    ledger: Ledger, change: Callable[[dict[str, Any]], None]
) -> None:
    document = ledger.certificate().document
    change(document)
    with pytest.raises(CertificateError):
        JointCertificate.from_json(json.dumps(document))


def test_it_can_be_signed(ledger: Ledger, tmp_path: Path) -> None:
    public = new_key(tmp_path / "curator.pem")
    certificate = ledger.certificate()
    signed = sign(certificate, tmp_path / "curator.pem")
    assert signed.check(public).signer == public
    assert "whose owner you must know" in signed.check().statement
    with pytest.raises(CertificateError, match="not the one you gave"):
        signed.check("ab" * 32)
    with pytest.raises(CertificateError, match="signature is missing"):
        certificate.check(public)
