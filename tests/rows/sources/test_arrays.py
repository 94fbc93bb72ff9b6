from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tacit.errors import DataError
from tacit.rows.encoding.cells import to_float64
from tacit.rows.sources.arrays import as_array, as_column, as_matrix, typed_by
from tacit.rows.sources.opening import open_source


@pytest.mark.parametrize(
    "values",
    [
        [1.0, 2.5],
        (1.0, 2.5),
        np.array([1.0, 2.5]),
        np.array([1.0, 2.5], dtype=object),
        pd.Series([1.0, 2.5]),
        pl.Series([1.0, 2.5]),
        pa.array([1.0, 2.5]),
        pa.chunked_array([[1.0], [2.5]]),
    ],
)
def test_column_of_every_type(values: Any) -> None:
    assert [float(cell) for cell in as_column(values, "It", 2)] == [1.0, 2.5]


def test_no_cell_changes_how_another_is_read() -> None:
    assert [type(cell) for cell in as_column([1, "a", 2.0], "It", 3)] == [int, str, float]


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([31337, 31337, 31337], "'w' and the table must have equally many records"),
        (np.full((2, 1), 31337), "'w' must have one dimension"),
        (31337.0, "'w' must have one dimension"),
        (np.zeros(2, dtype="f8,f8"), "numbers, booleans or text"),
    ],
)
def test_t41_what_is_no_column_is_refused_without_a_value(values: Any, text: str) -> None:
    with pytest.raises(DataError, match=text) as caught:
        as_column(values, "'w'", 2)
    assert "3" not in str(caught.value)
    assert caught.value.__context__ is None


def test_masked_cells_are_missing() -> None:
    numbers = np.ma.MaskedArray([1, 2], mask=[False, True])
    np.testing.assert_array_equal(as_array(numbers), [1.0, np.nan])
    texts = np.ma.MaskedArray(["a", "b"], mask=[False, True])
    assert as_column(texts, "It", 2).tolist() == ["a", None]


def test_masked_dates_stay_dates() -> None:
    days = np.ma.MaskedArray(np.array(["2031-03-07"] * 2, dtype="M8[D]"), mask=[False, True])
    assert as_column(days, "It", 2).tolist() == ["2031-03-07", None]
    assert as_array(days).dtype.kind == "M"


def test_what_makes_no_array_is_refused_without_a_value() -> None:
    class NoTable:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            raise ValueError("canary")

    with pytest.raises(DataError, match="no table") as caught:
        as_array(NoTable())
    assert caught.value.__context__ is None


PLAIN = [[1.0, 2], [True, -0.0], [2**53 + 1, 2**64 - 1], [np.float32(0.1), 5e-324]]


def numbers(matrix: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return to_float64(matrix, "x0")


@pytest.mark.parametrize(
    "record",
    [
        ["a", 1.0],
        [1j, 1.0],
        [np.timedelta64(3, "s"), 1],
        [np.longdouble("1e4000"), 1],
        [10**400, 1],
        [[1.0], 1.0],
        [np.array([1.0, 2.0]), 1.0],
        [np.ma.masked, 1.0],
        [None, 1.0],
        [1.0],
        [1.0, 2.0, 3.0],
        [],
        None,
        1.0,
        "ab",
        b"ab",
        {"a": 1},
        np.array([1.0, 2.0, 3.0]),
        np.array(1.0),
        [[1.0], [2.0]],
        [Fraction(10**5000, 3), 1.0],
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("place", [0, 4])
def test_no_record_of_a_list_changes_how_others_are_read(record: Any, place: int) -> None:
    """Whatever it is: another type, another length, or no record at all."""
    reference = numbers(as_matrix(PLAIN))
    rows = [*PLAIN[:place], record, *PLAIN[place:]]
    changed = np.delete(numbers(as_matrix(rows)), place, axis=0)
    assert changed.tobytes() == reference.tobytes()


@pytest.mark.parametrize("record", [np.ma.array([1.0, 2.0], mask=[False, True]), pd.Series([1.0, np.nan])])
def test_records_of_other_libraries_are_read(record: Any) -> None:
    np.testing.assert_array_equal(numbers(as_matrix([record, [3.0, 4.0]]))[0], [1.0, np.nan])


def test_a_list_of_numbers_has_one_dimension_and_of_tables_three() -> None:
    assert as_matrix([1.0, 2.0, "a"]).ndim == 1
    assert as_matrix([]).ndim == 1
    assert as_matrix([[[1.0], [2.0]]] * 3).ndim == 3
    assert as_matrix([[[1.0], [2.0]], [[1.0], ["a"]], [["a"], ["a"]]]).ndim == 3


def test_whose_types_are_taken() -> None:
    assert typed_by([1]) is None
    assert typed_by(np.zeros(1)) == "numpy"
    assert typed_by(pd.Series([1])) == "pandas"
    assert typed_by(pl.Series([1])) == "polars"


def broken_text() -> pa.Array:
    """Three labels, of which the second is no UTF-8."""
    ends, text = np.arange(4, dtype=np.int32), b"0\xff1"
    return pa.StringArray.from_buffers(3, pa.py_buffer(ends.tobytes()), pa.py_buffer(text))


def of_bits(cells: list[int], width: int, kind: pa.DataType) -> pa.Array:
    return pa.array(cells, pa.int32() if width == 32 else pa.int64()).view(kind)


ODD = {
    "text": broken_text(),
    "text of views": pa.array(["0", None, "1"], pa.string_view()),
    "time": of_bits([0, 2**31 - 1, 1], 32, pa.time32("s")),
    "time before midnight": of_bits([0, -5, 1], 64, pa.time64("ns")),
    "date": of_bits([0, 2**31 - 1, 1], 32, pa.date32()),
    "date in milliseconds": of_bits([0, 2**63 - 1, 1], 64, pa.date64()),
    "timestamp": of_bits([0, 2**63 - 1, 1], 64, pa.timestamp("us", "UTC")),
    "duration": of_bits([0, 2**63 - 1, 1], 64, pa.duration("s")),
}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("store", ["array", "chunks", "series", "extension", "index", "polars"])
def test_no_cell_that_arrow_stores_raises(kind: str, store: str) -> None:
    """numpy, pandas and polars raise for such cells when they make Python's objects of them."""
    column = ODD[kind]
    if store == "polars" and kind not in {"text", "text of views"}:
        return
    typed = pd.ArrowDtype(column.type)
    stores: dict[str, Callable[[], Any]] = {
        "array": lambda: column,
        "chunks": lambda: pa.chunked_array([column]),
        "series": lambda: pd.Series(column, dtype=typed),
        "extension": lambda: pd.array(column, dtype=typed),
        "index": lambda: pd.Index(pd.Series(column, dtype=typed)),
        "polars": lambda: pl.Series(column),
    }
    values = stores[store]()
    alone = as_column(pa.array([column[0].as_py()], column.type), "y", 1)
    assert as_column(values, "y", 3)[0] == alone[0]


def test_a_signalling_nan_is_not_warned_of() -> None:
    cells = np.array([1.0, 2.0], dtype=np.float32)
    cells.view(np.uint32)[1] = 0x7FA00000
    mixed = [cells, np.zeros(2)]
    assert np.isnan(as_matrix(mixed)[0, 1])
    assert np.isnan(as_matrix(np.ma.masked_array(cells.reshape(2, 1)))[1, 0])


def test_several_responses_are_refused_with_advice_that_helps() -> None:
    """U5: .ravel() would make one response of two."""
    X = np.zeros((4, 2))
    with pytest.raises(DataError, match=r"Give one column of it") as told:
        open_source(X, np.zeros((4, 2)))
    assert "ravel" not in str(told.value)
    with pytest.raises(DataError, match=r"Use \.ravel\(\)"):
        open_source(X, np.zeros((4, 1)))
