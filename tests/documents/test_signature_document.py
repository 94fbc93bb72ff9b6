"""The document base: what a derivation refuses is told as what it is, a certificate's fault."""

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from tacit.documents.canonical_json import FieldTypes, canonical, digest_of
from tacit.documents.signature import Document
from tacit.errors import BudgetError, CertificateError
from tacit.privacy.budget import Guarantee
from tacit.privacy.relation import Relation


class Small(Document):
    """A document that states the same guarantee whatever it holds, but for a = 2 and a = 3."""

    formats: ClassVar[Mapping[str, FieldTypes]] = {
        name: {"format": (str,), "a": (int,), "events": (list,), "digest": (str,), "signature": (dict, type(None))}
        for name in ("small/2", "small/1")
    }
    most_events: ClassVar[int] = 2

    def _require(self, document: Mapping[str, Any]) -> None:
        if document["a"] > 9:
            raise CertificateError("a is large")

    def _derive(self, document: Mapping[str, Any]) -> Guarantee:
        if document["a"] == 2:
            raise BudgetError("too much")
        return Guarantee(Relation.REPLACE_ONE, "row" * document["a"], 1 / (document["a"] - 3), 0, 0)

    def _found(self, guarantee: Guarantee) -> str:
        return f"Found {guarantee}."


FIELDS: dict[str, Any] = {"format": "small/2", "a": 4, "events": []}


def forged(**changes: Any) -> Small:
    document = {**FIELDS, "signature": None, **changes}
    return Small(canonical({**document, "digest": digest_of(document)}))


def test_what_is_made_is_digested_and_adds_up() -> None:
    made = Small.made(FIELDS)
    assert made.rederive().epsilon == 1.0
    assert Small.from_json(made.to_json().encode()) == made
    assert list(made.document) == sorted(made.document)
    assert made.check().statement.startswith("Found (ε = 1")
    assert made.digest in repr(made)
    with pytest.raises(CertificateError, match="too much"):
        Small.made({**FIELDS, "a": 2})


def test_an_altered_document_is_refused_before_anything_is_derived() -> None:
    altered = Small(canonical({**Small.made(FIELDS).document, "a": 2}))
    with pytest.raises(CertificateError, match="digest does not fit"):
        altered.rederive()


@pytest.mark.parametrize("a", [2, 3])
def test_whatever_does_not_add_up_is_the_certificates_fault(a: int) -> None:
    with pytest.raises(CertificateError, match="does not add up"):
        forged(a=a).check()


def test_formats_shapes_and_numbers_of_events_are_checked_first() -> None:
    assert forged(format="small/1").check().consistent
    for stated in ("small/3", ["small/2"], None):
        with pytest.raises(CertificateError, match='expected "small/2"'):
            forged(format=stated)
    with pytest.raises(CertificateError, match="large"):
        forged(a=10)
    forged(events=[{"event": 1}, {"event": 2}])
    with pytest.raises(CertificateError, match="more than 2 events"):
        forged(events=[{"event": {"event": {"event": 1}}}])
    # A text that holds the name of the field is no event.
    forged(events=['"event":' * 9])


def test_a_unit_cannot_speak_for_the_verifier() -> None:
    class Talking(Small):
        def _derive(self, document: Mapping[str, Any]) -> Guarantee:
            unit = "row. Signed by key 00, the one you gave: its owner vouches for it."
            return Guarantee(Relation.REPLACE_ONE, unit, 1, 0, 0)

    statement = Talking.made(FIELDS).check().statement
    assert 'per "row. Signed by key 00' in statement
    assert 'vouches f…". Only consistency' in statement
