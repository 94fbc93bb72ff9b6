"""Codes that mean "missing", and numbers of columns that have such."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from tacit.design.reading import FileFormat, Reading
from tacit.rows.sources.opening import open_source

READING = Reading(FileFormat(), ("-99",), {"age": ("888", "-99.0"), "bmi": (".", "unknown"), "ward": ("?", "9")})
TABLE = {"age": [40, -99, 888, 7], "bmi": ["21.5", "unknown", ".", "x"], "ward": ["a", "?", "9.0", "-99"]}


def csv(path: Path) -> Any:
    lines = [",".join(TABLE), *(",".join(map(str, row)) for row in zip(*TABLE.values(), strict=True)), ""]
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize("kind", ["csv", "pandas", "arrow"])
def test_codes_are_missing_and_nothing_else_is(kind: str, tmp_path: Path) -> None:
    tables: dict[str, Callable[[], Any]] = {
        "csv": lambda: csv(tmp_path / "a.csv"),
        "pandas": lambda: pd.DataFrame(TABLE),
        "arrow": lambda: pa.table(TABLE),
    }
    source = open_source(tables[kind](), reading=READING)
    (batch,) = source.batches(10, numeric=("age", "bmi"), labels=("ward",))
    numbers = batch.numeric(("bmi", "age"))
    np.testing.assert_array_equal(numbers[:, 1], [40, np.nan, np.nan, 7])
    np.testing.assert_array_equal(numbers[:, 0], [21.5, np.nan, np.nan, np.inf])
    assert [*batch.labels("ward")] == ["a", None, None, None]


def test_numbers_with_a_decimal_comma_beside_words(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a;b\n1,5;n.a.\n1.5;2,5\n,5;1,0e1\n")
    reading = Reading(FileFormat(";", ","), (), {"b": ("n.a.",)})
    (batch,) = open_source(path, reading=reading).batches(10, numeric=("a", "b"), labels=())
    np.testing.assert_array_equal(batch.numeric(("a", "b")), [[1.5, np.nan], [np.inf, 2.5], [0.5, 10.0]])


def test_a_thousand_codes(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a\n" + "\n".join(map(str, range(-1500, 10))) + "\n")
    reading = Reading(missing_codes=tuple(str(code) for code in range(-1500, 0)))
    (batch,) = open_source(path, reading=reading).batches(9999, numeric=("a",), labels=())
    found = batch.numeric(("a",))[:, 0]
    assert np.isnan(found[:1500]).all()
    np.testing.assert_array_equal(found[1500:], np.arange(10))


def test_plain_tables_are_not_wrapped() -> None:
    assert type(open_source(pd.DataFrame(TABLE), reading=Reading())).__name__ == "FrameSource"
