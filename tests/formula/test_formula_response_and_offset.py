"""Responses and offsets of a formula, by family."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tacit.design.attached_columns import AnyOffset, Offset
from tacit.design.response import FAMILIES, Binary, Classes, CloglogBinary, Continuous, Count, Positive, ProbitBinary
from tacit.errors import FormulaError, SettingError
from tacit.formula.formula import design_from_formula
from tacit.schema.schema import BinaryColumn, DeclaredColumn, FactorColumn, NumericColumn, Schema

COLUMNS: dict[str, DeclaredColumn] = {
    "y": BinaryColumn(),
    "n": NumericColumn(0, 20),
    "age": NumericColumn(0, 110, missing=40, missing_indicator=True),
    "bmi": NumericColumn(10, 60),
    "shift": NumericColumn(-3, 2),
    "a b": NumericColumn(-1, 1),
    "ward": FactorColumn(("a", "b", "c"), other="c"),
}
SCHEMA = Schema(COLUMNS)


@pytest.mark.parametrize(
    ("family", "response", "expected"),
    [
        ("binomial", "y", Binary("y", (0, 1))),
        ("gaussian", "bmi", Continuous("bmi", 10, 60, 35, 25)),
        ("huber", "bmi", Continuous("bmi", 10, 60, 35, 25)),
        ("quantile", "shift", Continuous("shift", -3, 2, -0.5, 2.5)),
        ("poisson", "n", Count("n", 20)),
        ("multinomial", "ward", Classes("ward", ("a", "b", "c"))),
        ("probit", "y", ProbitBinary("y", (0, 1))),
        ("cloglog", "y", CloglogBinary("y", (0, 1))),
        ("gamma", "bmi", Positive("bmi", 10, 60)),
        ("negative-binomial", "n", Count("n", 20)),
    ],
)
def test_a_family_picks_the_response(family: str, response: str, expected: Any) -> None:
    assert design_from_formula(f"{response} ~ age", SCHEMA, family=family).response == expected


def test_every_family_is_tested_above() -> None:
    plain = {"binomial", "gaussian", "huber", "quantile", "poisson", "multinomial"}
    assert set(FAMILIES) == plain | {"probit", "cloglog", "gamma", "negative-binomial"}


def test_without_an_intercept_the_response_is_not_shifted() -> None:
    design = design_from_formula("bmi ~ shift - 1", SCHEMA, family="gaussian")
    assert design.response == Continuous("bmi", 10, 60, 0, 60)


@pytest.mark.parametrize(
    ("family", "response", "words"),
    [
        ("binomial", "n", 'type = "binary"'),
        ("binomial", "ward", 'type = "binary"'),
        ("gaussian", "y", 'type = "numeric", lower and upper'),
        ("huber", "ward", 'type = "numeric"'),
        ("poisson", "y", "the largest count"),
        ("probit", "n", 'binary column for family = "probit"'),
        ("cloglog", "ward", 'binary column for family = "cloglog"'),
        ("gamma", "y", 'numeric column for family = "gamma"'),
        ("gamma", "shift", "is positive: declare lower = 0"),
        ("negative-binomial", "shift", "lower = 0"),
        ("negative-binomial", "y", "the largest count"),
        ("poisson", "shift", "lower = 0"),
        ("poisson", "a b", "lower = 0"),
        ("multinomial", "y", 'type = "factor"'),
        ("multinomial", "n", "three or more levels"),
        ("multinomial", "pair", 'family = "binomial"'),
        ("poisson", "half", "whole number"),
    ],
)
def test_a_response_of_another_kind_is_refused(family: str, response: str, words: str) -> None:
    pair, half = FactorColumn(("a", "b")), NumericColumn(0, 10.5)
    schema = Schema({**COLUMNS, "pair": pair, "half": half})
    with pytest.raises(FormulaError) as caught:
        design_from_formula(f"`{response}` ~ age", schema, family=family)
    assert words in str(caught.value)
    assert "^" in str(caught.value)


def test_an_unknown_family_is_answered_with_the_known_ones() -> None:
    with pytest.raises(SettingError, match=r'"binomial".*got .poison.*Did you mean "poisson"'):
        design_from_formula("y ~ age", SCHEMA, family="poison")


def test_offsets_and_exposures() -> None:
    def offset(terms: str, family: str = "poisson") -> AnyOffset | None:
        response = "n" if family == "poisson" else "y"
        return design_from_formula(f"{response} ~ {terms}", SCHEMA, family=family).attached.offset

    logarithm = Offset("bmi", math.log(10), math.log(60), exposure=True)
    assert offset("age + offset(shift)") == Offset("shift", -3, 2)
    assert offset("age + offset(`a b`)", "binomial") == Offset("a b", -1, 1)
    assert offset("exposure(bmi) + age") == logarithm
    assert offset("offset(log(bmi))") == logarithm
    assert offset("offset(log(bmi))", "binomial") == logarithm
    assert offset("age") is None
    design = design_from_formula("n ~ age + exposure(bmi)", SCHEMA, family="poisson")
    assert design.names == ("Intercept", "age", "age:missing")


@pytest.mark.parametrize(
    ("formula", "family", "words"),
    [
        ("n ~ offset(shift * bmi)", "poisson", "one declared numeric column"),
        ("n ~ offset(0 * shift)", "poisson", "not 0"),
        ("n ~ offset(1e6 * shift)", "poisson", "moderate"),
        ("n ~ offset(shift):age", "poisson", "term of its own"),
        ("n ~ exposure(age)", "poisson", "lower > 0"),
        ("n ~ exposure(log(bmi))", "poisson", "one declared numeric column"),
        ("n ~ offset(bmi, shift)", "poisson", "one declared numeric column"),
        ("n ~ offset(ward)", "poisson", "declared with levels"),
        ("n ~ offset(n)", "poisson", "predict itself"),
        ("y ~ exposure(bmi)", "binomial", "log link"),
        ("ward ~ offset(bmi)", "multinomial", "changes nothing"),
        ("n ~ offset(huge)", "poisson", "moderate"),
    ],
)
def test_wrong_offsets_are_refused(formula: str, family: str, words: str) -> None:
    schema = Schema({**COLUMNS, "huge": NumericColumn(0, 1e9)})
    with pytest.raises(FormulaError) as caught:
        design_from_formula(formula, schema, family=family)
    assert words in str(caught.value)
    assert "^" in str(caught.value)
