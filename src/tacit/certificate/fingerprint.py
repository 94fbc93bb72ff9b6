"""Fingerprints: digests of the parts of a fit that a certificate is for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from tacit.contract.release import Release
from tacit.documents.canonical_json import canonical, plain


def covered_by(
    release: Release, estimates: Sequence[Sequence[Any]] | None = None
) -> dict[str, Any]:
    """Return the parts of a release that a certificate is for: its terms and its design.

    A feature map that is a function is covered by what is declared of it.
    """
    rows = release.estimates() if estimates is None else estimates
    fields = ("name", "coef", "std_err", "lower", "upper")
    terms = [dict(zip(fields, row, strict=True)) for row in rows]
    return {"terms": plain(terms), "design": plain(release.plan.design.to_json())}


def fingerprint_of(covered: Mapping[str, Any]) -> dict[str, Any]:
    """Return the names of the covered parts and the SHA-256 of their canonical JSON."""
    digest = hashlib.sha256(canonical(covered).encode("ascii")).hexdigest()
    return {"covers": sorted(covered), "sha256": digest}


def first_fingerprint_of(estimates: Sequence[Sequence[Any]]) -> str:
    """Return the fingerprint of 0.1.0: of (name, coef, std_err, lower, upper) of each term."""
    text = json.dumps(plain(estimates), ensure_ascii=True, allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()
