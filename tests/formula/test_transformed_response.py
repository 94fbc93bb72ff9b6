"""A transformed response is refused with the column to declare instead."""

from __future__ import annotations

import pytest

from tacit.errors import FormulaError
from tacit.formula.formula import design_from_formula
from tacit.formula.transformed_response import instead_of
from tacit.schema.schema import NumericColumn, Schema

SCHEMA = Schema({"wage": NumericColumn(1, 100), "age": NumericColumn(0, 99)})


def test_a_logarithm_has_the_bounds_that_follow_and_a_log_link() -> None:
    with pytest.raises(FormulaError, match="one declared column") as caught:
        design_from_formula("log(wage) ~ age", SCHEMA, family="gaussian")
    assert "[columns.log_wage]" in str(caught.value)
    assert "lower = 0, upper = 4.60517" in str(caught.value)
    assert "family gamma" in str(caught.value)


def test_a_comparison_is_a_binary_column() -> None:
    assert 'type = "binary"' in instead_of("I(wage > 20)", SCHEMA)


def test_what_has_no_bounds_says_why() -> None:
    assert "log needs lower > 0" in instead_of("log(wage - 5)", SCHEMA)
    assert "do not follow" in instead_of("log(unknown)", SCHEMA)
