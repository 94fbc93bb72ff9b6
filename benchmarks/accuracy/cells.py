"""Finished work, one JSON line a cell, so that a run can be stopped and taken up again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

DIGITS = 6


@dataclass(frozen=True)
class Cell:
    """What a row of results is about.

    `epsilon` is None without privacy; `repetition` is None for the choice of settings.
    """

    method: str
    table: str
    epsilon: float | None
    repetition: int | None
    version: str


def rounded(value: Any) -> Any:
    """Round numbers in nested mappings: a row is read by people too."""
    if isinstance(value, Mapping):
        return {key: rounded(inner) for key, inner in value.items()}
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


class Store:
    """Rows in a file, each appended when it is finished."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows: dict[Cell, dict[str, Any]] = {}
        torn = False
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                try:
                    cell, row = self._parse(line)
                except (json.JSONDecodeError, KeyError):
                    # The run was ended while it wrote this line.
                    torn = True
                    continue
                self._rows[cell] = row
        if torn:
            self._write()

    @staticmethod
    def _parse(line: str) -> tuple[Cell, dict[str, Any]]:
        document = json.loads(line)
        cell = Cell(**{name: document.pop(name) for name in Cell.__dataclass_fields__})
        return cell, document

    def __contains__(self, cell: Cell) -> bool:
        return cell in self._rows

    def __getitem__(self, cell: Cell) -> dict[str, Any]:
        return self._rows[cell]

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, cell: Cell, row: Mapping[str, Any]) -> None:
        """Keep a finished row, on disk before the next begins."""
        self._rows[cell] = rounded(row)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(self._line(cell) + "\n")

    def drop(self, unwanted: Callable[[Cell], bool]) -> int:
        """Forget rows, so that they are run again; return how many."""
        gone = [cell for cell in self._rows if unwanted(cell)]
        for cell in gone:
            del self._rows[cell]
        if gone:
            self._write()
        return len(gone)

    def _line(self, cell: Cell) -> str:
        return json.dumps({**asdict(cell), **self._rows[cell]})

    def _write(self) -> None:
        lines = [self._line(cell) + "\n" for cell in self._rows]
        fresh = self.path.with_suffix(".new")
        fresh.write_text("".join(lines), encoding="utf-8")
        fresh.replace(self.path)
