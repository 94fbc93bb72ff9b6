"""What a table must offer to be read: named columns in batches of records, attached ones too.

Private: every value a batch hands out. Public: the names of the columns.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError, FileError, SchemaError
from tacit.rows.encoding.cells import to_float64
from tacit.rows.storage.tiles import Floats, Integers

Names = Sequence[str]
ColumnKind = Literal["numeric", "boolean", "text", "date", "other", "unknown"]
FILE_KINDS = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz", ".parquet")
SPREADSHEETS = (".xlsx", ".xls", ".ods", ".numbers")


class SparseRows(NamedTuple):
    """Records as CSR has them: record r holds values[starts[r] : starts[r + 1]].

    Within a record the columns in `indices` increase. One outside of the table makes the record invalid.
    """

    starts: Integers
    indices: Integers
    values: Floats


@dataclass(frozen=True)
class Batch:
    """Some consecutive records of a source.

    `numeric` gives named columns as a C-contiguous matrix; missing is NaN, what is no number
    infinite. `labels` gives the raw values of a column, of any dtype; missing is None or NaN.
    """

    length: int
    numeric: Callable[[Names], Floats] = field(repr=False)
    labels: Callable[[str], NDArray[Any]] = field(repr=False)
    sparse_rows: Callable[[], SparseRows] | None = field(default=None, repr=False)


FOOTER = "Parquet"
"""Files that state the types of their columns themselves."""


@dataclass(frozen=True, kw_only=True)
class Source(ABC):
    """A table that can be read again and again from its first record.

    Guarantee: `batches` starts at the first record each time and keeps the order of the records. A batch has at least
    one record and at most `rows`; of a resident source, exactly `rows` except the last. No content of a record raises,
    nor changes how another record is read: a cell that is no number is infinite where one is asked for, and one that is
    no label is missing. A column is refused by its type alone, before its first record.

    Attached columns are not among the `names`. `length` is None where it is not known without reading values. A
    `resident` table is in memory. `typed_by` is the library that gave the columns their types; None of text.
    """

    names: tuple[str, ...]
    response: str | None = None
    length: int | None = None
    resident: bool = True
    typed_by: str | None = None

    @abstractmethod
    def batches(self, rows: int, *, numeric: Names, labels: Names) -> Iterator[Batch]:
        """Batches that can answer for these columns and no others."""

    def text_among(self, _names: Names) -> list[str]:
        """Those of the columns whose type is text, by the type alone; none of a table without types, as a CSV file."""
        return []


@dataclass(frozen=True)
class AttachedSource(Source):
    """A table and attached columns (response, weights, persons), read as if they were its own.

    Guarantee: a batch holds the same records of the table and of the attached columns. Its text shows no cell.

    `known_as` has the name of an attached column by the caller's word for it, `types` its library.
    """

    table: Source = field(repr=False)
    columns: Mapping[str, NDArray[Any]] = field(repr=False)
    known_as: Mapping[str, str]
    types: Mapping[str, str | None]
    texts: frozenset[str] = frozenset()
    """The attached columns whose type is text."""

    def text_among(self, names: Names) -> list[str]:
        """Those of the columns whose type is text, attached ones too."""
        of_table = self.table.text_among([name for name in names if name not in self.columns])
        return [name for name in names if name in self.texts or name in of_table]

    def batches(self, rows: int, *, numeric: Names, labels: Names) -> Iterator[Batch]:
        """Batches of the table, which answer for the attached columns too."""
        start = 0
        numeric = [name for name in numeric if name not in self.columns]
        labels = [name for name in labels if name not in self.columns]
        for batch in self.table.batches(rows, numeric=numeric, labels=labels):
            numbers, raw = partial(self._numeric, batch, start), partial(self._labels, batch, start)
            yield Batch(batch.length, numbers, raw, batch.sparse_rows)
            start += batch.length

    def _labels(self, batch: Batch, start: int, name: str) -> NDArray[Any]:
        if name in self.columns:
            return self.columns[name][start : start + batch.length]
        return batch.labels(name)

    def _numeric(self, batch: Batch, start: int, names: Names) -> Floats:
        inside = [j for j, name in enumerate(names) if name not in self.columns]
        if len(inside) == len(names):
            return batch.numeric(names)
        block = np.empty((batch.length, len(names)), dtype=np.float64)
        if inside:
            block[:, inside] = batch.numeric([names[j] for j in inside])
        for j, name in enumerate(names):
            if name in self.columns:
                block[:, j] = to_float64(self._labels(batch, start, name), name)
        return block


def attached_names(source: Source) -> Mapping[str, str]:
    """By the caller's word for an attached column, the name under which it is read."""
    return source.known_as if isinstance(source, AttachedSource) else {}


def column_types(source: Source) -> dict[str, str]:
    """Which libraries' types are taken as public: of the table, and of each attached column.

    A library may have looked at all records for a type, and have changed cells by it. Which type it
    is, is not said: one record can change that too. Lists and CSV files have no types.
    """
    attached = source.types if isinstance(source, AttachedSource) else {}
    found = {"columns of the table": source.typed_by, **attached}
    return {name: library for name, library in found.items() if library is not None}


def names_read(source: Source) -> tuple[str, ...]:
    """Every name the source answers to: the table's columns, the response, attached columns."""
    response = () if source.response is None else (source.response,)
    return tuple(dict.fromkeys((*source.names, *response, *attached_names(source).values())))


def require_columns(known: Sequence[str], wanted: Iterable[str], library: str | None = None) -> None:
    """Refuse columns that are not among the known ones, naming those; `library` is that of the table."""
    asked, there = list(dict.fromkeys(wanted)), frozenset(known)
    unknown = [name for name in asked if name not in there]
    missing = f"The table has no column {', '.join(map(repr, unknown))}"
    if len(asked) > 1 and len(unknown) == len(asked):
        # Nothing fits: the first line may be a record, which must not be quoted.
        raise SchemaError(f"{missing}, nor any other that is asked for. {_other_delimiter(known)}")
    if unknown:
        close = difflib.get_close_matches(unknown[0].lower(), [name.lower() for name in known], n=1)
        alike = [repr(name) for name in known if name.lower() in close][:1]
        guess = f" Is it {alike[0]}? Names must be equal in schema and table." if alike else ""
        index = " An index is no column: reset_index() makes it one." if library == "pandas" and not alike else ""
        raise SchemaError(f"{missing}. It has: {', '.join(map(repr, known))}.{guess}{index}")


def _other_delimiter(known: Sequence[str]) -> str:
    """What to do about names of which none fits, by the names alone; nothing of them is quoted."""
    if len(known) == 1:
        # One name, in which there is another delimiter than the declared one.
        for mark, spelt in ((";", ";"), ("\t", "tab"), ("|", "|"), (",", ",")):
            if mark in known[0]:
                where = f'declare delimiter = "{spelt}" under [file] in the schema'
                return f"Its first line holds one name only: if the columns are parted otherwise, {where}."
    return "Does it have names (a file in its first line; an array has none)?"


def require_distinct(names: Names) -> None:
    """Refuse a table in which a column name repeats."""
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise DataError(f"Column names must differ; repeated: {', '.join(map(repr, repeated))}. Rename the columns.")


def require_table(length: int, width: int, fewest: int = 2) -> None:
    """Refuse a table without columns or with too few records."""
    if width == 0:
        # In scikit-learn's words, but for the number of records, which no message holds.
        raise DataError("The table has no columns: 0 feature(s) (shape=(, 0)) while a minimum of 1 is required.")
    require_records(length, fewest)


def require_records(length: int, fewest: int = 2) -> None:
    """Refuse fewer records than a fit needs, where their number is public (else `fewest` is 0)."""
    if length < fewest:
        raise DataError(f"The table has fewer than {fewest} records; a fit needs more than one sample.")


def file_kind(path: Path) -> str:
    """The ending of a file's name that says how it is read."""
    found = [kind for kind in FILE_KINDS if path.name.lower().endswith(kind)]
    if not found:
        advice = " Save a spreadsheet as CSV." if path.suffix.lower() in SPREADSHEETS else ""
        raise FileError(f"{path.name!r} is not a kind of file that is read: {', '.join(FILE_KINDS)}.{advice}")
    return found[0]


def unreadable(path: Path) -> FileError:
    """The error for a file whose content is not what its name says."""
    return FileError(f"{path.name!r} cannot be read: it is damaged, cut short or of another kind.")


@dataclass(frozen=True)
class FileState:
    """What the file system says of a file; a write in between changes it."""

    path: Path
    inode: int
    size: int
    modified: int

    @classmethod
    def of(cls, path: Path) -> FileState:
        """State of a file now; missing and forbidden files are refused here."""
        problem = "does not exist"
        with contextlib.suppress(OSError):
            status = path.stat()
            if path.is_file() and os.access(path, os.R_OK):
                return cls(path, status.st_ino, status.st_size, status.st_mtime_ns)
            problem = "may not be read" if path.is_file() else "is not a file"
        if re.match(r"[a-z][a-z0-9+.-]+:/", str(path)):
            problem = "is an address, and files of this machine are read: download it first"
        raise FileError(f"{path.name!r} {problem}.")

    def require_unchanged(self) -> None:
        """Refuse a file that was replaced or written to since it was opened."""
        if FileState.of(self.path) != self:
            raise FileError(f"{self.path.name!r} changed while it was being read; start again.")
