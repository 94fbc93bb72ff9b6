import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tacit.errors import DataError
from tacit.rows.encoding.cells import normal_form
from tacit.rows.sources.opening import open_source
from tacit.rows.sources.source import Batch
from tacit.schema.schema import Schema

COLUMNS: dict[str, list[Any]] = {
    "f": [1.5, None, -2.0],
    "i": [2**53 + 1, None, 3],
    "b": [True, None, False],
    "t": ["u", None, "v"],
}


def tables() -> dict[str, Any]:
    return {
        "pandas": pd.DataFrame(COLUMNS),
        "pandas-object": pd.DataFrame(COLUMNS, dtype=object),
        "pandas-nullable": pd.DataFrame(COLUMNS).convert_dtypes(),
        "pandas-arrow": pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
        "polars": pl.DataFrame(COLUMNS),
        "arrow": pa.table(COLUMNS),
        "record-batch": pa.record_batch(COLUMNS),
    }


def batch_of(table: Any, numeric: tuple[str, ...], labels: tuple[str, ...]) -> Batch:
    return next(open_source(table).batches(10, numeric=numeric, labels=labels))


@pytest.mark.parametrize("kind", list(tables()))
def test_every_library_gives_the_same_numbers_and_labels(kind: str) -> None:
    batch = batch_of(tables()[kind], ("f", "i", "b"), ("t", "b"))
    expected = [[1.5, float(2**53 + 1), 1.0], [np.nan] * 3, [-2.0, 3.0, 0.0]]
    np.testing.assert_array_equal(batch.numeric(("f", "i", "b")), expected)
    assert [x if isinstance(x, str) else None for x in batch.labels("t")] == ["u", None, "v"]
    assert batch.labels("b")[0] == True  # noqa: E712 - the label may be a numpy boolean


BUILD: dict[str, Any] = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}


@pytest.mark.parametrize("kind", BUILD)
@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1.5", "b", None], [1.5, np.inf, np.nan]),
        ([Decimal("1.5"), Decimal(-2), None], [1.5, -2.0, np.nan]),
        ([b"1.5", b"b", None], [1.5, np.inf, np.nan]),
        ([None, None, None], [np.nan] * 3),
    ],
)
def test_text_and_decimals_are_read_cell_by_cell(kind: str, cells: list[Any], expected: list[float]) -> None:
    batch = batch_of(BUILD[kind]({"age": cells}), ("age",), ())
    np.testing.assert_array_equal(batch.numeric(("age",))[:, 0], expected)


@pytest.mark.parametrize(
    "series",
    [
        pd.Series([1.5, "b", None], dtype=object),
        pd.Series(["1.5", "b", None], dtype="category"),
        pd.Series([1.5, "b", None], dtype="category"),
        pd.Series(["1.5", "b", None], dtype="string"),
        pd.Series(["1.5", "b", None], dtype="string[pyarrow]"),
        pd.Series([1.5, 1j, None]),
        pd.Series([1.5, np.inf, np.nan], dtype="Sparse[float64]"),
        pl.Series([1.5, "b", None], dtype=pl.Object),
        pl.Series(["1.5", "b", None], dtype=pl.Categorical),
        pl.Series(["1.5", "b", None], dtype=pl.Enum(["b", "1.5"])),
    ],
)
def test_types_that_one_record_can_bring_about_are_read_cell_by_cell(series: Any) -> None:
    frame = (pd if isinstance(series, pd.Series) else pl).DataFrame({"a": series})
    column = batch_of(frame, ("a",), ("a",))
    np.testing.assert_array_equal(column.numeric(("a",))[:, 0], [1.5, np.inf, np.nan])
    assert normal_form(column.labels("a")[0]) == Decimal("1.5")
    assert normal_form(column.labels("a")[2]) is None


DATES = [dt.datetime(2031, 3, 7, tzinfo=dt.UTC), None]


@pytest.mark.parametrize("kind", BUILD)
@pytest.mark.parametrize("length", [0, 2])
def test_t41_dates_are_refused_by_their_type_where_numbers_are_asked(kind: str, length: int) -> None:
    """With and without records."""
    frame = BUILD[kind]({"age": DATES})[:length] if kind != "arrow" else pa.table({"age": DATES})
    frame = frame.slice(0, length) if kind == "arrow" else frame
    with pytest.raises(DataError, match="'age'") as caught:
        list(open_source(frame, fewest=0).batches(10, numeric=("age",), labels=()))
    assert "2031" not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("kind", ["polars", "arrow"])
def test_nested_labels_are_refused_by_their_type(kind: str) -> None:
    source = open_source(BUILD[kind]({"a": [[1], [2]]}))
    with pytest.raises(DataError, match="nested"):
        list(source.batches(10, numeric=(), labels=("a",)))


def test_dates_beyond_those_of_python_are_labels() -> None:
    """Regression: polars panics where it makes Python's dates of them."""
    for kind, physical in ((pl.Date, pl.Int32), (pl.Datetime("ms"), pl.Int64)):
        far = pl.Series([0, 2**31 - 1 if physical == pl.Int32 else 2**62, None], dtype=physical)
        labels = batch_of(pl.DataFrame({"a": far.cast(kind)}), (), ("a",)).labels("a")
        assert [isinstance(label, str) for label in labels] == [True, True, False]


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
@pytest.mark.parametrize("zone", ["Asia/Tokyo", "US/Eastern"])
@pytest.mark.parametrize("category", [False, True])
def test_a_time_that_its_zone_moves_beyond_the_last_one_is_no_label(unit: Any, zone: str, category: bool) -> None:
    """Regression: pandas raises for such a cell, and quotes it; a fit in a ledger failed because of one record."""
    usual = pd.Series(pd.date_range("2020-01-01 23:30", periods=4, tz=zone)).dt.as_unit(unit)
    limits = np.iinfo(np.int64)
    last = np.array([limits.max, limits.min + 1], dtype=np.int64).view(f"M8[{unit}]")
    ends = pd.Series(pd.DatetimeIndex(last).tz_localize("UTC").tz_convert(zone))
    column = pd.concat([usual, ends, pd.Series([pd.NaT], dtype=usual.dtype)], ignore_index=True)
    column = column.astype("category") if category else column
    labels = batch_of(pd.DataFrame({"a": column}), (), ("a",)).labels("a")
    assert [str(label) for label in labels[:4]] == [str(time) for time in usual]
    assert any(normal_form(label) is None for label in labels[4:6])
    assert normal_form(labels[6]) is None


@pytest.mark.parametrize("zone", ["US/Eastern", "+05:30", "Nowhere/City"])
def test_a_time_with_a_zone_has_the_day_of_its_zone_in_every_library(zone: str) -> None:
    """Also as an object: one cell that is no time makes such of a column of pandas'."""
    schema = Schema.parse('[columns.a]\ntype = "date"\nlower = 1950-01-01\nupper = 2050-01-01\n')
    numbers = np.array([0, -3_600, 86_399, 1_600_000_000], dtype=np.int64)
    column = pa.array(numbers).view(pa.timestamp("s", zone))
    tables: list[Any] = [pa.table({"a": column})]
    if zone != "Nowhere/City":
        frame = tables[0].to_pandas()
        tables += [frame, frame.astype(object), pd.DataFrame({"a": frame["a"].astype("category")})]
    if "/" in zone and zone != "Nowhere/City":
        tables.append(pl.DataFrame({"a": pl.Series(numbers * 1000).cast(pl.Datetime("ms", zone))}))
    moved = {"US/Eastern": [-1, -1, 0, 18518], "+05:30": [0, 0, 1, 18518], "Nowhere/City": [0, -1, 0, 18518]}
    for table in tables:
        source = open_source(table, fewest=0, reading=schema.reading(["a"]))
        batch = next(iter(source.batches(10, numeric=("a",), labels=())))
        assert batch.numeric(("a",))[:, 0].tolist() == moved[zone]


def test_categories_and_dates_are_labels() -> None:
    frame = pd.DataFrame({"c": pd.Categorical(["a", "b"]), "d": pd.to_datetime(["2020-01-02", "2020-01-03"])})
    batch = batch_of(frame, (), ("c", "d"))
    assert batch.labels("c").tolist() == ["a", "b"]
    assert str(batch.labels("d")[0]).startswith("2020-01-02")
    series = pl.Series("c", ["a", None], dtype=pl.Enum(["a", "b"]))
    assert batch_of(pl.DataFrame([series]), (), ("c",)).labels("c").tolist() == ["a", None]


def test_numbered_pandas_columns_are_read_by_position() -> None:
    source = open_source(pd.DataFrame({1: [1.0, 2.0], 0: [3.0, 4.0]}))
    assert source.names == ("1", "0")
    batch = next(source.batches(2, numeric=("0",), labels=()))
    assert batch.numeric(("0",)).tolist() == [[3.0], [4.0]]


def test_repeated_names_are_refused() -> None:
    with pytest.raises(DataError, match="must differ"):
        open_source(pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]))


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_signalling_nan_is_not_warned_of(library: Any) -> None:
    cells = np.ones(2, dtype=np.float32)
    cells.view(np.uint32)[1] = 0x7FA00000
    batch = next(open_source(library({"a": cells})).batches(2, numeric=("a",), labels=()))
    np.testing.assert_array_equal(batch.numeric(("a",)), [[1.0], [np.nan]])


def test_dictionaries_that_pandas_keeps_in_arrow_are_labels() -> None:
    column = pa.array(["a", None, "b"]).dictionary_encode()
    table = pd.DataFrame({"a": pd.Series(column, dtype=pd.ArrowDtype(column.type))})
    batch = next(open_source(table).batches(3, numeric=(), labels=("a",)))
    assert batch.labels("a").tolist() == ["a", None, "b"]
