"""Formula to design, against formulaic's own matrix of the same table."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from typing import Any

import formulaic
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.design.design import Design
from tacit.design.factor import Indicator, Numeric
from tacit.errors import BoundsError, FormulaError, InputError, SchemaError
from tacit.formula.formula import design_from_formula
from tacit.schema.schema import BinaryColumn, FactorColumn, NumericColumn, Schema

SCHEMA = Schema(
    {
        "readmit": BinaryColumn(("no", "yes")),
        "age": NumericColumn(0, 110),
        "bmi": NumericColumn(-2.5, 60),
        "ward": FactorColumn(("a", "b", "c")),
        "sex": BinaryColumn((0, 1)),
        "my col": FactorColumn((10, 20, 30)),
        "x.y": NumericColumn(-3, -1),
    }
)

FORMULAS = [
    "readmit ~ age",
    "readmit ~ 1",
    "readmit ~ age + C(ward) + sex + age:C(ward) - 1",
    "readmit ~ .",
    "readmit ~ . - ward - 1",
    "readmit ~ 0 + ward + sex",
    "readmit ~ age:ward",
    "readmit ~ age + age:ward",
    "readmit ~ ward:sex",
    "readmit ~ 0 + ward:sex",
    "readmit ~ ward*sex*age",
    "readmit ~ sex/ward + bmi:age + age:bmi:x.y",
    "readmit ~ C(`my col`) + C(`my col`):ward",
    "readmit ~ ward*sex*`my col` - ward - sex",
    "readmit ~ ward:sex:`my col`",
    "readmit ~ bmi:ward + age:ward:sex - 1",
    "readmit ~ (age + ward + sex)**2",
    "readmit ~ `x.y` + x.y:C(sex)",
]


def full_table() -> pd.DataFrame:
    """A table with every combination of levels, and the ends of the bounds among the numbers."""
    cells = list(itertools.product("abc", "01", ["10", "20", "30"], range(6)))
    generator = np.random.default_rng(5)
    frame = pd.DataFrame(cells, columns=["ward", "sex", "my col", "copy"]).drop(columns="copy")
    for name, levels in [("ward", "abc"), ("sex", "01"), ("my col", ["10", "20", "30"])]:
        frame[name] = pd.Categorical(frame[name], categories=list(levels))
    for name, (low, high) in {"age": (0, 110), "bmi": (-2.5, 60), "x.y": (-3, -1)}.items():
        ends = generator.choice([low, high], len(frame))
        inner = generator.uniform(low, high, len(frame))
        frame[name] = np.where(generator.random(len(frame)) < 0.5, ends, inner)
    frame["readmit"] = generator.choice([0, 1], len(frame))
    return frame[["readmit", "age", "bmi", "ward", "sex", "my col", "x.y"]]


def evaluated(design: Design, table: pd.DataFrame) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Raw values of the design's columns, as the contract of `design` defines them."""
    result = np.ones((len(table), len(design.columns)))
    for j, column in enumerate(design.columns):
        for factor in column.factors:
            cells = table[factor.column]
            match factor:
                case Numeric():
                    result[:, j] *= cells.to_numpy()
                case Indicator(level=level):
                    result[:, j] *= (cells == level).to_numpy()
    return result


@pytest.mark.parametrize("formula", FORMULAS)
def test_columns_are_formulaics(formula: str) -> None:
    table = full_table()
    expected = formulaic.model_matrix(formula, table).rhs
    design = design_from_formula(formula, SCHEMA)
    assert design.names == tuple(expected.columns)
    values = expected.to_numpy(dtype=float)[:, int(design.intercept) :]
    np.testing.assert_allclose(evaluated(design, table), values, rtol=1e-15)
    assert np.linalg.matrix_rank(expected.to_numpy(dtype=float)) == design.width


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_record_within_the_bounds_stays_within_the_norm(formula: str) -> None:
    design = design_from_formula(formula, SCHEMA)
    raw = evaluated(design, full_table())
    lower, upper, center, scale = (
        np.array([(c.lower, c.upper, c.center, c.scale) for c in design.columns]).reshape(-1, 4).T
    )
    assert (raw >= lower - 1e-9).all()
    assert (raw <= upper + 1e-9).all()
    mapped = (raw - center) / scale
    assert (np.abs(mapped) <= 1 + 1e-12).all()
    norms = np.linalg.norm(mapped, axis=1)
    assert (norms <= design.feature_norm * (1 + 1e-12)).all()


@pytest.mark.parametrize("formula", FORMULAS)
def test_user_coefficients_predict_what_prepared_ones_predict(formula: str) -> None:
    design = design_from_formula(formula, SCHEMA)
    raw = evaluated(design, full_table())
    one = [np.ones(len(raw))] if design.intercept else []
    mapped = [(raw[:, j] - c.center) / c.scale for j, c in enumerate(design.columns)]
    theta = np.random.default_rng(3).normal(size=design.width)
    user = design.to_user() @ theta
    np.testing.assert_allclose(
        np.column_stack([*one, raw]) @ user, np.column_stack([*mapped, *one]) @ theta, rtol=1e-9, atol=1e-9
    )


def test_without_an_intercept_nothing_is_shifted() -> None:
    (age, shifted) = design_from_formula("readmit ~ age + x.y - 1", SCHEMA).columns
    assert (age.lower, age.upper, age.center, age.scale) == (0, 110, 0, 110)
    assert (shifted.lower, shifted.upper, shifted.center, shifted.scale) == (-3, -1, 0, 3)


def test_numeric_terms_are_mapped_and_indicators_stay_zero_one() -> None:
    design = design_from_formula("readmit ~ age + ward + age:bmi + bmi:ward", SCHEMA)
    by_name = {column.name: column for column in design.columns}
    age, product = by_name["age"], by_name["age:bmi"]
    assert (age.lower, age.upper, age.center, age.scale) == (0, 110, 55, 55)
    assert (product.lower, product.upper) == (-275, 6600)
    assert (product.center, product.scale) == (3162.5, 3437.5)
    ward, mixed = by_name["ward[T.b]"], by_name["bmi:ward[b]"]
    assert (ward.lower, ward.upper, ward.center, ward.scale) == (0, 1, 0, 1)
    assert (mixed.lower, mixed.upper, mixed.center, mixed.scale) == (-2.5, 60, 0, 60)
    assert design.feature_norm == 2.0


def test_bounds_away_from_zero_are_widened_to_it_beside_an_indicator() -> None:
    (first, *_) = design_from_formula("readmit ~ x.y:ward - 1", SCHEMA).columns
    assert (first.lower, first.upper, first.center, first.scale) == (-3, 0, 0, 3)


@pytest.mark.parametrize(("row_norm", "expected"), [(None, math.sqrt(2)), (0.5, 0.5), (9.0, math.sqrt(2))])
def test_row_norm_can_only_lower_the_norm(row_norm: float | None, expected: float) -> None:
    assert design_from_formula("readmit ~ age + ward", SCHEMA, row_norm=row_norm).feature_norm == (expected)


@pytest.mark.parametrize("row_norm", [0.0, -1.0, math.nan, math.inf])
def test_a_wrong_row_norm_is_refused(row_norm: float) -> None:
    with pytest.raises(BoundsError, match="row_norm"):
        design_from_formula("readmit ~ age", SCHEMA, row_norm=row_norm)


def test_intercept_alone_is_a_design_without_columns() -> None:
    design = design_from_formula("readmit ~ 1", SCHEMA)
    assert (design.names, design.row_norm) == (("Intercept",), 1.0)
    np.testing.assert_array_equal(design.to_user(), [[1.0]])


def test_the_response_is_a_declared_binary_column() -> None:
    response = design_from_formula("readmit ~ age", SCHEMA).response
    assert (response.column, response.classes) == ("readmit", ("no", "yes"))
    awkward = Schema({"my y": BinaryColumn(), "a b": NumericColumn(0, 1)})
    design = design_from_formula("`my y` ~ .", awkward)
    assert (design.response.column, design.names) == ("my y", ("Intercept", "a b"))


@pytest.mark.parametrize(
    "formula",
    [
        "age ~ ward",
        "ward ~ age",
        "readmit + sex ~ age",
        "readmit:sex ~ age",
        "C(readmit) ~ age",
        "1 ~ age",
        "0 ~ age",
        "readmit ~ readmit + age",
        "readmit ~ age:readmit",
        "~ age",
        "age",
        "",
    ],
)
def test_a_wrong_response_is_refused(formula: str) -> None:
    with pytest.raises(FormulaError, match=r"response|left side"):
        design_from_formula(formula, SCHEMA)


@pytest.mark.parametrize(
    ("term", "words"),
    [
        ("scale(age)", "off the data"),
        ("scale(age)", "tighter bounds in the schema"),
        ("center(age)", "off the data"),
        ("standardize(age + 1)", "off the data"),
        ("poly(age, 2)", "raw=True"),
        ("poly(age, 2, raw=False)", "raw=True"),
        ("bs(age, 3)", "off the data"),
        ("bs(age, df=5)", "knots=["),
        ("cr(age, 4)", "knots=["),
        ("cs(age)", "declared in the schema"),
        ("hashed(ward, 8)", 'type = "factor"'),
        ("lag(age)", "that record alone"),
        ("C(age)", 'type = "factor"'),
        ("C(age)", "cut(age, [edges])"),
        ("C(`x.y`)", 'type = "factor"'),
    ],
)
def test_t37_nothing_is_read_off_the_data(term: str, words: str) -> None:
    with pytest.raises(FormulaError) as caught:
        design_from_formula(f"readmit ~ ward + {term}", SCHEMA)
    assert str(caught.value).startswith(term)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("term", "lower", "upper"),
    [("np.log(age + 1)", 0.0, math.log(111)), ("I(age + 1)", 1.0, 111.0), ("I(2 * age)", 0.0, 220.0)],
)
def test_t10_a_recomputed_column_has_bounds_of_its_own(term: str, lower: float, upper: float) -> None:
    column = design_from_formula(f"readmit ~ ward + {term}", SCHEMA).columns[-1]
    assert (column.lower, column.upper) == pytest.approx((lower, upper))


@pytest.mark.parametrize("term", ["age[0]", "Q('age')", "f()"])
def test_t10_what_is_not_known_is_refused(term: str) -> None:
    with pytest.raises(FormulaError, match="declare the bounds of the result"):
        design_from_formula(f"readmit ~ ward + {term}", SCHEMA)


@pytest.mark.parametrize(
    ("formula", "error", "marked"),
    [
        ("readmit ~ age + scale(bmi)", FormulaError, "scale(bmi)"),
        ("readmit ~ log(age) + bmi", BoundsError, "log(age)"),
        ("readmit ~ age + wrad:bmi", SchemaError, "wrad:bmi"),
        ("readmit ~ age + ward + C(ward)", FormulaError, "C(ward)"),
        ("ward ~ age", FormulaError, "ward"),
        ("age + ward ~ bmi", FormulaError, "age + ward"),
    ],
)
def test_errors_point_at_the_term(formula: str, error: type[InputError], marked: str) -> None:
    with pytest.raises(error) as caught:
        design_from_formula(formula, SCHEMA)
    *_, shown, carets = str(caught.value).splitlines()
    assert shown.removeprefix("  ") == formula
    start = carets.index("^")
    assert shown[start : start + carets.count("^")] == marked


@pytest.mark.parametrize("term", ["C(ward, Treatment)", "C(ward, Poly)", "C(ward, 1, 2)", "C()", "C(ward + 1)"])
def test_another_coding_is_refused(term: str) -> None:
    with pytest.raises(FormulaError, match=r"C\(x, Treatment"):
        design_from_formula(f"readmit ~ {term}", SCHEMA)


@pytest.mark.parametrize("term", ["2:age", "age:1", "0.5:ward"])
def test_multiplying_by_a_number_is_refused(term: str) -> None:
    with pytest.raises(FormulaError, match="number"):
        design_from_formula(f"readmit ~ {term}", SCHEMA)


@pytest.mark.parametrize("terms", ["ward + C(ward)", ". + C(ward)", "ward:C(ward)", "age:bmi + bmi:age"])
def test_one_term_under_two_spellings(terms: str) -> None:
    if terms == "age:bmi + bmi:age":
        assert design_from_formula(f"readmit ~ {terms}", SCHEMA).width == 2
        return
    with pytest.raises(FormulaError, match="write it once"):
        design_from_formula(f"readmit ~ {terms}", SCHEMA)


def test_a_factor_under_two_spellings_is_one_column_of_the_table() -> None:
    design = design_from_formula("readmit ~ ward + age + age:C(ward)", SCHEMA)
    assert design.names[-2:] == ("age:C(ward)[T.b]", "age:C(ward)[T.c]")


def test_unknown_columns_are_answered_with_the_declared_ones() -> None:
    for formula in ["readmit ~ wrad", "readmit ~ C(wrad)", "readmit ~ age:wrad"]:
        with pytest.raises(SchemaError, match=r'"wrad".*Did you mean "ward".*age, bmi'):
            design_from_formula(formula, SCHEMA)
    with pytest.raises(SchemaError, match="readmit"):
        design_from_formula("readmitt ~ age", SCHEMA)


@pytest.mark.parametrize("formula", ["readmit ~ 0", "readmit ~ -1", "readmit ~ age - age - 1"])
def test_neither_predictors_nor_intercept_is_refused(formula: str) -> None:
    with pytest.raises(FormulaError, match="neither predictors nor an intercept"):
        design_from_formula(formula, SCHEMA)


@pytest.mark.parametrize(
    "formula",
    [
        "readmit ~ age +",
        "readmit ~ (age",
        "readmit ~ age ward",
        "readmit ~ 'age'",
        "readmit ~ 3",
        "readmit ~ age | ward",
        "readmit ~ age ~ ward",
        "readmit ~ C(ward,,)",
        "readmit ~ [age)",
        "readmit ~ `age",
        "readmit ~ {" + "-" * 9_000 + "age}",
    ],
)
def test_bad_syntax_is_refused_in_a_short_message(formula: str) -> None:
    with pytest.raises(FormulaError, match="cannot be read") as caught:
        design_from_formula(formula, SCHEMA)
    assert len(str(caught.value)) < 500
    assert "\x1b" not in str(caught.value)


def test_something_else_than_text_is_refused() -> None:
    with pytest.raises(FormulaError, match="is text"):
        design_from_formula(3, SCHEMA)  # type: ignore[arg-type]


PIECES = [*"~+-*:/^().|`[]{}'\\ 012,#%", "readmit ~ ", "age", "ward", "C(", "C(ward)", "`my col`"]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.characters(), max_size=8).map("".join))
def test_any_text_is_a_design_or_an_input_error(text: str) -> None:
    try:
        design = design_from_formula(text, SCHEMA)
    except InputError:
        return
    assert design.width >= 1


@pytest.mark.parametrize(("formula", "upper"), [("y ~ a:b", 1e200), ("y ~ a:b", 1e-200), ("y ~ a:b:y2", 1e-200)])
def test_products_beyond_float64_are_refused(formula: str, upper: float) -> None:
    schema = Schema(
        {"y": BinaryColumn(), "y2": BinaryColumn(), "a": NumericColumn(0, upper), "b": NumericColumn(0, upper)}
    )
    with pytest.raises(BoundsError, match="rescale"):
        design_from_formula(formula, schema)


def test_two_coefficients_never_share_a_name() -> None:
    schema = Schema({"y": BinaryColumn(), "Intercept": NumericColumn(0, 1)})
    with pytest.raises(FormulaError, match="Intercept"):
        design_from_formula("y ~ Intercept", schema)
    assert design_from_formula("y ~ Intercept - 1", schema).names == ("Intercept",)


def test_booleans_and_numbers_name_their_indicators_by_their_text() -> None:
    schema = Schema({"y": BinaryColumn(), "b": BinaryColumn((False, True)), "n": FactorColumn((1.5, 2))})
    design = design_from_formula("y ~ b + n", schema)
    assert design.names == ("Intercept", "b[T.True]", "n[T.2]")
    assert design.columns[0].factors == (Indicator("b", "True"),)


def test_the_parser_is_loaded_only_when_a_formula_is_read() -> None:
    code = "import sys, tacit.formula.formula; sys.exit('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
