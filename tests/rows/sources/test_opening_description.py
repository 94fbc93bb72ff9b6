import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from tacit.errors import DataError, FileError
from tacit.rows.sources.opening import describe

COLUMNS: dict[str, Any] = {
    "i": [1, 2],
    "b": [True, False],
    "t": ["u", "v"],
    "d": [dt.date(2020, 1, 1)] * 2,
    "m": [Decimal(1)] * 2,
}
KINDS = ("numeric", "boolean", "text", "date", "other")


def test_tables_and_parquet_agree(tmp_path: Path) -> None:
    table = pa.table(COLUMNS)
    parquet.write_table(table, tmp_path / "a.parquet")
    for data in (table, pl.DataFrame(COLUMNS), tmp_path / "a.parquet", str(tmp_path / "a.parquet")):
        found = describe(data)
        assert found.names == tuple(COLUMNS)
        assert found.kinds == KINDS


def test_csv_tells_names_only(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,x\n")
    assert describe(path).kinds == ("unknown", "unknown")


@pytest.mark.parametrize("cells", [["x", "y"], [1, 2], [None, None]])
def test_t37_python_objects_are_not_looked_into(cells: list[Any]) -> None:
    assert describe(pd.DataFrame({"a": pd.Series(cells, dtype=object)})).kinds == ("unknown",)


def test_pandas_types() -> None:
    frame = pd.DataFrame({"f": [1.5], "t": pd.Series(["a"], dtype="str"), "c": pd.Categorical(["a"])})
    assert describe(frame).kinds == ("numeric", "text", "text")


def test_what_cannot_be_described(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        describe(np.zeros(3))
    with pytest.raises(FileError, match="does not exist"):
        describe(tmp_path / "a.csv")
    (tmp_path / "b.parquet").write_bytes(b"canary")
    with pytest.raises(FileError, match=r"b\.parquet") as caught:
        describe(tmp_path / "b.parquet")
    assert caught.value.__context__ is None
