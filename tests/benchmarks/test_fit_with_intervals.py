import numpy as np
import pytest

from benchmarks.accuracy.table import Table
from benchmarks.fit_with_intervals import Cell, cells, figures


def _cell(metric: str, without: float, paid: float, worst: float, epsilon: float = 1.0) -> Cell:
    return Cell("t", epsilon, metric, without, paid, worst, 0.6 if metric == "log_loss" else 0.0)


def test_losses_are_counted_in_the_direction_of_the_metric() -> None:
    assert _cell("log_loss", 0.3, 0.32, 0.7).lost == pytest.approx(0.02)
    assert _cell("log_loss", 0.3, 0.32, 0.7).below_mean == pytest.approx(0.1)
    assert _cell("r2", 0.5, 0.4, -0.1).lost == pytest.approx(0.1)
    assert _cell("r2", 0.5, 0.4, -0.1).below_mean == pytest.approx(0.1)


def test_figures_are_the_worst_cells() -> None:
    found = [
        _cell("log_loss", 0.3, 0.305, 0.31),
        _cell("log_loss", 0.3, 0.5, 0.5, epsilon=0.1),
        _cell("r2", 0.5, 0.45, 0.4),
        Cell("t", 0.1, "auc", 0.8, 0.75, 0.7, 0.5),
    ]
    made = {figure.name: figure for figure in figures(found)}
    assert made["largest log-loss lost at ε ≥ 1"].reached
    assert not made["largest R² lost at ε ≥ 1"].reached
    assert made["largest AUC lost at ε = 0.1"].measured == pytest.approx(0.05)


def test_a_small_table_is_scored_with_and_without_intervals() -> None:
    generator = np.random.default_rng(0)
    X = np.column_stack([generator.uniform(-1, 1, (3000, 2)), np.ones(3000)]).astype(np.float32)
    y = (generator.random(3000) < 1 / (1 + np.exp(-2 * X[:, 0]))).astype(float)
    table = Table("t", "classification", "bundled", X, y, X, y, 2.0, (0.0, 1.0))
    found = cells(table, 5.0, 1)
    assert [cell.metric for cell in found] == ["log_loss", "auc"]
    assert abs(found[0].lost) < 0.05
