"""The page and the pictures of a few rows."""

from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks.accuracy import command
from benchmarks.accuracy.cells import Cell, Store
from benchmarks.accuracy.page import page
from benchmarks.accuracy.pictures import pictures, spread_apart
from benchmarks.accuracy.results import Results
from benchmarks.rivals.registry import methods

VERSIONS = {name: method.version for name, method in methods().items()}


def measured(folder: Path, *, ours: bool) -> Results:
    store = Store(folder / command.ROWS)
    rows = {"noisy-descent": (0.6, 0.67), "diffprivlib": (-7.0, -3.0)}
    rows |= {"tacit": (0.676, 0.66)} if ours else {}
    for name, values in rows.items():
        for epsilon, value in zip((0.1, 8.0), values, strict=True):
            for repetition in range(2):
                cell = Cell(name, "california", epsilon, repetition, VERSIONS[name])
                store.add(cell, {"scores": {"r2": value, "slope": 1.0}, "seconds": 0.25})
    row = {"scores": {"r2": 0.68}, "trivial": {"r2": -0.001}, "rows": 16512, "width": 9}
    cell = Cell("non-private", "california", None, 0, VERSIONS["non-private"])
    store.add(cell, row | {"seconds": 0.01})
    return Results(store, methods())


def test_the_best_private_mean_is_bold(tmp_path: Path) -> None:
    text = page(measured(tmp_path, ours=True), [])
    assert "| Tacit | **0.6760 ± 0.0000** | 0.6600 ± 0.0000 |" in text
    assert "| noisy gradient descent, tuned | 0.6000 ± 0.0000 | **0.6700 ± 0.0000** |" in text
    assert "| not private | 0.6800 | 0.6800 |" in text
    assert "**R²** (trivial model: -0.001)" in text


def test_marks_are_said_to_be_met_or_missed(tmp_path: Path) -> None:
    text = page(measured(tmp_path, ours=True), [])
    assert "1 of 2 met (tolerance 0.002)" in text
    met, missed = "0.6760 (at least 0.675) met", "0.6600 (at least 0.683) **missed**"
    assert f"| california | R² | {met} | – | {missed} |" in text


def test_without_our_rows_nothing_is_claimed(tmp_path: Path) -> None:
    text = page(measured(tmp_path, ours=False), [])
    assert "Tacit has not been run on the tables that have marks." in text
    assert "| Tacit |" not in text
    assert "met" not in text.split("## Marks")[1].split("## Tables")[0].replace("method", "")


def test_pictures_are_drawn_for_what_was_measured(tmp_path: Path) -> None:
    drawn = pictures(measured(tmp_path, ours=True), tmp_path)
    assert [file for file, _ in drawn] == ["accuracy-r2.png"]
    assert (tmp_path / "accuracy-r2.png").read_bytes().startswith(b"\x89PNG")


def test_names_beside_the_lines_do_not_overlap() -> None:
    heights = spread_apart([0.5, 0.51, 0.1, -9.0, 0.52], 0.1, 0.0, 1.0)
    placed = sorted(heights)
    assert placed[0] >= 0.0
    assert placed[-1] <= 1.0
    assert all(high - low >= 0.1 - 1e-12 for low, high in pairwise(placed))
    # The order of the lines is kept.
    assert heights[3] < heights[2] < heights[0] < heights[1] < heights[4]


def test_a_crowd_at_the_top_is_pushed_down() -> None:
    heights = spread_apart([1.0, 0.99, 0.98], 0.1, 0.0, 1.0)
    assert heights == pytest.approx([1.0, 0.9, 0.8])


def test_the_command_writes_what_is_there_without_running(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured(tmp_path, ours=True)
    command.main(["--page", "--results", str(tmp_path)])
    assert "# Accuracy" in (tmp_path / command.PAGE).read_text(encoding="utf-8")
    assert command.PAGE in capsys.readouterr().out
