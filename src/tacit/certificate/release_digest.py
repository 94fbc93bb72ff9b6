"""The digest by which a ledger notes a release, and by which a stored fit is found among a ledger's charges.

    sha256 of { coefficients, digest of the certificate for coefficients and design alone, further parts }

The certificate inside a stored fit covers more (intervals, statements, family), so its own digest is another one. The
further parts are what intervals are made of, and statistics that were paid for; a release without any has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.certificate.certificate import Certificate
from tacit.certificate.fit_file import StoredFit, further_parts
from tacit.certificate.stated_parts import fingerprint_of
from tacit.contract.release import Release
from tacit.documents.canonical_json import digest_of, plain


def digest_of_release(release: Release) -> str:
    """Digest of a release, as it is noted when the release leaves."""
    return _digest(release.coefficients(), Certificate.issue(release).digest, further_parts(release))


def digest_of_fit(stored: StoredFit) -> str:
    """Digest of the release that a stored fit is of, found from the file alone."""
    return _digest(stored.coefficients, _first_certificate(stored), stored.further)


def first_digest_of_fit(stored: StoredFit) -> str:
    """The digest that earlier versions noted: of coefficients and design alone."""
    return _digest(stored.coefficients, _first_certificate(stored), {})


def _first_certificate(stored: StoredFit) -> str:
    """Digest of the certificate as it was when the release left."""
    terms = [
        {"name": term.name, "coef": term.coef, "std_err": None, "lower": None, "upper": None}
        for term in stored.estimates.terms
    ]
    covered = {"terms": plain(terms), "design": plain(stored.design.to_json())}
    return digest_of({**stored.certificate.document, "released": fingerprint_of(covered)})


def _digest(coefficients: Any, certificate: str, further: Mapping[str, Any]) -> str:
    noted = {"coefficients": plain(coefficients), "certificate": certificate}
    return digest_of({**noted, "further": plain(further)} if further else noted)
