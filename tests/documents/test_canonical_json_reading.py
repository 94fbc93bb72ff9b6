"""Reading documents of strangers: bounded before anything is computed."""

from typing import Any

import pytest

from tacit.certificate.certificate import Certificate
from tacit.documents.canonical_json import (
    DEEPEST_DOCUMENT,
    LARGEST_DOCUMENT,
    LONGEST_NUMBER,
    MOST_VALUES,
    parse_document,
    require_fields,
)
from tacit.errors import CertificateError


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        '"text"',
        b"\xff\xfe",
        "[" * 200_000,
        '{"a":' * 200_000,
        '{"a":' * DEEPEST_DOCUMENT + "1" + "}" * DEEPEST_DOCUMENT,
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": 1e999}',
        '{"a": ' + "9" * 5000 + "}",
        '{"a": 1, "a": 1}',
        '{"a": "\\ud800"}',
        '{"\\ud800": "a"}',
        '{"a": ' + "9" * (LONGEST_NUMBER + 1) + "}",
        '{"a": 0.' + "9" * LONGEST_NUMBER + "}",
        '{"a": [' + "[]," * (MOST_VALUES // 2) + "[]]}",
        " " * (LARGEST_DOCUMENT + 1),
    ],
    ids=range(19),
)
def test_a_hostile_document_is_refused(text: str | bytes) -> None:
    with pytest.raises(CertificateError):
        parse_document(text)
    with pytest.raises(CertificateError):
        Certificate.from_json(text)


def test_fields_are_held_against_their_types() -> None:
    layout = {"count": (int,), "any": (object,)}
    require_fields({"count": 1, "any": None}, layout, "it")
    wrongs: list[Any] = [{"count": True, "any": 1}, {"count": 1}, {"count": 1, "any": 1, "x": 1}, [], 1]
    for wrong in wrongs:
        with pytest.raises(CertificateError, match="it"):
            require_fields(wrong, layout, "it")
