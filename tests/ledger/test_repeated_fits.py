"""The same data twice without a ledger is worth a warning; nothing is kept of them."""

import gc
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tacit.ledger.repeated_fits import Memory, RefitWarning, note_file_fit, refit_warning


@pytest.mark.parametrize(
    "data", [np.zeros((3, 2)), pd.DataFrame({"a": [1.0]}), pl.DataFrame({"a": [1.0]}), pa.table({"a": [1.0]})]
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


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("TACIT_REMEMBER_FITS", raising=False)
    return tmp_path / "state"


def test_fits_of_a_file_are_counted_across_processes(state: Path, tmp_path: Path) -> None:
    """Each call stands for a process of its own: nothing but the folder is shared."""
    (tmp_path / "link.csv").symlink_to(tmp_path / "table.csv")
    names: list[str | Path] = [tmp_path / "table.csv", str(tmp_path / "table.csv"), tmp_path / "link.csv"]
    assert [note_file_fit(name) for name in names] == [0, 1, 2]
    assert note_file_fit(tmp_path / "other.csv") == 0


def test_no_two_of_many_writers_are_told_the_same_number(state: Path, tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(lambda _: note_file_fit(tmp_path / "table.csv"), range(200)))
    assert sorted(numbers) == list(range(200))


def test_what_is_kept_of_a_file_is_a_hash_and_a_date(state: Path, tmp_path: Path) -> None:
    table = tmp_path / "secret-study.csv"
    table.write_text("age\n999\n", encoding="utf-8")
    note_file_fit(table)
    (kept,) = [path for path in state.rglob("*") if path.is_file()]
    assert re.fullmatch("[0-9a-f]{64}", kept.name)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d\n", kept.read_text(encoding="utf-8"))


def test_nothing_is_kept_where_that_is_unwanted_or_impossible(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TACIT_REMEMBER_FITS", "0")
    assert [note_file_fit(tmp_path / "table.csv") for _ in range(2)] == [0, 0]
    assert not state.exists()
    monkeypatch.delenv("TACIT_REMEMBER_FITS")
    state.write_text("a file, not a folder", encoding="utf-8")
    assert [note_file_fit(tmp_path / "table.csv") for _ in range(2)] == [0, 0]
    assert note_file_fit("a\0b") == 0


def test_a_relative_state_folder_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    monkeypatch.delenv("TACIT_REMEMBER_FITS", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert note_file_fit("table.csv") == 0
    assert (tmp_path / "home" / ".local" / "state" / "tacit" / "fits").is_dir()
    assert not (tmp_path / "state").exists()
