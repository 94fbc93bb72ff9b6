"""The file of the plain study: it grows, is taken up again, and torn lines are left aside."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.coverage.plain_replications import PlainCell, run_replications
from benchmarks.coverage.plain_store import PlainStore
from benchmarks.coverage.plain_targets import target_of
from benchmarks.coverage.populations import POPULATIONS

CELL = PlainCell("sep_logit", 500, 3.0)


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return run_replications(CELL, target_of(POPULATIONS["sep_logit"]), range(4))


@pytest.mark.parametrize("whole", [True, False])
def test_what_is_kept_is_read_again(whole: bool, rows: list[dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "new" / "rows.jsonl"
    store = PlainStore(path, whole=whole)
    store.add(rows[:3])
    again = PlainStore(path, whole=whole)
    assert again.done(CELL) == store.done(CELL) == {0, 1, 2}
    assert again.tallies()[CELL].labels == store.tallies()[CELL].labels
    again.add(rows[3:])
    assert len(path.read_text(encoding="utf-8").splitlines()) == (4 if whole else 2)
    assert PlainStore(path).tallies()[CELL].replications == 4


def test_counts_are_those_of_the_rows(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    stores = [PlainStore(tmp_path / str(whole), whole=whole) for whole in (True, False)]
    for store in stores:
        store.add(rows)
    first, second = (PlainStore(store.path).tallies()[CELL] for store in stores)
    assert first.labels == second.labels
    assert first.widths == second.widths


def test_a_torn_line_is_run_again(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    PlainStore(path).add(rows)
    text = path.read_text(encoding="utf-8")
    path.write_text(text[:-40], encoding="utf-8")
    store = PlainStore(path)
    assert store.done(CELL) == {0, 1, 2}
    store.add(rows[3:])
    assert PlainStore(path).done(CELL) == {0, 1, 2, 3}


def test_other_versions_rest_and_repeated_lines_count_once(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    PlainStore(path).add(rows)
    text = path.read_text(encoding="utf-8")
    other = json.dumps({"version": -1, "population": "lpm"})
    path.write_text(f"{text}{text}{other}\n", encoding="utf-8")
    assert PlainStore(path).tallies()[CELL].replications == 4
    assert PlainStore.together([path, path]).tallies()[CELL].replications == 4


def test_without_a_file_nothing_is_written(rows: list[dict[str, Any]]) -> None:
    store = PlainStore(None)
    store.add(rows)
    assert store.done(CELL) == {0, 1, 2, 3}


def test_rows_of_other_rules_do_not_count_beside_those_written_last(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    PlainStore(path).add([{**row, "rules": "before"} for row in rows])
    store = PlainStore(path)
    assert store.rules(CELL) == "before"
    store.add(rows[:2])
    assert store.rules(CELL) == rows[0]["rules"]
    assert store.done(CELL) == {0, 1}
    assert store.done(CELL, "before") == {0, 1, 2, 3}
    assert PlainStore(path).tallies()[CELL].replications == 2
    assert PlainStore(None).rules(CELL) == ""
