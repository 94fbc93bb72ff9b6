"""Spellings: quoted names and R's words."""

import pytest

from tacit.formula.spelling import in_python, parsed, refused, without_quoted_names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x^2", "x**2"),
        ("f(TRUE, FALSE)", "f(True, False)"),
        ('f("a^b", TRUE)', 'f("a^b", True)'),
        ("TRUES", "TRUES"),
        ("poly(a, 2, raw=T)", "poly(a, 2, raw=True)"),
        ("poly(a, degree = 2, raw = T) + T + F", "poly(a, degree = 2, raw = True) + T + F"),
        ("as.factor(w) + `as.factor(w)`", "factor(w) + `as.factor(w)`"),
        ("`a^b` + x^2", "`a^b` + x**2"),
    ],
)
def test_what_r_writes(text: str, expected: str) -> None:
    assert in_python(text) == expected


def test_quoted_names_come_back() -> None:
    text, names = without_quoted_names("`a b` + quoted0")
    assert list(names.values()) == ["a b"]
    assert "`" not in text
    assert parsed("`a b`")[1] == {"quoted0_": "a b"}


def test_a_refusal_names_the_piece() -> None:
    assert str(refused("f(x)", "why.")) == "f(x) is refused: why."
