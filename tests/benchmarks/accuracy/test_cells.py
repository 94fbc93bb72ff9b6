"""Finished rows survive the end of a run, also one that came in the middle of a line."""

from pathlib import Path

from benchmarks.accuracy.cells import Cell, Store


def cell(repetition: int = 0, method: str = "tacit") -> Cell:
    return Cell(method, "wine", 0.5, repetition, "1")


def test_rows_are_there_for_the_next_run(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "rows.jsonl"
    Store(path).add(cell(), {"scores": {"auc": 0.123456789}, "seconds": 1.0})
    again = Store(path)
    assert cell() in again
    assert cell(1) not in again
    assert again[cell()] == {"scores": {"auc": 0.123457}, "seconds": 1.0}


def test_another_version_is_another_row(tmp_path: Path) -> None:
    store = Store(tmp_path / "rows.jsonl")
    store.add(cell(), {"seconds": 1.0})
    assert Cell("tacit", "wine", 0.5, 0, "2") not in store


def test_a_torn_line_is_run_again_and_spoils_no_other(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    store = Store(path)
    store.add(cell(0), {"seconds": 1.0})
    store.add(cell(1), {"seconds": 2.0})
    text = path.read_text(encoding="utf-8")
    path.write_text(text[:-15], encoding="utf-8")
    torn = Store(path)
    assert list(torn) == [cell(0)]
    torn.add(cell(2), {"seconds": 3.0})
    assert list(Store(path)) == [cell(0), cell(2)]


def test_dropped_rows_are_gone_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    store = Store(path)
    store.add(cell(0), {"seconds": 1.0})
    store.add(cell(0, "adassp"), {"seconds": 1.0})
    assert store.drop(lambda each: each.method == "tacit") == 1
    assert list(Store(path)) == [cell(0, "adassp")]
