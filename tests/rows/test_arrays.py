from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tacit.errors import DataError
from tacit.rows.arrays import as_array, as_column


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
        ([[31337], [31337]], "'w' must have one dimension"),
        (31337.0, "'w' must have one dimension"),
        (np.array([31337 + 1j, 1]), "numbers, booleans or text"),
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


def test_records_of_unequal_length_are_no_array() -> None:
    with pytest.raises(DataError, match="equally long") as caught:
        as_array([[1.0], [1.0, 2.0]])
    assert caught.value.__context__ is None
