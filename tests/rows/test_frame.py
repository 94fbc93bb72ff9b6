from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tacit.errors import DataError
from tacit.rows.opening import open_source
from tacit.rows.source import Batch

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


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("cells", [["31337", "b"], [Decimal("31337.5")] * 2])
def test_t41_text_in_a_numeric_column_names_the_column(kind: str, cells: list[Any]) -> None:
    build = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}[kind]
    with pytest.raises(DataError, match="'age'") as caught:
        batch_of(build({"age": cells}), ("age",), ())
    assert "31337" not in str(caught.value)
    assert caught.value.__context__ is None


def test_categories_and_dates_are_labels() -> None:
    frame = pd.DataFrame(
        {"c": pd.Categorical(["a", "b"]), "d": pd.to_datetime(["2020-01-02", "2020-01-03"])}
    )
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
