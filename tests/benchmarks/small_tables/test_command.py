"""Targets on small tables: which are met and which are missed, and the page that says so."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.accuracy.catalogue import CATALOGUE
from benchmarks.accuracy.cells import Cell, Store
from benchmarks.small_tables.command import OURS, RIVAL, WITHOUT, Results, page, verdicts
from benchmarks.small_tables.tables import ENTRIES

TABLE = "parted_simulated"


def store(folder: Path, *, behind: float, slope: float) -> Store:
    """Three budgets and two repetitions, in which Tacit is so far behind."""
    found = Store(folder / "rows.jsonl")
    found.add(
        Cell(WITHOUT.name, TABLE, None, 0, WITHOUT.version), {"scores": {"auc": 0.9, "log_loss": 0.1}, "seconds": 1.0}
    )
    for method, cost in ((OURS, behind), (RIVAL, 0.0)):
        for epsilon in (0.1, 1.0, 8.0):
            for repetition in range(2):
                scores = {"auc": 0.8 - cost, "log_loss": 0.2 + cost, "slope": slope}
                row = {"scores": scores, "seconds": 1.0}
                found.add(Cell(method.name, TABLE, epsilon, repetition, method.version), row)
    return found


@pytest.mark.parametrize(
    ("behind", "slope", "met"), [(0.004, 1.0, 6), (0.006, 1.0, 1), (-0.1, 0.8, 5), (0.006, 1.2, 0)]
)
def test_targets_are_met_or_missed(tmp_path: Path, behind: float, slope: float, met: int) -> None:
    """AUC at three budgets, log-loss from ε = 1 on, and the slope at ε = 8."""
    results = Results(store(tmp_path, behind=behind, slope=slope))
    found = list(verdicts(results))
    assert len(found) == 6
    assert sum(verdict.reached for verdict in found) == met
    text = page(results, found)
    assert f"{met} of 6 targets are met" in text
    assert text.count("**missed**") == 6 - met


def test_rows_of_other_versions_do_not_count(tmp_path: Path) -> None:
    found = store(tmp_path, behind=0.0, slope=1.0)
    found.add(Cell(OURS.name, TABLE, 8.0, 5, "0.0.0"), {"scores": {"auc": 0.0, "log_loss": 9.0, "slope": 9.0}})
    assert Results(found).of(OURS, TABLE, 8.0, "auc").value == pytest.approx(0.8)  # type: ignore[union-attr]


def test_no_table_is_one_of_the_accuracy_benchmark() -> None:
    assert not set(ENTRIES) & set(CATALOGUE)
    assert {entry.trait for entry in ENTRIES.values()} == {"small", "rare class", "near separation", "many zeros"}


@pytest.mark.parametrize("name", [name for name, entry in ENTRIES.items() if not entry.of_folder])
def test_simulated_and_bundled_tables_are_within_their_bounds(name: str) -> None:
    table = ENTRIES[name].load()
    assert np.abs(table.X_train).max() <= 1.0
    assert np.linalg.norm(table.X_train, axis=1).max() <= table.row_norm + 1e-6
    assert set(np.unique(table.y_train)) == {0.0, 1.0}
    assert table.name == name
