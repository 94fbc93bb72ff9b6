"""Attacks on the privacy claim, kept as tests: no cell is noticed outside of its own record."""

from __future__ import annotations

import datetime as dt
import decimal
import fractions
import math
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from tacit.design.attached_columns import AttachedColumns, Offset, Unit, Weighting
from tacit.design.design import Design, matrix_design
from tacit.design.response import Binary, Continuous, Count, Response
from tacit.errors import DataError, SettingError
from tacit.formula.formula import design_from_formula
from tacit.rows.admission.admit_rows import admit
from tacit.rows.admission.contribution_bounding import label_forms
from tacit.rows.encoding.cells import normal_form
from tacit.rows.sources.opening import open_source
from tacit.rows.storage import store as store_module
from tacit.rows.storage.store import Store
from tacit.rows.storage.tiles import to_rows
from tacit.schema.schema import Schema
from tests.rows.neighbours import rows_of
from tests.rows.person_stores import person_store

ROWS, PLACE = 130, 70
SCHEMA = Schema.parse("""
[columns.age]
type = "numeric"
lower = 1
upper = 100
missing = 40
[columns.x]
type = "numeric"
lower = -5
upper = 5
[columns.ward]
type = "factor"
levels = ["a", "b", "1"]
missing = "a"
other = "b"
[columns.sex]
type = "factor"
levels = ["m", "f"]
[columns.y]
type = "binary"
""")
PLAIN = design_from_formula("y ~ age + x + ward + sex", SCHEMA)
EXPOSED = AttachedColumns(Weighting("w", 2.0, (1.0, 0.5)), Offset("t", -1.0, 1.0, exposure=True))
DESIGNS: dict[str, Design] = {
    "plain": PLAIN,
    "weights and exposure": replace(PLAIN, attached=EXPOSED),
    "persons, ordered": replace(
        PLAIN, attached=AttachedColumns(Weighting("w", 2.0), Offset("t", -1.0, 1.0), Unit("id", 2, "day"))
    ),
    "persons": replace(PLAIN, attached=AttachedColumns(unit=Unit("id", 2))),
    "transforms": design_from_formula("y ~ log(age) + sqrt(age) + x:ward + I(x**3) + exp(x) + log1p(age)", SCHEMA),
}
NUMBERS: list[Any] = [
    None,
    pd.NA,
    pd.NaT,
    True,
    math.nan,
    math.inf,
    -math.inf,
    1e308,
    -1e308,
    5e-324,
    -0.0,
    0,
    10**400,
    -(10**400),
    2**64,
    fractions.Fraction(1, 3),
    np.float16(1),
    np.longdouble("1e4000"),
    np.bool_(True),
]
OTHERS: list[Any] = [
    "",
    "nan",
    " 1 ",
    "TRUE",
    "1e999999",
    "\u0663",
    "a\x00b",
    "\ud800",
    b"\xff",
    b"1",
    decimal.Decimal(1),
    decimal.Decimal("sNaN"),
    1 + 0j,
    np.datetime64("NaT"),
    np.timedelta64(3, "s"),
    dt.datetime(2020, 1, 1, tzinfo=dt.UTC),
    [1],
    {},
    np.array([1, 2]),
    object(),
    "x" * 10_000,
]


def cells() -> dict[str, NDArray[Any]]:
    rng = np.random.default_rng(1)
    return {
        "age": rng.uniform(1, 100, ROWS),
        "x": rng.normal(size=ROWS) * 4,
        "ward": rng.choice(["a", "b", "1"], ROWS).astype(object),
        "sex": rng.choice(["m", "f"], ROWS).astype(object),
        "y": rng.integers(0, 2, ROWS),
        "w": rng.uniform(0, 3, ROWS),
        "t": rng.uniform(0.1, 5, ROWS),
        "id": np.arange(ROWS) // 3,
        "day": rng.normal(size=ROWS),
    }


def with_cell(column: str, cell: Any) -> pd.DataFrame:
    """The table with one cell in a column of objects, which are taken as they come."""
    table = cells()
    objects = np.empty(ROWS, dtype=object)
    for index, own in enumerate(table[column].tolist()):
        objects[index] = own
    objects[PLACE] = cell
    table[column] = objects
    # The type is given: pandas would look at the cells to find one.
    return pd.DataFrame({name: pd.Series(column, dtype=column.dtype) for name, column in table.items()})


def quietly(work: Callable[[], Store]) -> Store:
    """A warning would be noticed; here it is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return work()


@pytest.mark.parametrize(
    ("name", "column"),
    [
        *(("plain", column) for column in ("age", "x", "ward", "sex", "y")),
        *(("weights and exposure", column) for column in ("y", "w", "t")),
        *(("persons, ordered", column) for column in ("id", "day", "w", "t")),
        *(("persons", column) for column in ("id", "x", "ward")),
        *(("transforms", column) for column in ("age", "x")),
    ],
)
def test_a_cell_changes_its_own_record_and_raises_nothing(
    name: str, column: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it is, in a column of labels or of numbers."""
    monkeypatch.setattr(store_module, "BLOCK_BYTES", 1 << 13)
    design = DESIGNS[name]
    # A person's label may move a record from one person to another.
    moved = 2 if design.attached.unit is not None and column == "id" else 1
    table = cells()

    def admitted(cell: Any) -> Counter[bytes]:
        source = open_source(with_cell(column, cell))
        return rows_of(quietly(lambda: admit(source, design, invalid_rows="zero")))

    reference = admitted(table[column].tolist()[PLACE])
    for cell in [*NUMBERS, *OTHERS]:
        changed = admitted(cell)
        assert (reference - changed).total() <= moved, type(cell)
        assert (changed - reference).total() <= moved, type(cell)
        if design.attached.unit is None:
            assert changed.total() == ROWS


def test_spans_of_time_are_no_numbers_and_are_not_quoted() -> None:
    """Regression: numpy counts them among the integers, and their float raised its own error."""
    with pytest.raises(DataError, match="'x'") as caught:
        admit(open_source(with_cell("x", np.timedelta64(31337, "s"))), PLAIN)
    assert "31337" not in str(caught.value)


TEXT: dict[str, Callable[[list[Any]], Any]] = {
    "lists": lambda cells: [[cell, 0.5] for cell in cells],
    "objects": lambda cells: pd.DataFrame({"x0": pd.Series(cells, dtype=object), "x1": 0.5}).astype(object).to_numpy(),
    "frame": lambda cells: pd.DataFrame({"x0": pd.Series(cells, dtype=object), "x1": 0.5}),
}


@pytest.mark.parametrize("kind", TEXT)
@pytest.mark.parametrize("cell", ["canary", "3x", dt.date(2020, 1, 1), 1j, b"2x", [1.0]])
def test_t40_a_cell_that_is_no_number_makes_its_record_invalid(kind: str, cell: Any) -> None:
    design = matrix_design(("x0", "x1"), Binary("y", (0, 1)), bounds=(-1, 1), row_norm=None, intercept=True)
    numbers = [0.25, -0.5, True, None]

    def source(cells: list[Any]) -> Any:
        return open_source(TEXT[kind](cells), [0, 1, 0, 1, 1])

    with pytest.raises(DataError, match="'x0'") as caught:
        admit(source([*numbers, cell]), design)
    assert "canary" not in str(caught.value)
    stored = to_rows(admit(source([*numbers, cell]), design, invalid_rows="zero").block(0), 5)
    missing = to_rows(admit(source([*numbers, None]), design, invalid_rows="zero").block(0), 5)
    assert np.array_equal(stored, missing)
    assert not stored[4].any()
    assert stored[0].any()


BIG = np.longdouble("1e4000")


def test_numbers_beyond_float64_raise_no_warning() -> None:
    """Regression: masked arrays and labels of persons were cast with numpy's warning."""
    wide = np.array([[0.0], [BIG], [1.0], [0.5]])
    column = np.array([0, BIG, 1, 0])
    kinds: list[tuple[Any, Any, Response, Any, AttachedColumns]] = [
        (wide, column, Binary("y", (0, 1)), None, AttachedColumns()),
        (np.ma.array(wide), np.ma.array(column), Binary("y", (0, 1)), None, AttachedColumns()),
        (wide, column, Count("y", 5.0), {"w": column}, AttachedColumns(Weighting("w", 1.0))),
        (wide, column, Continuous.of("y", 0, 1), {"u": column}, AttachedColumns(unit=Unit("u", 2))),
        (wide, column, Continuous.opened("y"), {"t": column}, AttachedColumns(offset=Offset("t", -1, 1))),
    ]
    for table, response, declared, attached, declarations in kinds:

        def work(
            table: Any = table,
            response: Any = response,
            declared: Response = declared,
            attached: Any = attached,
            declarations: AttachedColumns = declarations,
        ) -> Store:
            source = open_source(table, response, attached=attached)
            plain = matrix_design(source.names, declared, bounds=(-1, 1), row_norm=None, intercept=True)
            return admit(source, replace(plain, attached=declarations), invalid_rows="zero")

        assert quietly(work).length >= 2
    frame = pd.DataFrame({"ward": column, "age": 1.0, "x": 0.0, "sex": "m", "y": 1})
    assert quietly(lambda: admit(open_source(frame), PLAIN, invalid_rows="zero")).length == 4


DAYS = [dt.datetime(2020, 1, 1), dt.datetime(2021, 1, 1, 5), dt.datetime(2022, 1, 1)]  # noqa: DTZ001


def in_pandas(kind: Any, column: list[Any]) -> Any:
    return pd.DataFrame({"a": pd.Series(column, dtype=kind), "b": 0})


def in_polars(kind: Any, column: list[Any]) -> Any:
    return pl.DataFrame({"a": pl.Series(column, dtype=kind), "b": [0] * len(column)})


def in_arrow(kind: Any, column: list[Any]) -> Any:
    return pa.table({"a": pa.array(column, type=kind), "b": [0] * len(column)})


def dates_in_pandas(_kind: Any, column: list[Any]) -> Any:
    return in_pandas("datetime64[ns]", [None if cell is None else DAYS[cell % 3] for cell in column])


def text_in_polars(kind: Any, column: list[Any]) -> Any:
    return in_polars(kind, [None if cell is None else str(cell) for cell in column])


TYPED: list[tuple[Callable[[Any, list[Any]], Any], Any]] = [
    *((in_pandas, kind) for kind in ("Int64", "UInt64", "category", "int64[pyarrow]")),
    (dates_in_pandas, None),
    *((in_polars, kind) for kind in (pl.Int64, pl.UInt64, pl.Int128, pl.Float64)),
    *((text_in_polars, kind) for kind in (pl.String, pl.Categorical)),
    *((in_arrow, kind) for kind in (pa.int64(), pa.uint64())),
    (in_arrow, pa.dictionary(pa.int32(), pa.int64())),
]


@pytest.mark.parametrize(("table", "kind"), TYPED)
def test_a_missing_cell_does_not_change_how_others_are_read(table: Callable[[Any, list[Any]], Any], kind: Any) -> None:
    """Regression: integers of 128 bits were read beside a missing one, and raised without."""
    exact = 2**52 + 1 if kind == pl.Float64 else 2**53 + 1

    def forms(column: list[Any]) -> tuple[list[Any], list[Any]]:
        batch = next(open_source(table(kind, column)).batches(9, numeric=(), labels=("a",)))
        labels = batch.labels("a")
        return [normal_form(label) for label in labels.tolist()], label_forms(labels)

    whole, holed = forms([exact, 5, 7]), forms([exact, 5, None])
    for before, after in zip(whole, holed, strict=True):
        assert before[:2] == after[:2]
        assert after[2] is None
    if table is not dates_in_pandas:
        assert whole[1] == [exact, 5, 7]


def broken_row(rng: np.random.Generator, columns: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """A sparse record that repeats, misorders or misplaces its entries."""
    count = int(rng.integers(0, 9))
    indices = rng.integers(0, columns, count)
    values = rng.choice([0.0, -0.0, 1.0, -0.3, 1e308, 5e-324, math.nan, math.inf, 2.5], count)
    if count and rng.random() < 0.3:
        indices[rng.integers(count)] = rng.choice([-1, columns, 2**31 + 3, -(2**40)])
    if rng.random() < 0.3:
        indices = np.unique(indices)
    return indices, values[: len(indices)]


def test_a_broken_sparse_record_does_not_change_others() -> None:
    rng = np.random.default_rng(3)
    columns = 6
    good = np.array([0, 2]), np.array([1.0, 0.5])
    response = Binary("y", (0, 1))

    def admitted(rows: list[tuple[NDArray[Any], NDArray[Any]]]) -> NDArray[Any]:
        matrix = sp.csr_array((len(rows), columns))
        matrix.indptr = np.cumsum([0, *(len(indices) for indices, _ in rows)])
        matrix.indices = np.concatenate([indices for indices, _ in rows])
        matrix.data = np.concatenate([values for _, values in rows])
        source = open_source(matrix, [0] * len(rows))
        design = matrix_design(source.names, response, bounds=(-2, 2), row_norm=3.0, intercept=True, shifted=False)
        store = quietly(lambda: admit(source, design, invalid_rows="zero"))
        block: Any = store.block(0)
        return to_rows(block.dense(store.width), len(rows))

    for _ in range(40):
        rows = [broken_row(rng, columns) for _ in range(int(rng.integers(3, 70)))]
        together = admitted(rows)
        for index in rng.choice(len(rows), 3).tolist():
            assert np.array_equal(admitted([rows[index], good])[0], together[index])


def test_a_store_holds_no_person_with_more_records_than_it_says() -> None:
    """The bound on second moments is worked out for so many records of one person."""
    with pytest.raises(SettingError):
        person_store([np.ones((3, 3)), np.ones((1, 3))], unit_rows=2)
