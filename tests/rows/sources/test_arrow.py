import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tacit.errors import DataError
from tacit.rows.encoding.cells import text_number
from tacit.rows.sources.arrow import arrow_batches, arrow_chunks, require_types
from tacit.rows.sources.source import Batch

SPELLINGS = [
    *("1", "+1", "-2.5", "1.", ".5", "1e5", "1E-5", "00012", " 3 ", "\t4", "5e-324", "1e999"),
    *("1e99999999999", "9" * 400, "", "NA", "nan", "inf", "0.1", "123456789.123456789", "1e-999"),
    *("x", "1e", ".", "--1", "0x10", "１", "True", " FALSE ", "-inf", "NAN", " NA", "\n1", "1\n"),
    *("-0.0", "2.2250738585072011e-308", "9007199254740993", "1" + "0" * 400, "0." + "0" * 400 + "1"),
]
"""Cells of text, numbers and others."""


def batch_of(cells: Any) -> Batch:
    return next(arrow_batches(pa.record_batch([cells], names=["a"]), len(cells)))


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (pa.array([True, None]), [1.0, np.nan]),
        (pa.array([2**53 + 1, None]), [float(2**53), np.nan]),
        (pa.array([0.5, None], pa.float32()), [0.5, np.nan]),
        (pa.array([None, None]), [np.nan, np.nan]),
        (pa.array([7, 8, 7]).dictionary_encode(), [7.0, 8.0, 7.0]),
    ],
)
def test_numbers(cells: Any, expected: list[float]) -> None:
    np.testing.assert_array_equal(batch_of(cells).numeric(("a",))[:, 0], expected)


@pytest.mark.parametrize("cell", [dt.date(2031, 3, 7), dt.timedelta(days=7), [1.0], {"b": 1.0}, dt.time(3)])
def test_t41_types_without_numbers_are_refused_by_name(cell: Any) -> None:
    types = {"a": pa.array([cell]).type, "b": pa.float64()}
    with pytest.raises(DataError, match="'a'"):
        require_types(types, ("b", "a"), ())
    if isinstance(cell, list | dict):
        with pytest.raises(DataError, match="'a'"):
            require_types(types, (), ("a",))
    else:
        require_types(types, (), ("a",))


def text_of(content: list[bytes]) -> Any:
    """Text that need not be UTF-8."""
    starts = np.cumsum([0, *map(len, content)]).astype(np.int32)
    buffers = [None, pa.py_buffer(starts.tobytes()), pa.py_buffer(b"".join(content))]
    return pa.Array.from_buffers(pa.string(), len(content), buffers)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary()])
def test_text_is_read_as_each_cell_spells_it(kind: Any) -> None:
    texts = [*SPELLINGS, None]
    cells = pa.array([None if text is None else text.encode() for text in texts], pa.binary())
    expected = np.array([np.nan if text is None else text_number(text) for text in texts])
    typed = cells.cast(pa.string()).cast(kind)
    assert batch_of(typed).numeric(("a",))[:, 0].tobytes() == expected.tobytes()
    together = batch_of(typed.cast(pa.string()).dictionary_encode()).numeric(("a",))[:, 0]
    assert together.tobytes() == expected.tobytes()


def test_text_that_is_no_utf8_concerns_its_own_cell() -> None:
    column = batch_of(text_of([b"1.5", b"\xff", b"a"]))
    assert column.numeric(("a",))[:, 0].tolist() == [1.5, np.inf, np.inf]
    assert column.labels("a").tolist() == ["1.5", b"\xff", "a"]


def test_dates_beyond_those_of_python_are_labels() -> None:
    far = pa.array([0, 2**62, None], pa.int64()).cast(pa.timestamp("s"))
    first, second, third = batch_of(far).labels("a").tolist()
    assert first == "1970-01-01T00:00:00"
    assert isinstance(second, str)
    assert third is None


def test_decimals_are_numbers() -> None:
    cells = pa.array([Decimal("0.5"), None])
    np.testing.assert_array_equal(batch_of(cells).numeric(("a",))[:, 0], [0.5, np.nan])


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (pa.array([1, 2]), [1, 2]),
        (pa.array([1, None]), [1, None]),
        (pa.array([True, False]), [True, False]),
        (pa.array(["u", None]).dictionary_encode(), ["u", None]),
    ],
)
def test_labels(cells: Any, expected: list[Any]) -> None:
    assert batch_of(cells).labels("a").tolist() == expected


def test_chunks_end_with_none_where_reading_failed() -> None:
    record = pa.record_batch({"a": [1, 2, 3]})

    def read() -> Iterator[pa.RecordBatch]:
        yield record
        raise pa.ArrowInvalid("canary")

    assert list(arrow_chunks(read)) == [record, None]
    assert [batch.length for batch in arrow_batches(record, 2)] == [2, 1]
