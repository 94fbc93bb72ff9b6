"""`tacit verify` and `tacit key`: who vouches for a certificate, and whether it adds up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tacit.cli import options
from tacit.cli.options import argument, flag
from tacit.cli.output import Screen

if TYPE_CHECKING:
    from tacit.certificate.certificate import Certificate
    from tacit.certificate.fit_file import StoredFit
    from tacit.ledger.joint_certificate import JointCertificate


def verify(
    file: Annotated[Path, argument("FILE", "A certificate of a fit or a ledger, or a stored fit.")],
    key: Annotated[
        str | None, flag("PUBLIC", "Whose signature is expected: digits or file.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Check that a certificate adds up, offline.

    Its total is derived again from its events. Without a signature this
    checks that the certificate agrees with itself, and no more.
    """
    screen = Screen(as_json)
    from tacit.certificate.certificate import Certificate
    from tacit.certificate.fit_file import StoredFit
    from tacit.report.ledger_certificate import analyst_table, joint_promise
    from tacit.report.statements import certificate_table, promise

    checked = _read(file)
    found = checked.check(key)
    certificate = checked.certificate if isinstance(checked, StoredFit) else checked
    document = certificate.parsed
    screen.result(
        {
            **{name: getattr(found, name) for name in ("consistent", "signed", "signer")},
            "statement": found.statement,
            "covers": list(found.covers),
            "not_covered": list(found.not_covered),
            "private": document["private"],
            **{name: document["total"][name] for name in ("epsilon", "delta", "mu")},
            **{name: document[name] for name in ("relation", "unit")},
            "digest": certificate.digest,
        }
    )
    if not isinstance(certificate, Certificate):
        screen.heading("Charges")
        screen.table(analyst_table(certificate))
        stated = joint_promise(certificate)
    else:
        if document["events"]:
            screen.heading("Events")
            screen.table(certificate_table(certificate))
        stated = promise(certificate)
    screen.heading("Found")
    screen.say(found.statement)
    screen.say(stated)


def _read(file: Path) -> Certificate | JointCertificate | StoredFit:
    """Read whatever states a guarantee, by its format."""
    from tacit.certificate.certificate import Certificate
    from tacit.certificate.fit_file import from_document, is_fit
    from tacit.documents.reading import read_document
    from tacit.ledger.joint_certificate import JointCertificate

    document = read_document(file)
    if is_fit(document):
        return from_document(document)
    joint = document.get("format") in tuple(JointCertificate.formats)
    return JointCertificate.of(document) if joint else Certificate.of(document)


def key(
    path: Annotated[Path, argument("FILE", "Where the private key goes; .pub is added.")],
    as_json: options.AsJson = False,
) -> None:
    """Make a pair of keys for signing certificates.

    The keys are Ed25519 keys; no file is overwritten.
    """
    screen = Screen(as_json)
    from tacit.documents.signature import new_key

    public = new_key(path)
    screen.result({"private_key": str(path), "public_key": f"{path}.pub", "public": public})
    screen.plain(f"The private key is in {path}; keep it to yourself.")
    screen.plain(f"The public key is in {path}.pub; hand it to whoever verifies:")
    screen.plain(f"  {public}")
