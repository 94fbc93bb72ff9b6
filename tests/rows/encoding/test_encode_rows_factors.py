"""Cells to factors to columns: substitutes, clipping, products; one record at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from tacit.design.design import Column, Design
from tacit.design.factor import (
    Between,
    Cell,
    Factor,
    Indicator,
    LabelCell,
    Missing,
    Numeric,
    NumericCell,
    Power,
    Spline,
    Transform,
)
from tacit.design.response import Binary
from tacit.errors import SchemaError
from tacit.formula.formula import design_from_formula
from tacit.rows.admission.admit_rows import admit
from tacit.rows.encoding.encode_rows import FeatureReader
from tacit.rows.encoding.transforms import spline_basis
from tacit.rows.sources.opening import open_source
from tacit.rows.storage.tiles import to_rows
from tacit.schema.schema import Schema

LEVELS = {"ward": ("a", "b", "c")}
CELLS: dict[str, Cell] = {"age": NumericCell(1.0, 100.0, 40.0), "ward": LabelCell("a", "c")}
KNOTS = (1.0, 30.0, 100.0)


def design_of(*products: Sequence[Factor], cells: dict[str, Cell] = CELLS, response: str = "y") -> Design:
    columns = tuple(Column(f"c{j}", tuple(factors), -1e9, 1e9, 0.0, 1.0) for j, factors in enumerate(products))
    return Design(columns, Binary(response, (0, 1)), 3.0, levels=LEVELS, cells=cells)


def read(design: Design, table: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    reader = FeatureReader.of(design)
    source = open_source(table, fewest=0)
    batches = source.batches(10_000, numeric=reader.numeric, labels=tuple(reader.levels))
    return reader.read(next(batches))


AGES = np.array([0.5, 1.0, 25.0, 30.0, 99.5, 1e9, -1e9, math.nan])
CLEAN = np.array([1.0, 1.0, 25.0, 30.0, 99.5, 100.0, 1.0, 40.0])


def test_every_factor_sees_the_cleaned_cell() -> None:
    design = design_of(
        (Numeric("age"),),
        (Power("age", 3),),
        (Transform("age", "log"),),
        (Between("age", -math.inf, 30.0),),
        (Between("age", 30.0, math.inf),),
        (Missing("age"),),
        (Spline("age", KNOTS, 2, 1),),
        (Spline("age", KNOTS, 2, 3), Numeric("age")),
    )
    values, valid = read(design, pd.DataFrame({"age": AGES}))
    basis = spline_basis(CLEAN, KNOTS, 2)
    expected = [
        CLEAN,
        CLEAN**3,
        np.log(CLEAN),
        CLEAN <= 30,
        CLEAN > 30,
        np.isnan(AGES),
        basis[:, 1],
        basis[:, 3] * CLEAN,
    ]
    np.testing.assert_allclose(values, np.column_stack(expected), rtol=1e-14)
    assert valid.all()


@pytest.mark.parametrize("cell", [math.inf, -math.inf])
def test_infinite_cells_are_invalid_still(cell: float) -> None:
    design = design_of((Transform("age", "log"),), (Spline("age", KNOTS, 2, 1),))
    values, valid = read(design, pd.DataFrame({"age": [2.0, cell, 3.0]}))
    assert valid.tolist() == [True, False, True]
    assert np.isfinite(values).all()


def test_t37_without_a_declared_constant_a_missing_cell_is_invalid() -> None:
    cells: dict[str, Cell] = {"age": NumericCell(1.0, 100.0)}
    design = design_of((Transform("age", "log"),), cells=cells)
    values, valid = read(design, pd.DataFrame({"age": AGES}))
    assert valid.tolist() == [True] * 7 + [False]
    assert np.isfinite(values).all()


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (LabelCell("a", "c"), [0, 1, 2, 2, 0, 0, 0]),
        (LabelCell("b", None), [0, 1, 2, -1, 1, 1, 1]),
        (LabelCell(None, "b"), [0, 1, 2, 1, -1, -1, -1]),
        (None, [0, 1, 2, -1, -1, -1, -1]),
    ],
)
def test_t37_missing_and_undeclared_labels_take_the_declared_level(cell: LabelCell | None, expected: list[int]) -> None:
    cells: dict[str, Cell] = {} if cell is None else {"ward": cell}
    design = design_of(*((Indicator("ward", level),) for level in "abc"), cells=cells)
    labels = np.array(["a", "b", "c", "zebra", None, "", math.nan], dtype=object)
    values, valid = read(design, pd.DataFrame({"ward": labels}))
    assert valid.tolist() == [code >= 0 for code in expected]
    for row, code in zip(values, expected, strict=True):
        assert row.tolist() == [float(code == j) for j in range(3)]


def test_substitutes_work_for_numbers_as_labels() -> None:
    columns = tuple(Column(level, (Indicator("w", level),), 0, 1, 0, 1) for level in ("1", "2"))
    design = Design(columns, Binary("y", (0, 1)), 1.0, levels={"w": ("1", "2")}, cells={"w": LabelCell("2", "1")})
    values, valid = read(design, pa.table({"w": [1.0, 2.0, 3.0, math.nan]}))
    assert values.tolist() == [[1, 0], [0, 1], [1, 0], [0, 1]]
    assert valid.all()


def test_t36_a_factor_without_declared_bounds_is_refused() -> None:
    for factor in (Power("x", 2), Transform("x", "exp"), Missing("x"), Between("x", 0.0, 1.0)):
        with pytest.raises(SchemaError, match="of x are not declared"):
            FeatureReader.of(design_of((factor,)))
    with pytest.raises(SchemaError, match="'d'"):
        FeatureReader.of(design_of((Indicator("ward", "d"),)))


SCHEMA = Schema.parse("""
[columns.y]
type = "binary"
[columns.age]
type = "numeric"
lower = 1
upper = 100
missing = 40
missing_indicator = true
[columns.same]
type = "numeric"
lower = -1
upper = 3
[columns.ward]
type = "factor"
levels = ["a", "b", "c"]
missing = "a"
other = "c"
""")
FORMULA = "y ~ log(age) + bs(age, knots=[30], degree=2):ward + cut(same, [0]) + I(same**2) + exp(same)"


def clinic(size: int) -> dict[str, list[Any]]:
    generator = np.random.default_rng(2)
    ages = generator.uniform(-20, 130, size)
    ages[generator.random(size) < 0.1] = math.nan
    wards = generator.choice(np.array(["a", "b", "c", "zebra", None], dtype=object), size)
    return {
        "age": ages.tolist(),
        "same": generator.uniform(-2, 4, size).tolist(),
        "ward": wards.tolist(),
        "y": generator.integers(0, 2, size).tolist(),
    }


def test_t08_a_record_is_read_the_same_in_any_table() -> None:
    design = design_from_formula(FORMULA, SCHEMA)
    table = clinic(200)
    whole = to_rows(admit(open_source(pa.table(table)), design, dtype=np.float64).block(0), 200)
    for index in range(0, 200, 2):
        pair = {name: cells[index : index + 2] for name, cells in table.items()}
        frame = open_source(pd.DataFrame(pair))
        part = to_rows(admit(frame, design, dtype=np.float64).block(0), 2)
        assert part.tobytes() == np.ascontiguousarray(whole[index : index + 2]).tobytes()


def test_t02_a_record_far_outside_is_the_clipped_record() -> None:
    design = design_from_formula(FORMULA, SCHEMA)
    near = {"age": [1.0, 100.0], "same": [-1.0, 3.0], "ward": ["a", "b"], "y": [0, 1]}
    far = {"age": [-1e6, 1e300], "same": [-1e300, 1e6], "ward": ["a", "b"], "y": [0, 1]}
    rows = [to_rows(admit(open_source(pa.table(t)), design).block(0), 2) for t in (near, far)]
    assert rows[0].tobytes() == rows[1].tobytes()


def test_columns_without_variance_are_read() -> None:
    design = design_from_formula(FORMULA, SCHEMA)
    table = {"age": [50.0] * 9, "same": [2.0] * 9, "ward": ["b"] * 9, "y": [1] * 9}
    rows = to_rows(admit(open_source(pa.table(table)), design, dtype=np.float64).block(0), 9)
    assert np.isfinite(rows).all()
    assert (rows == rows[0]).all()
    assert np.linalg.norm(rows[0, : len(design.columns)]) <= design.feature_norm
