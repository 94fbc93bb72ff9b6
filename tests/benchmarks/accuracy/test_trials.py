"""Trials: nothing is run twice, and a tuned method gets the best setting for every metric."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from benchmarks.accuracy.bundled import wine
from benchmarks.accuracy.cells import Cell, Store
from benchmarks.accuracy.command import run_missing
from benchmarks.accuracy.scores import score
from benchmarks.accuracy.table import Kind, Table
from benchmarks.accuracy.trials import Grid, Trials, repeat, seed_of, tune
from benchmarks.rivals.method import Fit, Setting
from benchmarks.rivals.non_private import NonPrivate


@dataclass
class Oracle:
    """Knows the labels: its margins are the truth times `scale`, or noise for `scale` 0."""

    scales: tuple[float, ...] = (1.0,)
    name: str = "oracle"
    label: str = "oracle"
    kinds: tuple[Kind, ...] = ("classification",)
    epsilons: tuple[float, ...] | None = None
    version: str = "1"
    calls: list[tuple[float, int]] = field(default_factory=list)

    def settings(self, table: Table, epsilon: float) -> Sequence[Setting]:
        return [{"scale": scale} for scale in self.scales]

    def fits(self, table: Table, epsilon: float, settings: Sequence[Setting], seed: int) -> list[Fit]:
        self.calls.append((epsilon, seed))
        noise = np.random.default_rng(seed).standard_normal(len(table.y_test))
        truth = 2.0 * table.y_test - 1.0
        return [Fit(setting["scale"] * truth + 0.1 * noise, 0.5) for setting in settings]


def test_a_second_run_does_nothing(tmp_path: Path) -> None:
    method, grid = Oracle(), Grid((1.0, 2.0), 3)
    run_missing(Store(tmp_path / "rows.jsonl"), ["wine"], [method], grid)
    assert len(method.calls) == 6
    # A fresh noise for every repetition and every ε.
    assert len({seed for _, seed in method.calls}) == 6
    run_missing(Store(tmp_path / "rows.jsonl"), ["wine"], [method], grid)
    assert len(method.calls) == 6
    run_missing(Store(tmp_path / "rows.jsonl"), ["wine"], [method], Grid((1.0, 2.0), 4))
    assert len(method.calls) == 8


def test_an_interrupted_run_is_taken_up(tmp_path: Path) -> None:
    method, grid = Oracle(), Grid((1.0,), 4)
    store = Store(tmp_path / "rows.jsonl")
    trials = Trials(store, wine(), NonPrivate())
    for cell in list(grid.cells(method, "wine", "classification"))[:2]:
        trials.run(method, cell)
    run_missing(Store(tmp_path / "rows.jsonl"), ["wine"], [method], grid)
    assert len(method.calls) == 4


def test_a_table_of_the_other_kind_is_left_out(tmp_path: Path) -> None:
    method = Oracle()
    run_missing(Store(tmp_path / "rows.jsonl"), ["diabetes"], [method], Grid((1.0,), 2))
    assert method.calls == []


def test_each_metric_has_the_setting_best_for_it() -> None:
    # Ranking is perfect once the truth outweighs the noise; the loss falls with the margin.
    method = Oracle(scales=(-1.0, 0.0, 5.0))
    chosen = tune(method, wine(), 1.0)
    assert chosen == {metric: {"scale": 5.0} for metric in ("auc", "log_loss", "accuracy")}


def test_a_repetition_takes_each_metric_from_its_own_setting() -> None:
    method, table = Oracle(), wine()
    cell = Cell("oracle", "wine", 1.0, 0, "1")
    weak, strong = {"scale": 0.05}, {"scale": 5.0}
    chosen: dict[str, Setting] = {"auc": weak, "log_loss": strong, "accuracy": weak}
    row = repeat(method, table, cell, chosen, None)
    seed = seed_of("oracle", "wine", 1.0, 0)
    low, high = (score(table, fit.margins) for fit in method.fits(table, 1.0, [weak, strong], seed))
    assert low["auc"] < high["auc"]
    assert row["scores"] == {"auc": low["auc"], "log_loss": high["log_loss"], "accuracy": low["accuracy"]}


def test_settings_are_chosen_once_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    method = Oracle(scales=(0.0, 1.0))
    run_missing(Store(path), ["wine"], [method], Grid((1.0,), 2))
    seeds = {seed_of("tuning", "oracle", "wine", 1.0, k) for k in range(40)}
    assert {seed for _, seed in method.calls[:40]} == seeds
    assert len(method.calls) == 42
    choice = Cell("oracle", "wine", 1.0, None, "1")
    assert Store(path)[choice]["settings"]["auc"] == {"scale": 1.0}
    run_missing(Store(path), ["wine"], [method], Grid((1.0,), 3))
    assert len(method.calls) == 43


class Lucky(Oracle):
    """Setting 0 is perfect on the seeds that judge every setting, and wrong on all others."""

    def fits(self, table: Table, epsilon: float, settings: Sequence[Setting], seed: int) -> list[Fit]:
        early = {seed_of("tuning", "oracle", "wine", 1.0, k) for k in range(10)}
        truth = 2.0 * table.y_test - 1.0
        lucky = 9.0 if seed in early else -9.0
        factors = [lucky if each["scale"] == 0 else 2.0 for each in settings]
        return [Fit(np.asarray(factor * truth, dtype=float), 0.5) for factor in factors]


def test_a_setting_is_not_chosen_for_its_luck() -> None:
    assert tune(Lucky(scales=(0.0, 1.0)), wine(), 1.0)["log_loss"] == {"scale": 1.0}


def test_the_fit_without_privacy_runs_once_and_knows_the_trivial_model(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    run_missing(Store(path), ["wine"], [NonPrivate()], Grid((1.0, 2.0), 5))
    store = Store(path)
    (cell,) = store
    assert (cell.epsilon, cell.repetition) == (None, 0)
    assert store[cell]["trivial"]["auc"] == 0.5
    assert store[cell]["rows"] == 143
    assert store[cell]["scores"]["auc"] > 0.9


def test_slopes_are_against_the_fit_without_privacy() -> None:
    table = wine()
    trials = Trials(Store(Path("unused.jsonl")), table, NonPrivate())
    (fit,) = NonPrivate().fits(table, 0.0, [{}], 0)
    np.testing.assert_array_equal(trials.baseline, fit.margins)


def test_budgets_follow_the_method() -> None:
    grid = Grid((0.1, 1.0), 2)
    assert grid.budgets(Oracle()) == [0.1, 1.0]
    assert grid.budgets(Oracle(epsilons=(1.0, 9.0))) == [1.0]
    assert grid.budgets(Oracle(epsilons=())) == [None]


@pytest.mark.parametrize("words", [("a", 1), ("a", 2), ("b", 1)])
def test_seeds_depend_on_the_words_alone(words: tuple[object, ...]) -> None:
    assert seed_of(*words) == seed_of(*words)
    assert seed_of(*words) != seed_of(*words, "more")
