"""Rows that outlive the run that wrote them."""

from pathlib import Path

from benchmarks.coverage.cells import Cell
from benchmarks.coverage.store import Store

CELL = Cell("linear", "clean", 500, 4, 1.0)


def test_rows_are_read_again_and_add_up(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    store = Store(path)
    store.add(CELL, 0, {"samples": 250, "width": [1 / 3, 2.0]})
    store.add(CELL, 1, {"samples": 100, "width": [0.5, 2.0]})
    again = Store(path)
    assert again.samples(CELL) == 350
    assert again.batches(CELL)[0]["width"] == [0.333333, 2.0]
    assert again.samples(Cell("linear", "clean", 500, 4, 2.0)) == 0


def test_a_torn_line_is_run_again(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    Store(path).add(CELL, 0, {"samples": 250})
    path.write_text(path.read_text() + '{"cell": "linear/cl', encoding="utf-8")
    store = Store(path)
    assert store.batches(CELL).keys() == {0}
    store.add(CELL, 1, {"samples": 250})
    assert Store(path).samples(CELL) == 500


def test_rows_of_other_versions_rest(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    Store(path, "0").add(CELL, 0, {"samples": 250})
    assert Store(path).samples(CELL) == 0
    assert Store(path, "0").samples(CELL) == 250
