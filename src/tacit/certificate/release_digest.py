"""The digest by which a ledger notes a release, and by which a stored fit is found among a ledger's charges.

    sha256 of { coefficients, digest of the certificate for coefficients and design alone }

The certificate inside a stored fit covers more (intervals, statements, family), so its own digest is another one.
"""

from __future__ import annotations

from typing import Any

from tacit.certificate.certificate import Certificate
from tacit.certificate.fit_file import StoredFit
from tacit.certificate.stated_parts import fingerprint_of
from tacit.contract.release import Release
from tacit.documents.canonical_json import digest_of, plain


def digest_of_release(release: Release) -> str:
    """Digest of a release, as it is noted when the release leaves."""
    return _digest(release.coefficients(), Certificate.issue(release).digest)


def digest_of_fit(stored: StoredFit) -> str:
    """Digest of the release that a stored fit is of, found from the file alone."""
    terms = [
        {"name": term.name, "coef": term.coef, "std_err": None, "lower": None, "upper": None}
        for term in stored.estimates.terms
    ]
    covered = {"terms": plain(terms), "design": plain(stored.design.to_json())}
    stated = {**stored.certificate.document, "released": fingerprint_of(covered)}
    return _digest(stored.coefficients, digest_of(stated))


def _digest(coefficients: Any, certificate: str) -> str:
    return digest_of({"coefficients": plain(coefficients), "certificate": certificate})
