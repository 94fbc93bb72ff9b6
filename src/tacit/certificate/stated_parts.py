"""Parts that every certificate states: how many records, what it covers, and nothing where nothing is guaranteed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tacit.documents.canonical_json import canonical, require
from tacit.privacy.relation import Relation

SEEDED = "noise from a fixed seed"
LARGEST_COUNT = 2**63
_MOST_PARTS = 64
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)


def fingerprint_of(covered: Mapping[str, Any]) -> dict[str, Any]:
    """Return the names of the covered parts of a fit and the SHA-256 of their canonical JSON."""
    return {"covers": sorted(covered), "sha256": hashlib.sha256(canonical(covered).encode("ascii")).hexdigest()}


def require_released(released: Mapping[str, Any]) -> None:
    """Refuse what is no list of covered parts with a SHA-256."""
    covers, digest = released["covers"], released["sha256"]
    names = all(isinstance(name, str) and name.isidentifier() for name in covers)
    listed = names and 0 < len(covers) <= _MOST_PARTS and covers == sorted(set(covers))
    require(listed, "released.covers is not a sorted list of names")
    require(_SHA256.fullmatch(digest), "released.sha256 is not 64 lower-case hexadecimal digits")


def which_records(relation: Relation) -> str:
    """Whether a certificate states n, or a lower bound on it."""
    return "n" if relation.n_is_public else "n_at_least"


def require_count(records: Mapping[str, Any], relation: Relation) -> None:
    """Refuse what is no number of records under the relation."""
    counted = records["which"] == which_records(relation) and 0 <= records["value"] < LARGEST_COUNT
    require(counted, f"records is not a number of records under {relation}")


def require_agreement(document: Mapping[str, Any], reasons: Sequence[str | None], nothing: Mapping[str, Any]) -> None:
    """Refuse a guarantee that is stated where none is given: not one of the reasons, or a total beside one."""
    why = document["why_not_private"]
    agree = why in reasons and document["private"] == (why is None)
    require(agree, "private, why_not_private and the budget contradict each other")
    if not document["private"]:
        stated = canonical(document["total"]) != canonical(nothing)
        require(not stated, "total states a guarantee although private is false")
