"""The same data twice without a ledger is worth a warning; nothing is kept of them."""

import gc
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tacit.ledger.refits import Memory, RefitWarning, refit_warning


@pytest.mark.parametrize(
    "data",
    [
        np.zeros((3, 2)),
        pd.DataFrame({"a": [1.0]}),
        pl.DataFrame({"a": [1.0]}),
        pa.table({"a": [1.0]}),
    ],
)
def test_the_same_object_is_noticed(data: object) -> None:
    assert refit_warning(data, charged=False) is None
    message = refit_warning(data, charged=False)
    assert message is not None
    assert "with tacit.Ledger(" in message
    assert refit_warning(data, charged=True) is None


def test_a_charged_fit_is_remembered() -> None:
    data = np.zeros(3)
    assert refit_warning(data, charged=True) is None
    assert refit_warning(data, charged=False) is not None


def test_the_same_file_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Memory()
    monkeypatch.chdir(tmp_path)
    assert not memory.note("table.csv")
    assert memory.note(tmp_path / "table.csv")
    assert not memory.note(tmp_path / "other.csv")


def test_equal_data_are_not_the_same_data() -> None:
    memory = Memory()
    first, second = np.zeros(3), np.zeros(3)
    assert not memory.note(first)
    assert not memory.note(second)


def test_no_object_is_kept_alive_nor_mistaken_for_a_later_one() -> None:
    memory = Memory()
    for _ in range(200):
        assert not memory.note(np.zeros(1000))
    gc.collect()
    assert memory._objects == {}


def test_what_cannot_be_followed_is_left_alone() -> None:
    memory = Memory()
    rows = [[1.0], [2.0]]
    assert not memory.note(rows)
    assert not memory.note(rows)


def test_the_warning_can_be_told_from_others() -> None:
    assert issubclass(RefitWarning, UserWarning)
