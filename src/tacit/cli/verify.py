"""`tacit verify`: check a certificate or a stored fit offline, and find a fit among the charges of a ledger."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tacit.cli.options import argument, flag
from tacit.cli.output import Screen
from tacit.errors import CertificateError, SettingError
from tacit.text_table import one_line

if TYPE_CHECKING:
    from tacit.certificate.certificate import Certificate
    from tacit.certificate.holdout_certificate import HoldoutCertificate
    from tacit.certificate.search_certificate import SearchCertificate
    from tacit.ledger.joint_certificate import JointCertificate


def verify(
    file: Annotated[Path, argument("FILE", "A certificate of a fit or a ledger, or a stored fit.")],
    *,
    key: Annotated[str | None, flag("PUBLIC", "Whose signature is expected: digits or file.")] = None,
    fit: Annotated[Path | None, flag("FIT", "Say which charge in a ledger's certificate this stored fit is.")] = None,
    screen: Screen,
) -> None:
    """Check that a certificate adds up, offline.

    Its total is derived again from its events. Without a signature this
    checks that the certificate agrees with itself, and no more.
    """
    from tacit.certificate import fit_file
    from tacit.certificate.certificate import Certificate
    from tacit.certificate.holdout_certificate import HoldoutCertificate
    from tacit.certificate.release_digest import digest_of_fit
    from tacit.certificate.search_certificate import SearchCertificate
    from tacit.documents.canonical_json import read_document
    from tacit.ledger.joint_certificate import JointCertificate
    from tacit.report.statements import analyst_table, certificate_table, joint_promise, promise

    document = read_document(file)
    certificate: Certificate | HoldoutCertificate | JointCertificate | SearchCertificate
    release: str | None = None
    if fit_file.is_fit(document):
        stored = fit_file.from_document(document)
        found, certificate, release = stored.check(key), stored.certificate, digest_of_fit(stored)
    else:
        kinds = (JointCertificate, SearchCertificate, HoldoutCertificate)
        kind = next((it for it in kinds if document.get("format") in tuple(it.formats)), Certificate)
        certificate = kind.of(document)
        found = certificate.check(key)
    matched = None if fit is None else _charge_of(fit, certificate)
    stated = certificate.parsed
    screen.result(
        {
            **{name: getattr(found, name) for name in ("consistent", "signed", "signer", "statement")},
            **{name: list(getattr(found, name)) for name in ("covers", "not_covered")},
            "private": stated["private"],
            **{name: stated["total"][name] for name in ("epsilon", "delta", "mu")},
            **{name: stated[name] for name in ("relation", "unit")},
            "digest": certificate.digest,
            "release": release,
            "charge": None if matched is None else matched[0],
            "compared": None if matched is None else matched[1],
        }
    )
    if isinstance(certificate, JointCertificate):
        screen.part("Charges", analyst_table(certificate))
    elif stated["events"]:
        screen.part("Events", certificate_table(certificate))
    screen.heading("Found")
    screen.say(found.statement)
    screen.say(joint_promise(certificate) if isinstance(certificate, JointCertificate) else promise(certificate))
    if matched is not None:
        screen.say(matched[1])
    if release is not None:
        screen.say(release, "release")


def _charge_of(
    fit: Path, certificate: Certificate | HoldoutCertificate | JointCertificate | SearchCertificate
) -> tuple[int, str]:
    """Number of the charge that a stored fit is, and so in words; refused where there is none."""
    from tacit.certificate.fit_file import StoredFit
    from tacit.certificate.release_digest import digest_of_fit, first_digest_of_fit
    from tacit.inference.stated_estimates import compare_estimates
    from tacit.ledger.joint_certificate import JointCertificate

    if not isinstance(certificate, JointCertificate):
        how = "tacit ledger certificate LEDGER --output FILE writes one"
        raise SettingError(f"--fit looks for a fit among the charges of a ledger's certificate; {how}.")
    stored, charges = StoredFit.read(fit), certificate.parsed["charges"]
    release, first = digest_of_fit(stored), first_digest_of_fit(stored)
    places = {charge["release"]: number for number, charge in reversed([*enumerate(charges, 1)])}
    place = places.get(release, places.get(first))
    if place is None:
        raise CertificateError(
            f"the fit in {str(fit)!r} is none of the {len(charges)} charges: its release is {release}"
        )
    charge = charges[place - 1]
    if charge["release"] != release:
        reasons = "an earlier version noted the charge, or they were added later"
        compared = f"Coefficients and design were compared; standard errors and intervals cannot be: {reasons}"
    elif compare_estimates(stored):
        compared = "Coefficients, design, standard errors, intervals and labels were compared"
    else:
        compared = "Coefficients and design were compared; the file is too wide to keep what its intervals follow from"
    what = charge.get("formula") or charge["label"] or "no label"
    return place, one_line(
        f"The fit in {str(fit)!r} is charge {place} of {len(charges)}: {what}, {charge['time'][:16]} UTC. {compared}."
    )
