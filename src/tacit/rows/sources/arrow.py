"""Arrow columns as cells, Parquet files as sources of them, and lines of CSV read by pyarrow.

Private: the cells, and the statistics in a Parquet footer, which are not read. pyarrow's own errors can quote a cell
and are never passed on. pyarrow takes long to import, so this module is imported where it is first needed.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv, types

from tacit.design.reading import FileFormat
from tacit.errors import DataError
from tacit.rows.encoding.cells import MISSING_WORDS, NUMBER, cell_number, not_numeric, plain_labels
from tacit.rows.sources import source as sources
from tacit.rows.sources.source import Batch, ColumnKind, FileState, Names, Source, unreadable
from tacit.rows.storage.tiles import Floats

BLOCK_BYTES = 1 << 20
NUMBERS = "integer", "floating", "decimal", "boolean"
TEXTS = "string", "large_string", "string_view"
BYTES = "binary", "large_binary", "binary_view", "fixed_size_binary"


@contextlib.contextmanager
def parquet_file(path: Path) -> Iterator[Any]:
    """Open a Parquet file; its name may be any bytes, where pyarrow takes a text for UTF-8."""
    from pyarrow import parquet

    with pa.OSFile(os.fsencode(path)) as raw, parquet.ParquetFile(raw, pre_buffer=False) as file:
        yield file


def group_lengths(path: Path) -> list[int]:
    """Number of records of every row group of a Parquet file."""
    lengths: list[int] | None = None
    with contextlib.suppress(pa.ArrowException, OSError, UnicodeDecodeError), parquet_file(path) as file:
        metadata = file.metadata
        lengths = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    if lengths is None:
        raise unreadable(path)
    return lengths


def read_footer(path: Path) -> tuple[pa.Schema, int]:
    """Schema and length of a Parquet file."""
    schema, length = None, 0
    with contextlib.suppress(pa.ArrowException, OSError, UnicodeDecodeError), parquet_file(path) as file:
        schema, length = file.schema_arrow, file.metadata.num_rows
    if schema is None:
        raise unreadable(path)
    sources.require_distinct(tuple(schema.names))
    return schema, length


@dataclass(frozen=True)
class ParquetSource(Source):
    """A Parquet file; its names, types and length are known from its footer.

    Guarantee: memory does not grow with the number of row groups. No error has a cell in its text or its context.
    """

    state: FileState
    types: Mapping[str, pa.DataType] = field(repr=False)
    groups: tuple[int, int] | None = None
    """The row groups first, …, stop - 1 that are read; None for all."""

    @classmethod
    def open(cls, path: Path, response: str | None, fewest: int = 2) -> ParquetSource:
        """Read names and length, and remember the state of the file."""
        state = FileState.of(path)
        schema, length = read_footer(path)
        sources.require_table(length, len(schema.names), fewest)
        return cls(
            state,
            {part.name: part.type for part in schema},
            names=tuple(schema.names),
            response=response,
            length=length,
            resident=False,
            typed_by=sources.FOOTER,
        )

    def text_among(self, names: Names) -> list[str]:
        """Those of the columns whose type in the footer is text."""
        return [name for name in names if name in self.types and is_text_type(self.types[name])]

    def batches(self, rows: int, *, numeric: Names, labels: Names) -> Iterator[Batch]:
        """Batches of the columns asked for; the file must have its length and not change."""

        def read() -> Iterator[pa.RecordBatch]:
            groups = None if self.groups is None else range(*self.groups)
            with parquet_file(self.state.path) as file:
                yield from file.iter_batches(batch_size=rows, row_groups=groups, columns=[*numeric, *labels])

        self.state.require_unchanged()
        require_types(self.types, numeric, labels)
        seen = 0
        for chunk in arrow_chunks(read):
            if chunk is None:
                self.state.require_unchanged()
                raise unreadable(self.state.path)
            seen += chunk.num_rows
            yield from arrow_batches(chunk, rows)
        self.state.require_unchanged()
        if seen != self.length:
            raise unreadable(self.state.path)


def arrow_chunks(read: Callable[[], Iterable[pa.RecordBatch]]) -> Iterator[pa.RecordBatch | None]:
    """Record batches of a reader; a last None stands for whatever error pyarrow had.

    An error is not raised from here, where it would carry pyarrow's text along as its context.
    """
    with contextlib.suppress(pa.ArrowException, OSError, UnicodeDecodeError):
        yield from read()
        return
    yield None


def arrow_batches(chunk: pa.RecordBatch, rows: int) -> Iterator[Batch]:
    """A record batch cut into batches of at most `rows` records."""
    for start in range(0, chunk.num_rows, rows):
        part = chunk.slice(start, rows)
        columns = dict(zip(part.schema.names, part.columns, strict=True))
        labels = partial(lambda columns, name: arrow_labels(columns[name]), columns)
        yield Batch(part.num_rows, partial(_numeric, columns, part.num_rows), labels)


def _numeric(columns: Mapping[str, pa.Array], length: int, names: Names) -> Floats:
    block = np.empty((length, len(names)), dtype=np.float64)
    for j, name in enumerate(names):
        block[:, j] = arrow_numbers(columns[name])
    return block


def parse_lines(
    lines: bytes, count: int, names: Names, numeric: Names, labels: Names, written: FileFormat | None = None
) -> list[pa.RecordBatch]:
    """Columns of so many lines, at once, or as text first where a number is spelt otherwise."""
    if count == 0:
        return []
    written = written or FileFormat()
    mark = written.delimiter or ","
    # With names of our own, the file's may hold anything, and a mark of byte order stays a part of a cell.
    places = {name: f"f{place}" for place, name in enumerate(names)}

    def read(number: pa.DataType, block: int) -> pa.Table:
        types = dict.fromkeys((places[name] for name in numeric), number)
        types |= dict.fromkeys((places[name] for name in labels), pa.string())
        table = csv.read_csv(
            pa.BufferReader(mark.join(places.values()).encode() + b"\n" + lines),
            read_options=csv.ReadOptions(block_size=block),
            parse_options=csv.ParseOptions(delimiter=mark, newlines_in_values=False, ignore_empty_lines=False),
            convert_options=csv.ConvertOptions(
                column_types=types,
                include_columns=[places[name] for name in (*numeric, *labels)],
                null_values=sorted(MISSING_WORDS),
                strings_can_be_null=False,
                decimal_point=written.decimal,
            ),
        )
        return table.rename_columns([*numeric, *labels])

    table = None
    with contextlib.suppress(pa.ArrowInvalid):
        table = read(pa.float64(), BLOCK_BYTES)
    if table is None or not all(_settled(table.column(name)) for name in numeric):
        # What is not spelt as a finite number or as missing is read as `text_number` reads it. In
        # one block: pyarrow raises for a line that lies in more than two.
        table = read(pa.string(), max(BLOCK_BYTES, len(lines)))
        if written.decimal != ".":
            # A point is no part of a number here, as it is none to pyarrow.
            for place, name in enumerate(numeric):
                spelt = pc.replace_substring(pc.replace_substring(table.column(name), ".", "?"), written.decimal, ".")
                table = table.set_column(place, name, spelt)
    if table.num_rows != count:
        raise RuntimeError("Lines and records differ in number.")
    return table.to_batches()  # type: ignore[no-any-return]


def _settled(column: pa.ChunkedArray) -> bool:
    """Whether the numbers are finite wherever they are not missing."""
    finite = sum(np.isfinite(_floats(part)).sum() for part in column.chunks)
    return bool(finite + column.null_count == len(column))


def require_types(given: Mapping[str, pa.DataType], numeric: Iterable[str], labels: Iterable[str]) -> None:
    """Refuse dates, times and nested types for numbers, and nested ones for labels."""
    for name in numeric:
        if not _is(_value_type(given[name]), *NUMBERS, *TEXTS, *BYTES, "null"):
            raise not_numeric(name)
    for name in labels:
        if types.is_nested(_value_type(given[name])):
            raise DataError(f"Column {name!r} holds nested values, which are no labels.")


def arrow_numbers(column: pa.Array) -> Floats:
    """Numbers of a column whose type has some; missing is NaN, infinite what is no number."""
    column = _plain(column)
    if types.is_boolean(column.type):
        column = pc.cast(column, pa.uint8())
    elif not _is(column.type, *NUMBERS, "null"):
        return _text_numbers(column)
    # The unchecked cast rounds large integers to nearest; the checked one would quote them.
    return _floats(pc.cast(column, pa.float64(), safe=False))


def _floats(column: pa.Array) -> Floats:
    """Values of float64; missing is NaN. pyarrow's own way would load pandas."""
    if column.null_count:
        column = pc.fill_null(column, math.nan)
    if not len(column):
        return np.empty(0)
    return np.frombuffer(column.buffers()[1], np.float64, len(column), 8 * column.offset)


def arrow_labels(column: pa.Array) -> NDArray[Any]:
    """Raw values of a column; missing is None, or NaN among floats."""
    column = _plain(column)
    numeric = column.null_count == 0 and _is(column.type, "integer", "floating")
    if types.is_timestamp(column.type) and column.type.tz is not None:
        column = _in_its_zone(column)
    if numeric or _is(column.type, "date", "timestamp", "duration"):
        # Not as Python's dates, which end in the year 9999.
        return plain_labels(column.to_numpy(zero_copy_only=False))
    return np.fromiter(_cells(column), dtype=object, count=len(column))


def _in_its_zone(column: pa.Array) -> pa.Array:
    """Times as clocks of their zone show them, as pandas reads them; in UTC where this machine does not know the zone.

    Guarantee: the type alone decides whether the zone is known, and no cell raises.
    """
    with contextlib.suppress(pa.ArrowException):
        return pc.local_timestamp(column)
    return column


def _text_numbers(column: pa.Array) -> Floats:
    """Numbers that texts spell, as `cell_number` reads each; most of them at once."""
    try:
        text = pc.utf8_trim(pc.cast(column, pa.string()), " \t")
        spelt = pc.fill_null(pc.match_substring_regex(text, f"^{NUMBER}$"), fill_value=False)
        found = pc.cast(pc.if_else(spelt, text, None), pa.float64())
        numbers = np.array(_floats(found))
        others = ~spelt.to_numpy(zero_copy_only=False)
        rest = column.filter(pa.array(others)).to_pylist()
        numbers[others] = np.fromiter(map(cell_number, rest), np.float64, len(rest))
    except (pa.ArrowException, UnicodeDecodeError):
        return np.fromiter(map(cell_number, _cells(column)), np.float64, len(column))
    return numbers


def _cells(column: pa.Array) -> list[Any]:
    """Cells as Python's objects; text that is none as its bytes."""
    try:
        return column.to_pylist()  # type: ignore[no-any-return]
    except (pa.ArrowException, ValueError, OverflowError):
        return [_cell(column[index]) for index in range(len(column))]


def _cell(scalar: pa.Scalar) -> Any:
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        return scalar.as_buffer().to_pybytes()
    except (pa.ArrowException, ValueError, OverflowError):
        return []  # No number and no label.


def _plain(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if types.is_dictionary(column.type) else column


def arrow_kind(kind: pa.DataType) -> ColumnKind:
    """The kind of a column by its type."""
    kind = _value_type(kind)
    kinds: dict[ColumnKind, tuple[str, ...]] = {
        "boolean": ("boolean",),
        "numeric": ("integer", "floating"),
        "date": ("temporal",),
        "text": TEXTS,
    }
    return next((name for name, families in kinds.items() if _is(kind, *families)), "other")


def is_text_type(kind: pa.DataType) -> bool:
    """Whether a type is text, or categories that are text."""
    return _is(_value_type(kind), *TEXTS, *BYTES)


def _value_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if types.is_dictionary(kind) else kind


def _is(kind: pa.DataType, *families: str) -> bool:
    return any(getattr(types, f"is_{family}")(kind) for family in families)


def table_of(columns: Mapping[str, Sequence[Any]]) -> pa.Table:
    """A table of public values by column."""
    return pa.table(dict(columns))
