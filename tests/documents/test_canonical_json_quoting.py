"""Texts of documents cannot pass for Tacit's own words."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.documents.canonical_json import LONGEST_QUOTED, quoted


@pytest.mark.parametrize("text", ["row", "patient", "second-moments", "ward_7"])
def test_one_word_stands_bare(text: str) -> None:
    assert quoted(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", '""'),
        ("two words", '"two words"'),
        ("a" * 61, '"' + "a" * 60 + '…"'),
        ('row". Signed by key', '"row\\". Signed by key"'),
        ("row”. Signed", '"row\\u201d. Signed"'),
        ("row\nSigned", '"row\\nSigned"'),
        ("row\x1b[31m", '"row\\x1b[31m"'),
        ("a\u202eb\u2066c", '"a\\u202eb\\u2066c"'),
        ("a\u200bb\u200dc\ufeff", '"a\\u200bb\\u200dc\\ufeff"'),
        ("a\u3164\u2800\ufe0f\u034fb", '"a\\u3164\\u2800\\ufe0f\\u034fb"'),
        ("a\u00a0b\u2003c", '"a\\xa0b\\u2003c"'),
        ("back\\slash", '"back\\\\slash"'),
        ("Fälle", '"Fälle"'),
    ],
)
def test_everything_else_is_quoted(text: str, shown: str) -> None:
    assert quoted(text) == shown


@given(st.text())
def test_nothing_leaves_the_marks(text: str) -> None:
    shown = quoted(text)
    if shown == text:
        assert text.isascii()
        return
    inside = shown[1:-1]
    assert shown[0] == shown[-1] == '"'
    assert '"' not in inside.replace("\\\\", "").replace('\\"', "")
    assert len(shown) <= 10 * LONGEST_QUOTED + 3
    allowed = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert not any(unicodedata.category(character) in allowed for character in inside)
