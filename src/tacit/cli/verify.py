"""`tacit verify` and `tacit key`: who vouches for a certificate, and whether it adds up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli import options
from tacit.cli.screen import Screen
from tacit.errors import CertificateError

if TYPE_CHECKING:
    from tacit.ledger.joint import JointCertificate


def verify(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A certificate, of a fit or a ledger, or a fit that was kept."
        ),
    ],
    key: Annotated[
        str | None,
        typer.Option(
            "--key", metavar="PUBLIC", help="Whose signature is expected: digits or file."
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Check that a certificate adds up, offline.

    Its total is derived again from its events. Without a signature this
    checks that the certificate agrees with itself, and no more.
    """
    screen = Screen(as_json)
    from tacit.problem.certificate import Certificate
    from tacit.problem.stored import read_certificate
    from tacit.report.statements import certificate_table, promise

    certificate: Certificate | JointCertificate
    try:
        certificate = read_certificate(file)
    except CertificateError:
        joint = _joint_certificate(file)
        if joint is None:
            raise
        certificate = joint
    found = certificate.check(key)
    document = certificate.document
    total = document["total"]
    screen.result(
        {
            "consistent": found.consistent,
            "signed": found.signed,
            "signer": found.signer,
            "statement": found.statement,
            "private": document["private"],
            "epsilon": total["epsilon"],
            "delta": total["delta"],
            "mu": total["mu"],
            "relation": document["relation"],
            "unit": document["unit"],
            "digest": certificate.digest,
        }
    )
    if isinstance(certificate, Certificate) and document["events"]:
        screen.heading("Events")
        screen.table(certificate_table(certificate))
    screen.heading("Found")
    screen.say(found.statement)
    if isinstance(certificate, Certificate):
        screen.say(promise(certificate))


def _joint_certificate(file: Path) -> JointCertificate | None:
    """The certificate of a whole ledger, if the file holds one."""
    from tacit.ledger.joint import FORMAT, JointCertificate
    from tacit.problem.signature import parse_document
    from tacit.problem.stored import read_bytes

    content = read_bytes(file)
    if parse_document(content).get("format") != FORMAT:
        return None
    return JointCertificate.from_json(content)


def key(
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="Where the private key goes; .pub is added.")
    ],
    as_json: options.AsJson = False,
) -> None:
    """Make a pair of keys for signing certificates.

    The keys are Ed25519 keys; no file is overwritten.
    """
    screen = Screen(as_json)
    from tacit.problem.signature import new_key

    public = new_key(path)
    screen.result({"private_key": str(path), "public_key": f"{path}.pub", "public": public})
    screen.plain(f"The private key is in {path}; keep it to yourself.")
    screen.plain(f"The public key is in {path}.pub; hand it to whoever verifies:")
    screen.plain(f"  {public}")
