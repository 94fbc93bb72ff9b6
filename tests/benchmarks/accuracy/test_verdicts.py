"""Every mark and every check can be met and can be missed."""

from pathlib import Path

import pytest

from benchmarks.accuracy.cells import Cell, Store
from benchmarks.accuracy.results import Results
from benchmarks.accuracy.verdicts import Verdict, checks, marks
from benchmarks.rivals.registry import methods

EPSILONS = (0.1, 1.0, 8.0)
VERSIONS = {name: method.version for name, method in methods().items()}


def fill(folder: Path, method: str, table: str, values: dict[str, tuple[float, ...]], slope: float = 1.0) -> None:
    store = Store(folder / "rows.jsonl")
    for k, epsilon in enumerate(EPSILONS):
        scores = {metric: row[k] for metric, row in values.items()} | {"slope": slope}
        for repetition in range(2):
            cell = Cell(method, table, epsilon, repetition, VERSIONS[method])
            store.add(cell, {"scores": scores, "seconds": 0.1})


def baseline(folder: Path, table: str, scores: dict[str, float], trivial: float) -> None:
    cell = Cell("non-private", table, None, 0, VERSIONS["non-private"])
    worst = dict.fromkeys(scores, trivial)
    row = {"scores": scores, "seconds": 0.1, "trivial": worst, "rows": 100, "width": 3}
    Store(folder / "rows.jsonl").add(cell, row)


def results(folder: Path) -> Results:
    return Results(Store(folder / "rows.jsonl"), methods())


def verdict(found: list[Verdict], words: str) -> Verdict:
    (one,) = [each for each in found if words in each.check]
    return one


def adult(folder: Path, auc: tuple[float, ...], loss: tuple[float, ...], slope: float) -> Results:
    fill(folder, "tacit", "adult", {"auc": auc, "log_loss": loss, "accuracy": auc}, slope)
    fill(folder, "tacit-wide", "adult", {"auc": (0.0, 0.87, 0.0)})
    fill(folder, "noisy-descent", "adult", {"auc": (0.884, 0.897, 0.899)})
    baseline(folder, "adult", {"auc": 0.899, "log_loss": 0.33, "accuracy": 0.85}, 0.55)
    return results(folder)


def test_marks_are_met_within_the_tolerance_and_missed_beyond_it(tmp_path: Path) -> None:
    found = adult(tmp_path, (0.8875, 0.898, 0.896), (0.3, 0.336, 0.331), 1.0)
    met = {each.check: each.met for each in marks(found)}
    assert met == {
        "AUC, ε = 0.1": True,
        "AUC, ε = 1": True,
        "AUC, ε = 8": False,
        "log-loss, ε = 0.1": True,
        "log-loss, ε = 1": False,
        "log-loss, ε = 8": True,
    }


WORDS = ("never falls", "trivial model", "over the non-private", "slope", "ten times wider", "above every rival")


def test_good_behaviour_passes_every_check(tmp_path: Path) -> None:
    found = checks(adult(tmp_path, (0.885, 0.889, 0.899), (0.34, 0.333, 0.33), 1.01))
    assert {words: verdict(found, words).met for words in WORDS} == dict.fromkeys(WORDS, True)
    assert len(found) == len(WORDS)


def test_bad_behaviour_fails_every_check(tmp_path: Path) -> None:
    found = checks(adult(tmp_path, (0.88, 0.899, 0.89), (0.56, 0.336, 0.33), 1.04))
    assert {words: verdict(found, words).met for words in WORDS} == dict.fromkeys(WORDS, False)


def test_regression_is_held_to_zero(tmp_path: Path) -> None:
    fill(tmp_path, "tacit", "diabetes", {"r2": (-0.01, 0.2, 0.5)})
    baseline(tmp_path, "diabetes", {"r2": 0.5}, -0.01)
    assert not verdict(checks(results(tmp_path)), "trivial model").met


def test_small_tables_are_held_to_two_checks_only(tmp_path: Path) -> None:
    fill(tmp_path, "tacit", "diabetes", {"r2": (0.1, 0.2, 0.5)}, slope=3.0)
    baseline(tmp_path, "diabetes", {"r2": 0.5}, -0.01)
    found = checks(results(tmp_path))
    assert [each.met for each in found] == [True, True]


def test_rows_of_another_version_do_not_count(tmp_path: Path) -> None:
    store = Store(tmp_path / "rows.jsonl")
    store.add(Cell("tacit", "adult", 0.1, 0, "0.0.0"), {"scores": {"auc": 0.9}, "seconds": 1.0})
    assert list(marks(results(tmp_path))) == []


def test_means_and_spreads_are_over_repetitions(tmp_path: Path) -> None:
    store = Store(tmp_path / "rows.jsonl")
    for repetition, value in enumerate((0.1, 0.2, 0.3)):
        cell = Cell("adassp", "diabetes", 1.0, repetition, VERSIONS["adassp"])
        store.add(cell, {"scores": {"r2": value}, "seconds": value})
    found = results(tmp_path)
    summary = found.of("adassp", "diabetes", 1.0, "r2")
    assert summary is not None
    assert (summary.mean, summary.spread, summary.count) == pytest.approx((0.2, 0.1, 3))
    assert str(summary) == "0.2000 ± 0.1000"
    assert found.seconds("adassp", "diabetes", 1.0) == 0.2
    assert found.of("adassp", "diabetes", 2.0, "r2") is None
