"""Targets: near the truth where it is known, shared by cells alike, and kept."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.coverage.cells import Cell
from benchmarks.coverage.targets import BLOCK, Targets, key_of, population_values

CELLS = [Cell("logistic", "link", 4000, 4, mu) for mu in (0.5, 2.0)]


def test_values_of_a_population() -> None:
    found = population_values(CELLS, records=4 * BLOCK)
    assert set(found) == {key_of(cell) for cell in CELLS}
    first, second = (np.array(found[key_of(cell)]) for cell in CELLS)
    # The value of ten million records, to four deviations of two hundred thousand.
    assert first == pytest.approx([0.5506, 1.2297, -0.9233, 0.7675], abs=0.03)
    assert 1e-5 < np.abs(first - second).max() < 0.01


def test_centred_populations_need_none(tmp_path: Path) -> None:
    targets = Targets(tmp_path / "targets.json")
    cell = Cell("linear", "spread", 4000, 4, 1.0)
    assert cell in targets
    assert targets[cell] == pytest.approx(cell.design.coefficients())
    assert targets.missing([cell]) == []


def test_targets_are_kept_and_shared(tmp_path: Path) -> None:
    path = tmp_path / "results" / "targets.json"
    targets = Targets(path)
    alike = Cell("logistic", "link", 1000, 4, 2.0)
    assert targets.missing([CELLS[0], alike, *CELLS]) == [CELLS]
    targets.add({key_of(CELLS[0]): [1.0, 2.0]})
    again = Targets(path)
    assert again[alike].tolist() == [1.0, 2.0]
    assert again.missing(CELLS) == [[CELLS[1]]]
