"""Checking documents: what a derivation refuses is told as what it is, a certificate's fault."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tacit.errors import BudgetError, CertificateError
from tacit.privacy.guarantee import Guarantee
from tacit.privacy.relation import Relation
from tacit.problem.signature import digest_of, new_key
from tacit.problem.verification import rederived, vouched

DOCUMENT: dict[str, Any] = {"a": 1, "signature": None}
DIGESTED = {**DOCUMENT, "digest": digest_of(DOCUMENT)}


def derive(document: Mapping[str, Any]) -> Guarantee:
    if document["a"] == 2:
        raise BudgetError("too much")
    return Guarantee(Relation.REPLACE_ONE, "row", 1.0, 1e-6, 0.2)


def test_an_altered_document_is_refused_before_anything_is_derived() -> None:
    assert rederived(DIGESTED, derive).epsilon == 1.0
    with pytest.raises(CertificateError, match="digest does not fit"):
        rederived({**DIGESTED, "a": 2}, derive)


def test_whatever_does_not_add_up_is_the_certificates_fault() -> None:
    wrong = {**DOCUMENT, "a": 2}
    with pytest.raises(CertificateError, match="does not add up: too much"):
        rederived({**wrong, "digest": digest_of(wrong)}, derive)


def test_an_expected_signature_must_be_there(tmp_path: Path) -> None:
    found = vouched(DIGESTED, "It adds up.", None)
    assert (found.signed, found.signer) == (False, None)
    assert found.statement.startswith("It adds up. Only consistency was checked")
    with pytest.raises(CertificateError, match="signature is missing"):
        vouched(DIGESTED, "It adds up.", new_key(tmp_path / "key"))
