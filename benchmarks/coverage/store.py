"""Finished batches, one JSON line each, so that a run can be stopped and taken up again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.accuracy.cells import rounded
from benchmarks.coverage.cells import Cell

VERSION = "1"
"""Goes up when a rule of the private route changes what is measured; older rows then rest."""


def plainly(value: Any) -> Any:
    """Round numbers also inside lists."""
    if isinstance(value, list):
        return [plainly(each) for each in value]
    return rounded(value)


class Store:
    """Rows in a file by cell and batch, each appended when it is finished."""

    def __init__(self, path: Path, version: str = VERSION) -> None:
        self.path, self._version = path, version
        self._rows: dict[str, dict[int, dict[str, Any]]] = {}
        if not path.exists():
            return
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                row = json.loads(line)
                named = row.pop("cell"), row.pop("batch"), row.pop("version")
            except (json.JSONDecodeError, KeyError):
                # The run was ended while it wrote this line: the batch is run again.
                continue
            if named[2] == version:
                self._rows.setdefault(named[0], {})[named[1]] = row

    def batches(self, cell: Cell) -> dict[int, dict[str, Any]]:
        """Rows of a cell by batch."""
        return self._rows.get(cell.words, {})

    def samples(self, cell: Cell) -> int:
        """How many samples a cell has."""
        return sum(row["samples"] for row in self.batches(cell).values())

    def add(self, cell: Cell, batch: int, row: Mapping[str, Any]) -> None:
        """Keep a finished row, on disk before the next is waited for."""
        kept = {key: plainly(value) for key, value in row.items()}
        self._rows.setdefault(cell.words, {})[batch] = kept
        self.path.parent.mkdir(parents=True, exist_ok=True)
        named = {"cell": cell.words, "batch": batch, "version": self._version}
        begin = "\n" if self._torn() else ""
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(begin + json.dumps({**named, **kept}) + "\n")

    def _torn(self) -> bool:
        if not self.path.exists() or not self.path.stat().st_size:
            return False
        with self.path.open("rb") as stream:
            stream.seek(-1, 2)
            return stream.read() != b"\n"
