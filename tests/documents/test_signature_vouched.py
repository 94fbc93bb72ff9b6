"""Who vouches for a document."""

from pathlib import Path
from typing import Any

import pytest

from tacit.documents.canonical_json import digest_of
from tacit.documents.signature import new_key, vouched
from tacit.errors import CertificateError

DOCUMENT: dict[str, Any] = {"a": 1, "signature": None}
DIGESTED = {**DOCUMENT, "digest": digest_of(DOCUMENT)}


def test_an_expected_signature_must_be_there(tmp_path: Path) -> None:
    found = vouched(DIGESTED, "It adds up.", None)
    assert (found.signed, found.signer) == (False, None)
    assert found.statement.startswith("It adds up. Only consistency was checked")
    with pytest.raises(CertificateError, match="signature is missing"):
        vouched(DIGESTED, "It adds up.", new_key(tmp_path / "key"))
