"""Limits of formulas: refused at once, and by what is too large."""

import time

import pytest

from tacit.errors import FormulaError
from tacit.formula.formula import design_from_formula
from tacit.formula.limits import LONGEST, require_moderate_formula, require_moderate_width
from tacit.schema.schema import BinaryColumn, DeclaredColumn, FactorColumn, NumericColumn, Schema

_COLUMNS: dict[str, DeclaredColumn] = {"y": BinaryColumn(), **{name: NumericColumn(0, 1) for name in "abcd"}}
SCHEMA = Schema({**_COLUMNS, "f": FactorColumn(tuple(range(300))), "g": FactorColumn(tuple(range(300)))})


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("y ~ a**99999999", "at most 20"),
        ("y ~ (a + b + c)**99", "at most 20"),
        ("y ~ (a + b + c)^20", "2,000 terms"),
        ("y ~ " + "*".join(["(a + b + c + d)"] * 9), "2,000 terms"),
        ("y ~ (.)**9", "2,000 terms"),
        ("y ~ f:g", "20,000 columns"),
        ("y ~ " + "a + " * 3000 + "b", "characters"),
    ],
)
def test_too_large_formulas_are_refused_at_once(formula: str, words: str) -> None:
    began = time.perf_counter()
    with pytest.raises(FormulaError, match=words):
        design_from_formula(formula, SCHEMA)
    assert time.perf_counter() - began < 5.0


@pytest.mark.parametrize("formula", ["y ~ a^2", "y ~ (a + b + c)**3", "y ~ a*b*c*d", "y ~ .", "y ~ f + g", "y ~ a / b"])
def test_usual_ones_are_not(formula: str) -> None:
    assert design_from_formula(formula, SCHEMA).columns


def test_the_limits_by_themselves() -> None:
    require_moderate_formula("y ~ " + "x" * (LONGEST - 4), 3)
    with pytest.raises(FormulaError, match="at most 20"):
        require_moderate_formula("y ~ (a b)**21", 3)
    require_moderate_width(20_000)
    with pytest.raises(FormulaError, match="columns"):
        require_moderate_width(20_001)
