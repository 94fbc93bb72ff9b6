"""Means over repetitions, read from the rows of the current versions."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.accuracy.catalogue import CATALOGUE, Entry
from benchmarks.accuracy.cells import Cell, Store
from benchmarks.accuracy.table import Group, Kind
from benchmarks.rivals.method import Method
from benchmarks.rivals.registry import BASELINE


@dataclass(frozen=True)
class Summary:
    """Mean, standard deviation and number of repetitions."""

    mean: float
    spread: float
    count: int

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return self.spread / math.sqrt(self.count)

    def __str__(self) -> str:
        words = f"{self.mean:.4f}"
        return words if self.count == 1 else f"{words} ± {self.spread:.4f}"


class Results:
    """What has been measured so far."""

    def __init__(self, store: Store, methods: Mapping[str, Method]) -> None:
        self.methods = methods
        self._rows: dict[tuple[str, str, float | None], list[dict[str, Any]]] = {}
        for cell in store:
            method = methods.get(cell.method)
            known = method is not None and method.version == cell.version
            if known and cell.repetition is not None and cell.table in CATALOGUE:
                self._rows.setdefault(self._key(cell), []).append(store[cell])

    @staticmethod
    def _key(cell: Cell) -> tuple[str, str, float | None]:
        return cell.method, cell.table, cell.epsilon

    @property
    def epsilons(self) -> list[float]:
        """Every ε that was run."""
        return sorted({epsilon for _, _, epsilon in self._rows if epsilon is not None})

    def tables(self, kind: Kind | None = None, group: Group | None = None) -> list[Entry]:
        """Tables with results, in the order of the catalogue."""
        named = {name for _, name, _ in self._rows}
        return [
            entry
            for entry in CATALOGUE.values()
            if entry.name in named and kind in (None, entry.kind) and group in (None, entry.group)
        ]

    def of(self, method: str, table: str, epsilon: float | None, metric: str) -> Summary | None:
        """A metric over the repetitions; without privacy, the same at every ε."""
        values = [row["scores"][metric] for row in self._found(method, table, epsilon)]
        if not values:
            return None
        spread = statistics.stdev(values) if len(values) > 1 else 0.0
        return Summary(statistics.fmean(values), spread, len(values))

    def seconds(self, method: str, table: str, epsilon: float | None) -> float | None:
        """Median seconds of a fit."""
        values = [row["seconds"] for row in self._found(method, table, epsilon)]
        return statistics.median(values) if values else None

    def facts(self, table: str) -> dict[str, Any]:
        """Size of a table and the scores of its trivial model, if the baseline was run."""
        found = self._found(BASELINE, table, None)
        return found[0] if found else {}

    def trivial(self, table: str, metric: str) -> float | None:
        """Score of the model that knows only the mean response."""
        scores = self.facts(table).get("trivial")
        return None if scores is None else float(scores[metric])

    def _found(self, method: str, table: str, epsilon: float | None) -> list[dict[str, Any]]:
        if method in self.methods and self.methods[method].epsilons == ():
            epsilon = None
        return self._rows.get((method, table, epsilon), [])
