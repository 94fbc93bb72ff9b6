"""Rows of the plain study in a file: single replications, or counts over batches of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.coverage.plain_replications import PlainCell
from benchmarks.coverage.plain_tally import Tally, summed

VERSION = 1
"""Goes up when what a row means changes; older rows are then left aside."""


class PlainStore:
    """A file of JSON lines that only grows; a torn line at its end is left aside.

    With `whole` every replication is a line with all its numbers; otherwise a batch is one line of
    counts. Lines of both kinds are read. A line has the stamp of the rules by which it was made ("" where it is
    older than stamps); of a cell the lines of the rules that were written last count, and no others.
    """

    def __init__(self, path: Path | None, *, whole: bool = True) -> None:
        self.path, self.whole = path, whole
        self._tallies: dict[PlainCell, dict[str, Tally]] = {}
        self._done: dict[tuple[PlainCell, str], set[int]] = {}
        for row in _lines(path):
            self._count(row)

    @classmethod
    def together(cls, paths: Iterable[Path]) -> PlainStore:
        """What several files hold; nothing is written to any of them."""
        found = cls(None)
        for path in paths:
            for row in _lines(path):
                found._count(row)
        return found

    def _count(self, row: Mapping[str, Any]) -> None:
        cell, rules = PlainCell(row["population"], row["n"], float(row["epsilon"])), row.get("rules", "")
        done = self._done.setdefault((cell, rules), set())
        numbers = row["replications"] if "tally" in row else [row["replication"]]
        if done.intersection(numbers):
            return
        done.update(numbers)
        tally = Tally.read(row["tally"]) if "tally" in row else Tally.of(row)
        by_rules = self._tallies.setdefault(cell, {})
        # The last to be written stands last.
        by_rules[rules] = by_rules.pop(rules, Tally())
        by_rules[rules].add(tally)

    def done(self, cell: PlainCell, rules: str | None = None) -> set[int]:
        """Numbers of the replications that are there, by these rules or by the last."""
        return self._done.get((cell, self.rules(cell) if rules is None else rules), set())

    def rules(self, cell: PlainCell) -> str:
        """The stamp of the last rules of a cell; "" where it has none."""
        return next(reversed(self._tallies.get(cell, {"": None})))

    def tallies(self) -> dict[PlainCell, Tally]:
        """Counts by cell."""
        return {cell: by_rules[self.rules(cell)] for cell, by_rules in self._tallies.items()}

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Keep the replications of a batch, on disk before the next is waited for."""
        lines = list(rows) if self.whole else [counted(list(rows))]
        for row in lines:
            self._count(row)
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        begin = "\n" if _torn(self.path) else ""
        with self.path.open("a", encoding="utf-8") as stream:
            text = "".join(json.dumps({"version": VERSION, **row}) + "\n" for row in lines)
            stream.write(begin + text)


def counted(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Replications of a cell as one line of counts."""
    first = {key: rows[0].get(key, "") for key in ("population", "n", "epsilon", "rules")}
    numbers = [row["replication"] for row in rows]
    return {**first, "replications": numbers, "tally": summed(map(Tally.of, rows)).kept()}


def _lines(path: Path | None) -> Iterator[dict[str, Any]]:
    if path is None or not path.exists():
        return
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            try:
                row = json.loads(line)
            except json.JSONDecodeError:
                # The run was ended while it wrote this line: it is run again.
                continue
            if row.get("version") == VERSION:
                yield row


def _torn(path: Path) -> bool:
    if not path.exists() or not path.stat().st_size:
        return False
    with path.open("rb") as stream:
        stream.seek(-1, 2)
        return stream.read() != b"\n"
