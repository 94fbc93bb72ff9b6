"""Plain sums are read as formulaic reads them, and everything else is left to it."""

from typing import Any

import pytest
from formulaic.parser import DefaultFormulaParser
from hypothesis import given
from hypothesis import strategies as st

from tacit.formula.plain_sum import Term, plain_sum

DECLARED = ("a", "b", "age", "B2", "_x", "T", "I", "Q", "for_all", "bs", "log")


def seen(terms: Any) -> list[Any]:
    return [
        [(str(f.expr), f.eval_method.value, f.token.source_start, f.token.source_end) for f in term.factors]
        for term in terms
    ]


def by_formulaic(formula: str) -> tuple[list[Any], list[Any]]:
    context = {"__formulaic_variables_available__": list(DECLARED)}
    sides = DefaultFormulaParser(feature_flags={"twosided"}).get_terms(formula, context=context)
    return seen(sides.lhs), seen(sides.rhs)


spaces = st.sampled_from(["", " ", "  "])


@given(
    st.lists(st.sampled_from(DECLARED), min_size=1, unique=True),
    st.lists(st.booleans(), min_size=len(DECLARED), max_size=len(DECLARED)),
    st.lists(spaces, min_size=30, max_size=30),
    st.booleans(),
)
def test_sums_are_those_of_formulaic(names: list[str], factors: list[bool], gaps: list[str], one: bool) -> None:
    pieces = [f"C({name})" if factor else name for name, factor in zip(names, factors, strict=False)]
    pieces = ["1", *pieces] if one else pieces
    text = f"{gaps[0]}y{gaps[1]}~" + "+".join(f"{gaps[2 * k + 2]}{it}{gaps[2 * k + 3]}" for k, it in enumerate(pieces))
    found = plain_sum(text, DECLARED)
    assert found is not None
    assert (seen(found[0]), seen(found[1])) == by_formulaic(text)


@pytest.mark.parametrize(
    "formula",
    [
        "",
        "y",
        "y ~",
        "~ a",
        "y ~ a - 1",
        "y ~ 0 + a",
        "y ~ a + 1",
        "y ~ 1",
        "y ~ a + a",
        "y ~ a + C(a)",
        "y ~ a + y",
        "y ~ a:b",
        "y ~ a*b",
        "y ~ .",
        "y ~ missing",
        "y ~ C(missing)",
        "y ~ C",
        "y ~ C(a, Sum)",
        "y ~ log(a)",
        "y ~ bs(a)",
        "y ~ `a`",
        "y ~ a b",
        "y ~ a + for",
        "for ~ a",
        "log(y) ~ a",
        "y ~ a\n+ é",
        "y ~ a ~ b",
        "y + b ~ a",
    ],
)
def test_other_texts_are_left_to_formulaic(formula: str) -> None:
    assert plain_sum(formula, (*DECLARED, "y")) is None


def test_terms_have_their_spelling() -> None:
    found = plain_sum("y ~ C(a)", DECLARED)
    assert found is not None
    term = found[1][1]
    assert isinstance(term, Term)
    assert str(term) == str(term.factors[0]) == "C(a)"
