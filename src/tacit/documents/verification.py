"""What was found when a document was checked, and who vouches for it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tacit.documents.signature import read_public_key, verify
from tacit.errors import CertificateError


@dataclass(frozen=True)
class Verification:
    """What was found: that it adds up, whether it is signed and by which key, and so in words.

    `covers` are the parts of a fit that the certificate holds fast; `not_covered` are parts of the
    file that it does not.
    """

    consistent: bool
    signed: bool
    signer: str | None
    statement: str
    covers: tuple[str, ...] = ()
    not_covered: tuple[str, ...] = ()


def vouched(
    document: Mapping[str, Any], found: str, public_key: str | os.PathLike[str] | None
) -> Verification:
    """Say who signed a document that was `found` to add up; expect this key if one is given.

    Raises
    ------
    CertificateError
        If the signature is missing where a key is given, does not fit, or is by another key.
    SettingError
        If it is signed and the library that verifies is not installed.
    """
    if document["signature"] is None:
        if public_key is not None:
            raise CertificateError("signature is missing; expected one by the key you gave")
        doubt = "Only consistency was checked: it is unsigned, and nobody vouches for it."
        return Verification(True, False, None, f"{found} {doubt}")
    signer = verify(document["digest"], document["signature"])
    if public_key is None:
        whose = f"Signed by key {signer}, whose owner you must know."
    elif read_public_key(public_key) == signer:
        whose = f"Signed by key {signer}, the one you gave: its owner vouches for it."
    else:
        raise CertificateError(f"signature is by key {signer}, which is not the one you gave")
    return Verification(True, True, signer, f"{found} {whose}")
