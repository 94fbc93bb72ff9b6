"""Run the cells that are missing: choose settings where there are any, then repeat the fit."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.accuracy.cells import Cell, Store
from benchmarks.accuracy.scores import METRICS, ranked, score, trivial
from benchmarks.accuracy.table import Kind, Table, Vector
from benchmarks.rivals.method import Method, Setting

FEW_ROWS, MANY_ROWS = 5000, 50_000
SHORTLIST, SMALL_BUDGET = 6, 0.5


def tuning_seeds(table: Table, epsilon: float) -> tuple[int, int]:
    """Seeds for all settings, then for the shortlist.

    Large tables are slower and vary less: with a larger budget one seed tells settings apart.
    """
    rows = len(table.y_train)
    if rows < MANY_ROWS:
        return (10, 30) if rows < FEW_ROWS else (2, 8)
    return (1, 4) if epsilon <= SMALL_BUDGET else (1, 0)


@dataclass(frozen=True)
class Grid:
    """What a run covers."""

    epsilons: tuple[float, ...]
    repetitions: int

    def budgets(self, method: Method) -> list[float | None]:
        """The ε of a method; None once for a method without privacy."""
        if method.epsilons is None:
            return list(self.epsilons)
        return [e for e in self.epsilons if e in method.epsilons] if method.epsilons else [None]

    def cells(self, method: Method, name: str, kind: Kind) -> Iterator[Cell]:
        """Every repetition of a method on a table."""
        if kind not in method.kinds:
            return
        for epsilon in self.budgets(method):
            for repetition in range(1 if epsilon is None else self.repetitions):
                yield Cell(method.name, name, epsilon, repetition, method.version)


def seed_of(*words: object) -> int:
    """A seed that depends on what is run, and on nothing else."""
    return zlib.crc32("/".join(map(str, words)).encode())


def tune(method: Method, table: Table, epsilon: float) -> dict[str, Setting]:
    """The best setting for each metric, by its mean over seeds **on the test rows**.

    A few seeds judge all settings; more seeds judge the leading ones again, so that a setting is
    not chosen for its luck.
    """
    metrics = METRICS[table.kind]
    first, further = tuning_seeds(table, epsilon)
    settings = list(method.settings(table, epsilon))
    totals = _totals(method, table, epsilon, settings, range(first))
    leading = sorted({k for m in metrics for k in ranked(m, totals[m])[:SHORTLIST]})
    settings = [settings[k] for k in leading]
    more = _totals(method, table, epsilon, settings, range(first, first + further))
    return {m: settings[ranked(m, totals[m][leading] + more[m])[0]] for m in metrics}


def _totals(
    method: Method, table: Table, epsilon: float, settings: Sequence[Setting], attempts: range
) -> dict[str, Vector]:
    """Sums of each metric over seeds, one entry per setting."""
    totals = {metric: np.zeros(len(settings)) for metric in METRICS[table.kind]}
    for attempt in attempts:
        seed = seed_of("tuning", method.name, table.name, epsilon, attempt)
        for place, fit in enumerate(method.fits(table, epsilon, settings, seed)):
            for metric, value in score(table, fit.margins).items():
                totals[metric][place] += value
    return totals


def repeat(
    method: Method, table: Table, cell: Cell, chosen: Mapping[str, Setting], baseline: Vector | None
) -> dict[str, Any]:
    """One repetition: each metric from the setting that is best for it.

    Slope and seconds are those of the fit with the first metric's setting.
    """
    distinct: list[Setting] = []
    for setting in chosen.values():
        if setting not in distinct:
            distinct.append(setting)
    epsilon = 0.0 if cell.epsilon is None else cell.epsilon
    seed = seed_of(method.name, table.name, epsilon, cell.repetition)
    fits = method.fits(table, epsilon, distinct, seed)
    scored = [score(table, fit.margins, baseline) for fit in fits]
    first = METRICS[table.kind][0]
    primary = distinct.index(chosen[first])
    scores = {metric: scored[distinct.index(setting)][metric] for metric, setting in chosen.items()}
    if baseline is not None:
        scores["slope"] = scored[primary]["slope"]
    return {"scores": scores, "seconds": fits[primary].seconds}


class Trials:
    """All work on one table; the fit without privacy is made once, for the slopes."""

    def __init__(self, store: Store, table: Table, reference: Method) -> None:
        self.store = store
        self.table = table
        self._reference = reference
        self._baseline: Vector | None = None

    @property
    def baseline(self) -> Vector:
        """Margins of the fit without privacy, not cut: slopes compare linear predictors."""
        if self._baseline is None:
            (fit,) = self._reference.fits(self.table, 0.0, [{}], 0)
            found = fit.margins if fit.uncut is None else fit.uncut
            self._baseline = np.asarray(found, dtype=np.float64)
        return self._baseline

    def settings(self, method: Method, cell: Cell) -> dict[str, Setting]:
        """Settings by metric: chosen earlier, or now."""
        metrics = METRICS[self.table.kind]
        if cell.epsilon is None:
            return {metric: {} for metric in metrics}
        offered: Sequence[Setting] = method.settings(self.table, cell.epsilon)
        if len(offered) == 1:
            return dict.fromkeys(metrics, offered[0])
        choice = Cell(cell.method, cell.table, cell.epsilon, None, cell.version)
        if choice not in self.store:
            found = tune(method, self.table, cell.epsilon)
            seeds = sum(tuning_seeds(self.table, cell.epsilon))
            row = {"settings": found, "tried": len(offered), "seeds": seeds}
            self.store.add(choice, row)
        return dict(self.store[choice]["settings"])

    def run(self, method: Method, cell: Cell) -> None:
        """Run one cell and keep it."""
        chosen = self.settings(method, cell)
        private = cell.epsilon is not None
        row = repeat(method, self.table, cell, chosen, self.baseline if private else None)
        if not private:
            row["trivial"] = trivial(self.table)
            row["rows"], row["width"] = self.table.X_train.shape
        self.store.add(cell, row)
