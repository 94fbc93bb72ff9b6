"""One certificate for everything a ledger was charged."""

import json
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tacit.accounting.rounding import root_up
from tacit.documents.canonical_json import canonical, digest_of
from tacit.documents.signature import new_key, sign
from tacit.errors import CertificateError, LedgerError
from tacit.ledger.accounts import Accounts
from tacit.ledger.entry import Terms
from tacit.ledger.joint_certificate import FORMAT, WHO, JointCertificate
from tacit.ledger.ledger import Ledger
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian
from tacit.privacy.relation import Relation


@pytest.fixture
def ledger() -> Ledger:
    ledger = Ledger(budget=Budget(epsilon=3, delta=1e-6), dataset="clinic 2024")
    for label, variance in (("first", 20), ("second", 30), ("third", 12)):
        charge = ledger.reserve([Gaussian(1, variance)], relation="replace-one", unit="patient", label=label)
        if label != "third":
            ledger.commit(charge, f"sha256:{label}")
    return ledger


def test_the_total_is_that_of_all_charges(ledger: Ledger) -> None:
    certificate = ledger.certificate()
    document = certificate.document
    assert Fraction(document["total"]["mu_squared"]) == Fraction(1, 6)
    assert [charge["release"] for charge in document["charges"]] == ["sha256:first", "sha256:second", None]
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
        (alter("capacity", "1/7"), "more than the budget"),
        (alter("capacity", "9"), "capacity is more"),
        (alter("capacity", "-1"), "capacity is no exact number"),
        (alter("total.mu_squared", "0"), "mu_squared"),
        (alter("total.mu_squared", "166666667/1000000000000"), "mu_squared"),
        (alter("total.mu_squared", "9" * 2001), "mu_squared is no exact number"),
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
    "change", [alter("format", "tacit-certificate/1"), alter("more", 1), alter("total", {}), alter("charges", [{}])]
)
def test_another_layout_is_refused(ledger: Ledger, change: Callable[[dict[str, Any]], None]) -> None:
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


def chain_of(count: int, size: int = 1, **further: Any) -> Any:
    """A chain of charges with unlike odd variances, without the time it takes to keep them."""
    charges = tuple(
        SimpleNamespace(
            sequence=2 * number + 1,
            time="2025-01-01T00:00:00Z",
            label=f"fit {number}",
            release=None,
            events=(Gaussian(1, 10**size + 2 * number + 1),),
            **dict.fromkeys(WHO) | {name: value(number) for name, value in further.items()},
        )
        for number in range(count)
    )
    terms = Terms(Budget(epsilon=3, delta=1e-6))
    return SimpleNamespace(
        terms=terms,
        budget=terms.budget,
        accounts=Accounts(terms.capacity),
        charges=charges,
        relation=Relation.REPLACE_ONE,
        unit="patient",
        length=2 * count,
        head=SimpleNamespace(hash="0" * 64),
    )


@pytest.mark.parametrize(("count", "size"), [(301, 6), (2000, 7), (2000, 200)])
def test_a_ledger_of_many_odd_charges_is_certified_and_verified_in_time(count: int, size: int) -> None:
    chain = chain_of(count, size)
    began = time.process_time()
    certificate = JointCertificate.issue(chain)
    again = JointCertificate.from_json(certificate.to_json())
    assert again.check().consistent
    assert time.process_time() - began < 5.0
    stated = certificate.document["total"]["mu_squared"]
    assert len(stated) < 2000
    if size < 10:
        exact = sum((charge.events[0].mu_squared for charge in chain.charges), Fraction(0))
        assert exact < Fraction(stated) < exact * (1 + Fraction(1, 2**200))
        assert certificate.rederive().mu == root_up(exact)


def test_a_stated_sum_below_the_exact_one_is_refused() -> None:
    document = JointCertificate.issue(chain_of(400, 7)).document
    stated = Fraction(document["total"]["mu_squared"])
    for factor in (1 - Fraction(1, 2**250), 1 + Fraction(1, 10**8)):
        square = stated * factor
        whole = Fraction(int(square * 2**900), 2**900)
        document["total"]["mu_squared"] = str(whole)
        document["digest"] = digest_of(document)
        with pytest.raises(CertificateError, match="mu_squared"):
            JointCertificate(canonical(document)).check()


def test_who_and_what_a_charge_was_for_is_stated() -> None:
    chain = chain_of(
        4,
        3,
        analyst=lambda k: ("ada", "grace")[k % 2],
        project=lambda k: "trial",
        formula=lambda k: "y ~ x",
        file=lambda k: None,
        key=lambda k: "fit",
    )
    certificate = JointCertificate.issue(chain)
    document = certificate.document
    assert document["format"] == FORMAT
    assert document["charges"][1]["analyst"] == "grace"
    assert document["charges"][1]["file"] is None
    found = certificate.by_analyst()
    assert set(found) == {"ada", "grace"}
    total = certificate.rederive()
    squares = [Fraction(own.mu or 0) ** 2 for own in found.values()]
    assert all(own.epsilon < total.epsilon for own in found.values())
    assert total.mu is not None
    assert float(sum(squares)) == pytest.approx(total.mu**2)


def test_a_lowered_cap_is_the_one_that_is_stated(ledger: Ledger) -> None:
    before = ledger.certificate().document
    assert Fraction(before["capacity"]) == ledger.terms.capacity
    ledger.lower(Budget(mu=0.5), "the board asked for it")
    after = ledger.certificate().document
    assert (after["capacity"], after["budget"]["mu"]) == ("1/4", 0.5)
    after["capacity"] = "1/100"
    after["digest"] = digest_of(after)
    with pytest.raises(CertificateError, match="more than the budget"):
        JointCertificate(canonical(after)).check()


def test_an_event_without_a_square_is_refused(ledger: Ledger) -> None:
    document = ledger.certificate().document
    pure = {"event": "pure", "epsilon": "1", "label": ""}
    document["charges"][0]["events"] = [pure]
    document["digest"] = digest_of(document)
    with pytest.raises(CertificateError, match="not Gaussian"):
        JointCertificate(canonical(document)).check()
