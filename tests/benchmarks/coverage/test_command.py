"""The command: which batches it runs, in which order, and that a second run goes on."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from benchmarks.coverage import command
from benchmarks.coverage.cells import Cell
from benchmarks.coverage.command import Work, chosen, main, parser, run_missing, with_table
from benchmarks.coverage.store import Store
from benchmarks.coverage.targets import Targets, key_of


class AtOnce:
    """A pool that runs in this process."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.calls: list[str] = []

    def __enter__(self) -> "AtOnce":
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is left running."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(function(*arguments))
        return future


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was run, in order, with nothing computed."""
    calls: list[Any] = []

    def values(cells: Sequence[Cell]) -> dict[str, list[float]]:
        calls.append(cells[0].design.words)
        return {key_of(cell): [0.0] * cell.d for cell in cells}

    def batch(cell: Cell, target: Any, number: int, size: int) -> dict[str, Any]:
        assert len(target) == cell.d
        calls.append((cell.words, number))
        return {"samples": size}

    monkeypatch.setattr(command, "ProcessPoolExecutor", AtOnce)
    monkeypatch.setattr(command, "population_values", values)
    monkeypatch.setattr(command, "run_batch", batch)
    return calls


def test_all_cells_go_once_before_any_goes_twice() -> None:
    work = chosen(parser().parse_args([]))
    grid = [each for each in work if each.cell.bound == 10.0]
    assert len(grid) == 4 * (240 + 27)
    assert [each.batch for each in grid] == sorted(each.batch for each in grid)
    assert {each.cell.bound for each in work[:9]} == {3.0, 100.0, 1000.0}


def test_options_choose() -> None:
    asked = ["--families", "linear", "--scenarios", "link", "--cells", "1000,4,0.5"]
    work = chosen(parser().parse_args([*asked, "--replications", "300"]))
    cell = Cell("linear", "link", 1000, 4, 0.5)
    assert work == [Work(cell, 0, 250), Work(cell, 1, 50)]


def test_targets_are_found_and_a_second_run_goes_on(tmp_path: Path, ran: list[Any]) -> None:
    known, unknown = Cell("linear", "clean", 500, 4, 1.0), Cell("linear", "link", 500, 4, 1.0)
    work = [Work(unknown, 0, 250), Work(known, 0, 250), Work(unknown, 1, 250)]
    store, targets = Store(tmp_path / "rows"), Targets(tmp_path / "targets")
    run_missing(store, targets, work, 1)
    assert ran[0] == "linear/link/4"
    assert set(ran[1:]) == {(known.words, 0), (unknown.words, 0), (unknown.words, 1)}
    ran.clear()
    more = [*work, Work(known, 1, 250)]
    run_missing(Store(tmp_path / "rows"), Targets(tmp_path / "targets"), more, 1)
    assert ran == [(known.words, 1)]


def test_the_table_goes_between_its_marks() -> None:
    text = command.DOCUMENT.read_text(encoding="utf-8")
    once = with_table(text, "| a |")
    assert f"{command.BEGIN}\n| a |\n{command.END}" in once
    assert with_table(once, "| b |").replace("| b |", "| a |") == once
    with pytest.raises(ValueError, match="lacks the marks"):
        with_table("nothing", "| a |")


def test_nothing_run_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--page", "--results", str(tmp_path)])
    assert "nothing has been run" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []
