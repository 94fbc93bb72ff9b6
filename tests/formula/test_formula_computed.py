"""Computed terms: powers, transforms, splines, cuts, marks of missing cells."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from tacit.design.attached_columns import Unit, Weighting
from tacit.design.design import Design
from tacit.design.factor import Between, LabelCell, Missing, Numeric, NumericCell, Power, Spline, Transform
from tacit.errors import BoundsError, FormulaError, InputError
from tacit.formula.formula import design_from_formula
from tacit.rows.encoding.encode_rows import FeatureReader
from tacit.rows.sources.opening import open_source
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
BS = "bs(bmi, knots=[20, 30])"
FORMULAS = [
    f"y ~ {BS}",
    f"y ~ {BS} - 1",
    f"y ~ {BS}:ward",
    f"y ~ age:{BS} + bmi",
    f"y ~ {BS}:bs(shift, knots=[], degree=1)",
    "y ~ cut(shift, [-1, 0.5]) * ward",
    "y ~ cut(shift, [-1, 0.5]):shift - 1",
    "y ~ poly(shift, 4, raw=True) * ward",
    "y ~ log(bmi) + sqrt(bmi) + log1p(age) + exp(shift) + log(bmi):exp(shift):shift",
    "y ~ age + ward + age:ward",
    "y ~ bs(shift, knots=[0]):shift - 1",
]
# A cut times a spline has empty products; shift times its square is the cube itself.
DEGENERATE = [
    "y ~ I(shift**2) + I(shift**3) + shift:I(shift**2)",
    "y ~ cut(bmi, [30]):bs(bmi, knots=[20, 30], degree=1) - 1",
]


def extremes() -> dict[str, NDArray[Any]]:
    """Records at and beyond the bounds, at knots and edges, and missing ones."""
    generator = np.random.default_rng(11)
    size = 4000
    points = {
        "age": [-5, 0, 40, 110, 500, math.nan],
        "bmi": [-1e300, 0, 10, 20, 25, 30, 60, 1e300],
        "shift": [-1e9, -3, -1, 0, 0.5, 2, 1e9],
        "a b": [-1, 0, 1, 7],
    }
    table: dict[str, NDArray[Any]] = {}
    for name, values in points.items():
        inner = generator.uniform(-4, 70, size)
        chosen = generator.choice(np.array(values), size)
        table[name] = np.where(generator.random(size) < 0.7, chosen, inner)
    table["ward"] = generator.choice(np.array(["a", "b", "c", "zebra"]), size)
    return table


def mapped(design: Design) -> NDArray[np.float64]:
    """Rows as they are prepared, before any shrinking."""
    reader = FeatureReader.of(design)
    source = open_source(pa.table(extremes()))
    batch = next(source.batches(10_000, numeric=reader.numeric, labels=tuple(reader.levels)))
    values, valid = reader.read(batch)
    assert valid.all()
    lower, upper, center, scale = np.array([(c.lower, c.upper, c.center, c.scale) for c in design.columns]).T
    assert (values >= lower - 1e-9 * scale).all()
    assert (values <= upper + 1e-9 * scale).all()
    rows: NDArray[np.float64] = (np.clip(values, lower, upper) - center) / scale
    return rows


@pytest.mark.parametrize("formula", [*FORMULAS, *DEGENERATE])
def test_t09_t10_any_record_stays_within_derived_bounds_and_norm(formula: str) -> None:
    design = design_from_formula(formula, SCHEMA)
    rows = mapped(design)
    assert (np.abs(rows) <= 1 + 1e-12).all()
    norms = np.linalg.norm(rows, axis=1)
    assert norms.max() <= design.feature_norm * (1 + 1e-12)


@pytest.mark.parametrize("formula", FORMULAS)
def test_no_column_is_a_sum_of_others(formula: str) -> None:
    design = design_from_formula(formula, SCHEMA)
    rows = mapped(design)
    ones = [np.ones(len(rows))] if design.intercept else []
    assert np.linalg.matrix_rank(np.column_stack([*ones, rows])) == design.width


def test_a_term_adds_one_to_the_squared_norm() -> None:
    for terms, count in [
        (BS, 1),
        (f"{BS} + ward", 2),
        ("cut(bmi, [20, 30, 40])", 1),
        ("poly(shift, 3, raw=True)", 3),
        ("age", 2),
        ("log(bmi) + bmi", 2),
    ]:
        design = design_from_formula(f"y ~ {terms}", SCHEMA)
        assert design.feature_norm == math.sqrt(count)


def test_bounds_are_derived_and_tight() -> None:
    design = design_from_formula(
        "y ~ log(bmi) + I(shift**2) + shift:I(shift**2) + cut(bmi, [30]):bmi + exp(shift)", SCHEMA
    )
    by_name = {column.name: (column.lower, column.upper) for column in design.columns}
    assert by_name["log(bmi)"] == (math.log(10), math.log(60))
    assert by_name["I(shift ** 2)"] == (0, 9)
    assert by_name["shift:I(shift ** 2)"] == (-27, 8)
    assert by_name["cut(bmi, [30])[[10, 30]]:bmi"] == (0, 30)
    assert by_name["cut(bmi, [30])[(30, 60]]:bmi"] == (0, 60)
    assert by_name["exp(shift)"] == (math.exp(-3), math.exp(2))


def test_a_spline_drops_its_first_function_beside_an_intercept() -> None:
    attached = design_from_formula(f"y ~ {BS}", SCHEMA)
    alone = design_from_formula(f"y ~ {BS} - 1", SCHEMA)
    assert attached.names == ("Intercept", *(f"{BS}[{i}]" for i in range(1, 6)))
    assert alone.names == tuple(f"{BS}[{i}]" for i in range(6))
    assert {(c.lower, c.upper, c.center, c.scale) for c in attached.columns} == {(0, 1, 0, 1)}
    assert alone.columns[2].factors == (Spline("bmi", (10, 20, 30, 60), 3, 2),)


def test_names_and_factors() -> None:
    design = design_from_formula(
        "y ~ np.log1p(`a b`) + I(`a b`**2) + {bmi**3} + cut(bmi, [10, 30, 60])",
        Schema({**COLUMNS, "a b": NumericColumn(-0.5, 1)}),
    )
    assert {column.name: column.factors for column in design.columns} == {
        "np.log1p(`a b`)": (Transform("a b", "log1p"),),
        "I(`a b` ** 2)": (Power("a b", 2),),
        "bmi ** 3": (Power("bmi", 3),),
        "cut(bmi, [10, 30, 60])[T.(30, 60]]": (Between("bmi", 30, math.inf),),
    }


def test_t37_missing_and_other_are_declared() -> None:
    design = design_from_formula("y ~ ward + log1p(age) + age:bmi", SCHEMA)
    assert design.cells == {"age": NumericCell(0, 110, 40), "bmi": NumericCell(10, 60), "ward": LabelCell(None, "c")}
    assert design.names[1:] == ("ward[T.b]", "ward[T.c]", "log1p(age)", "age:missing", "age:bmi")
    assert design.columns[3].factors == (Missing("age"),)
    assert Schema(COLUMNS).columns["bmi"] == NumericColumn(10, 60)
    assert design_from_formula("y ~ bmi", SCHEMA).names == ("Intercept", "bmi")


@pytest.mark.parametrize(
    ("terms", "error", "words"),
    [
        ("log(age)", BoundsError, "lower > 0"),
        ("log1p(shift)", BoundsError, "lower > -1"),
        ("sqrt(shift)", BoundsError, "lower >= 0"),
        ("log(ward)", FormulaError, "declared with levels"),
        ("log(bmi, 2)", FormulaError, "another number of arguments"),
        ("I(bmi**0)", FormulaError, "from 1 to 20"),
        ("I(bmi**21)", FormulaError, "from 1 to 20"),
        ("I(bmi**0.5)", FormulaError, "sqrt"),
        ("I(ward**2)", FormulaError, "declared with levels"),
        ("poly(bmi, 0, raw=True)", FormulaError, "whole number"),
        ("poly(bmi, degree=2, raw=True, knots=[3])", FormulaError, "write it as"),
        ("bs(bmi, knots=[30, 20])", FormulaError, "must increase"),
        ("bs(bmi, knots=[20, 20])", FormulaError, "must increase"),
        ("bs(bmi, knots=[10])", FormulaError, "within the declared bounds, 10 and 60"),
        ("bs(bmi, knots=[61])", FormulaError, "within the declared bounds"),
        ("bs(bmi, knots=[bmi])", FormulaError, "list of numbers"),
        ("bs(bmi, knots=[20], degree=0)", FormulaError, "from 1 to 5"),
        ("bs(bmi, knots=[20], degree=3.0)", FormulaError, "from 1 to 5"),
        ("bs(bmi, knots=[20], include_intercept=True)", FormulaError, "write it as"),
        ("bs(ward, knots=[20])", FormulaError, "declared with levels"),
        ("cut(bmi, [])", FormulaError, "at least one edge"),
        ("cut(bmi)", FormulaError, "at least one edge"),
        ("cut(bmi, [10, 60])", FormulaError, "at least one edge"),
        ("cut(bmi, [5, 30])", FormulaError, "within the declared bounds"),
        ("cut(bmi, 3)", FormulaError, "list of numbers"),
        ("cut(ward, [3])", FormulaError, "declared with levels"),
        (f"bmi + {BS}", FormulaError, "contains bmi already"),
        (f"{BS} + I(bmi**3)", FormulaError, "already; drop I(bmi ** 3)"),
        ("bmi + poly(bmi, 2, raw=True)", FormulaError, "write it once"),
        ("log(bmi) + I(log(bmi))", FormulaError, "write it once"),
        ("offset(shift)", FormulaError, "subtract it from the response"),
    ],
)
def test_wrong_terms_are_refused(terms: str, error: type[InputError], words: str) -> None:
    with pytest.raises(error) as caught:
        design_from_formula(f"n ~ {terms}", SCHEMA, family="gaussian")
    assert words in str(caught.value)
    assert "^" in str(caught.value)


def test_a_mark_that_shares_its_name_with_a_product_is_refused() -> None:
    schema = Schema({**COLUMNS, "missing": NumericColumn(0, 1)})
    with pytest.raises(FormulaError, match="age:missing"):
        design_from_formula("y ~ age + age:missing", schema)


def test_person_and_weight_come_from_the_schema() -> None:
    person, weight = Unit("id", 3, "visit"), Weighting("w", 10.0)
    schema = Schema({**COLUMNS, "w": NumericColumn(0, 10)}, person=person, weight=weight)
    design = design_from_formula("y ~ . - age", schema)
    assert (design.attached.unit, design.attached.weighting) == (person, weight)
    assert "w" not in design.names
    assert {factor for c in design.columns for factor in c.factors} >= {Numeric("bmi")}
