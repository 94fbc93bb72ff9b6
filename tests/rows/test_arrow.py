import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tacit.errors import DataError
from tacit.rows.arrow import ArrowBatch, arrow_batches, arrow_chunks


def batch_of(cells: Any) -> ArrowBatch:
    return ArrowBatch({"a": cells}, len(cells))


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


@pytest.mark.parametrize("cell", ["31337", Decimal("31337.5"), dt.date(2031, 3, 7)])
def test_t41_other_types_name_the_column(cell: Any) -> None:
    with pytest.raises(DataError, match="'a'") as caught:
        batch_of(pa.array([cell])).numeric(("a",))
    assert str(cell) not in str(caught.value)


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
