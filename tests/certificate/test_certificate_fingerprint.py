"""Fingerprints hold every part of a fit that they name."""

import hashlib
from typing import Any

from tacit.certificate.certificate import first_fingerprint_of
from tacit.certificate.stated_parts import fingerprint_of
from tacit.documents.canonical_json import canonical

PARTS: dict[str, Any] = {"terms": [{"name": "a", "coef": 1.0}], "design": {"intercept": True}}


def test_a_fingerprint_names_its_parts_and_hashes_their_canonical_spelling() -> None:
    expected = hashlib.sha256(canonical(PARTS).encode()).hexdigest()
    assert fingerprint_of(PARTS) == {"covers": ["design", "terms"], "sha256": expected}
    turned = dict(reversed(PARTS.items()))
    assert fingerprint_of(turned) == fingerprint_of(PARTS)


def test_another_part_has_another_fingerprint() -> None:
    others = [
        {**PARTS, "design": {"intercept": False}},
        {**PARTS, "terms": [{"name": "a", "coef": 1.0 + 2**-52}]},
        {**PARTS, "further": {}},
        {"terms": PARTS["terms"]},
    ]
    digests = {fingerprint_of(parts)["sha256"] for parts in (PARTS, *others)}
    assert len(digests) == 5


def test_the_fingerprint_of_the_first_format_is_over_the_rows_of_terms() -> None:
    text = '[["a", 1.0, null, "-inf", 2.0]]'
    expected = "sha256:" + hashlib.sha256(text.encode()).hexdigest()
    assert first_fingerprint_of([["a", 1.0, None, float("-inf"), 2.0]]) == expected
