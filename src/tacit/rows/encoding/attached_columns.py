"""Columns given beside a table: a response, weights, exposures, persons, as sequences of cells.

Private: the cells. Public: the names the columns go by.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.rows.encoding.cells import to_float64
from tacit.rows.sources.arrays import as_column, typed_by
from tacit.rows.sources.source import (
    Batch,
    Source,
    readable_names,
    require_columns,
    separate_response_name,
)


@dataclass(frozen=True)
class BesideSource:
    """A table and columns beside it, read as if they were columns of the table.

    Guarantee
    ---------
    - A batch holds the same records of the table and of the columns beside it.
    - Its text shows no cell.
    """

    table: Source = field(repr=False)
    response: str | None
    columns: Mapping[str, NDArray[Any]] = field(repr=False)
    known_as: Mapping[str, str]
    """By the caller's word for a column, the name under which it is read."""
    types: Mapping[str, str | None]
    """Which library gave a column beside the table its type."""

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of the table; those beside it are not among them."""
        return self.table.names

    @property
    def length(self) -> int | None:
        """Number of records where it is known without reading values."""
        return self.table.length

    @property
    def resident(self) -> bool:
        """Whether the table lies in memory already."""
        return self.table.resident

    def batches(
        self, rows: int, *, numeric: Sequence[str], labels: Sequence[str]
    ) -> Iterator[BesideBatch]:
        """Batches of the table, which answer for the columns beside it too."""
        start = 0
        for batch in self.table.batches(
            rows,
            numeric=[name for name in numeric if name not in self.columns],
            labels=[name for name in labels if name not in self.columns],
        ):
            yield BesideBatch(batch, self.columns, start)
            start += batch.length

    @property
    def typed_by(self) -> str | None:
        """Which library gave the columns of the table their types."""
        return self.table.typed_by


@dataclass(frozen=True)
class BesideBatch:
    """A batch of the table, and where its records start in the columns beside it."""

    table: Batch = field(repr=False)
    columns: Mapping[str, NDArray[Any]] = field(repr=False)
    start: int

    @property
    def length(self) -> int:
        """Number of records."""
        return self.table.length

    def numeric(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Columns of the table and beside it as float64; a view where the table gives one."""
        if self.columns.keys().isdisjoint(names):
            return self.table.numeric(names)
        block = np.empty((self.length, len(names)), dtype=np.float64)
        inside = [j for j, name in enumerate(names) if name not in self.columns]
        if inside:
            block[:, inside] = self.table.numeric([names[j] for j in inside])
        for j, name in enumerate(names):
            if name in self.columns:
                block[:, j] = to_float64(self.labels(name), name)
        return block

    def labels(self, name: str) -> NDArray[Any]:
        """Raw values of a column of the table or beside it."""
        if name in self.columns:
            return self.columns[name][self.start : self.start + self.length]
        return self.table.labels(name)


def with_columns(table: Source, response: Any, beside: Mapping[str, Any]) -> Source:
    """The table with a separate response and other columns beside it, where there are any.

    A column in `beside` is a sequence, the name of a column of the table, or None for none. It goes
    by the caller's word for it, underscored until nothing else is called so; `names_beside` tells.
    """
    given = {word: cells for word, cells in beside.items() if cells is not None}
    if response is None and not given:
        return table
    require_columns(readable_names(table), [cells for cells in given.values() if _is_name(cells)])
    if not table.resident and not all(map(_is_name, given.values())):
        raise DataError(
            "What stands beside the records of a file must be columns of the file: give their "
            "names in place of arrays."
        )
    length = table.length or 0
    name = table.response
    columns: dict[str, NDArray[Any]] = {}
    types: dict[str, str | None] = {}
    if response is not None:
        name = separate_response_name(table.names)
        columns[name], types[name] = as_column(response, "The response", length), typed_by(response)
    known_as: dict[str, str] = {}
    for word, cells in given.items():
        known_as[word] = cells if _is_name(cells) else _unused(word, (*table.names, *columns))
        if not _is_name(cells):
            columns[known_as[word]] = as_column(cells, repr(word), length)
            types[known_as[word]] = typed_by(cells)
    return BesideSource(table, name, columns, known_as, types)


def names_beside(source: Source) -> Mapping[str, str]:
    """By the caller's word for a column beside the table, the name under which it is read.

    Examples
    --------
    >>> from tacit.rows.sources.opening import open_source
    >>> names_beside(open_source([[1.0], [2.0]], beside={"unit": ["a", "b"], "order": None}))
    {'unit': 'unit'}
    """
    return source.known_as if isinstance(source, BesideSource) else {}


def column_types(source: Source) -> dict[str, str]:
    """Whose types are taken as given: of the table's columns, and of each column beside them.

    A library that gave a column one type before it came here may have looked at all records for it,
    and have changed cells beside one of another type (pandas makes floats of integers beside a
    missing one). What it made of them is taken as public. Which type it is, is not said: one record
    can change that too. Lists and CSV files have no types, and are not listed.

    Examples
    --------
    >>> from tacit.rows.sources.opening import open_source
    >>> column_types(open_source(np.zeros((2, 1)), response=["a", "b"]))
    {'columns of the table': 'numpy'}
    """
    found = {"columns of the table": source.typed_by}
    if isinstance(source, BesideSource):
        found |= source.types
    return {name: library for name, library in found.items() if library is not None}


def names_read(source: Source) -> tuple[str, ...]:
    """Every name the source answers to: columns of the table, the response, columns beside it."""
    return tuple(dict.fromkeys((*readable_names(source), *names_beside(source).values())))


def _is_name(cells: object) -> bool:
    return isinstance(cells, str)


def _unused(word: str, taken: Sequence[str]) -> str:
    while word in taken:
        word += "_"
    return word
