"""What every certificate states: counts, covered parts, and no total where nothing is guaranteed."""

from typing import Any

import pytest

from tacit.certificate.stated_parts import (
    SEEDED,
    fingerprint_of,
    require_agreement,
    require_count,
    require_released,
    which_records,
)
from tacit.errors import CertificateError
from tacit.privacy.relation import Relation

NOTHING = {"epsilon": "inf", "delta": 1.0}


def test_what_is_issued_is_accepted() -> None:
    require_released(fingerprint_of({"terms": [1.0], "design": {}}))
    for relation in Relation:
        require_count({"which": which_records(relation), "value": 7}, relation)
    require_agreement({"private": True, "why_not_private": None, "total": {"epsilon": 1.0}}, (None, SEEDED), NOTHING)
    require_agreement({"private": False, "why_not_private": SEEDED, "total": NOTHING}, (None, SEEDED), NOTHING)


@pytest.mark.parametrize(
    "released",
    [
        {"covers": [], "sha256": "0" * 64},
        {"covers": ["b", "a"], "sha256": "0" * 64},
        {"covers": [1, {"a": 3}], "sha256": "0" * 64},
        {"covers": ["a"], "sha256": "zz"},
    ],
)
def test_other_parts_are_refused(released: dict[str, Any]) -> None:
    with pytest.raises(CertificateError, match="released"):
        require_released(released)


@pytest.mark.parametrize(("which", "value"), [("banana", 7), ("n", -7), ("n_at_least", 7), ("n", 2**63)])
def test_other_counts_are_refused(which: str, value: int) -> None:
    with pytest.raises(CertificateError, match="number of records"):
        require_count({"which": which, "value": value}, Relation.REPLACE_ONE)


@pytest.mark.parametrize(
    ("private", "why", "total"),
    [(True, SEEDED, NOTHING), (False, None, NOTHING), (False, "whatever", NOTHING), (False, SEEDED, {"epsilon": 1.0})],
)
def test_contradictions_are_refused(private: bool, why: str | None, total: dict[str, Any]) -> None:
    with pytest.raises(CertificateError):
        require_agreement({"private": private, "why_not_private": why, "total": total}, (None, SEEDED), NOTHING)
