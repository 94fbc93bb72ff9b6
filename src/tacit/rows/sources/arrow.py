"""Arrow columns as cells, and Parquet files as sources of them.

Private: the cells, and the statistics in a Parquet footer, which are not read. pyarrow's own errors
can quote a cell and are never passed on. pyarrow takes long to import, so this module is imported
where it is first needed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import parquet, types

from tacit.errors import DataError
from tacit.rows.encoding.cells import NUMBER, cell_number, not_numeric
from tacit.rows.encoding.labels import plain_labels
from tacit.rows.sources.file_kinds import FileState, unreadable
from tacit.rows.sources.source import Batch, Source, require_distinct, require_table
from tacit.rows.storage.tiles import Floats


def read_footer(path: Path) -> tuple[pa.Schema, int]:
    """Schema and length of a Parquet file."""
    schema, length = None, 0
    with (
        contextlib.suppress(pa.ArrowException, OSError, UnicodeDecodeError),
        parquet.ParquetFile(path) as file,
    ):
        schema, length = file.schema_arrow, file.metadata.num_rows
    if schema is None:
        raise unreadable(path)
    require_distinct(tuple(schema.names))
    return schema, length


@dataclass(frozen=True)
class ParquetSource(Source):
    """A Parquet file; its names, types and length are known from its footer.

    Guarantee
    ---------
    - Memory does not grow with the number of row groups.
    - No error contains a cell, in its text or in its context.
    """

    state: FileState
    types: Mapping[str, pa.DataType] = field(repr=False)

    @classmethod
    def open(cls, path: Path, response: str | None, fewest: int = 2) -> ParquetSource:
        """Read names and length, and remember the state of the file."""
        state = FileState.of(path)
        schema, length = read_footer(path)
        require_table(length, len(schema.names), fewest)
        return cls(
            state,
            {part.name: part.type for part in schema},
            names=tuple(schema.names),
            response=response,
            length=length,
            resident=False,
            typed_by="Parquet",
        )

    def batches(
        self, rows: int, *, numeric: Sequence[str], labels: Sequence[str]
    ) -> Iterator[Batch]:
        """Batches of the columns asked for; the file must have its length and not change."""

        def read() -> Iterator[pa.RecordBatch]:
            with parquet.ParquetFile(self.state.path, pre_buffer=False) as file:
                yield from file.iter_batches(batch_size=rows, columns=[*numeric, *labels])

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
    failed = False
    try:
        yield from read()
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        failed = True
    if failed:
        yield None


def arrow_batches(chunk: pa.RecordBatch, rows: int) -> Iterator[Batch]:
    """A record batch cut into batches of at most `rows` records."""
    for start in range(0, chunk.num_rows, rows):
        part = chunk.slice(start, rows)
        columns = dict(zip(part.schema.names, part.columns, strict=True))
        length = part.num_rows
        yield Batch(length, partial(_numeric, columns, length), partial(_labels, columns))


def _numeric(columns: Mapping[str, pa.Array], length: int, names: Sequence[str]) -> Floats:
    block = np.empty((length, len(names)), dtype=np.float64)
    for j, name in enumerate(names):
        block[:, j] = arrow_numbers(columns[name])
    return block


def _labels(columns: Mapping[str, pa.Array], name: str) -> NDArray[Any]:
    return arrow_labels(columns[name])


def require_types(
    given: Mapping[str, pa.DataType], numeric: Iterable[str], labels: Iterable[str]
) -> None:
    """Refuse dates, times and nested types for numbers, and nested ones for labels."""
    for name in numeric:
        kind = _value_type(given[name])
        if not (_is_number(kind) or _is_text(kind) or types.is_null(kind)):
            raise not_numeric(name)
    for name in labels:
        if types.is_nested(_value_type(given[name])):
            raise DataError(f"Column {name!r} holds nested values, which are no labels.")


def arrow_numbers(column: pa.Array) -> Floats:
    """Numbers of a column whose type has some; missing is NaN, infinite what is no number."""
    column = _plain(column)
    kind = column.type
    if types.is_boolean(kind):
        column = pc.cast(column, pa.uint8())
    elif not (_is_number(kind) or types.is_null(kind)):
        return _text_numbers(column)
    # The unchecked cast rounds large integers to nearest; the checked one would quote them.
    column = pc.cast(column, pa.float64(), safe=False)
    return column.to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def arrow_labels(column: pa.Array) -> NDArray[Any]:
    """Raw values of a column; missing is None, or NaN among floats."""
    column = _plain(column)
    kind = column.type
    numeric = types.is_integer(kind) or types.is_floating(kind)
    dated = types.is_date(kind) or types.is_timestamp(kind) or types.is_duration(kind)
    if dated or (numeric and column.null_count == 0):
        # Not as Python's dates, which end in the year 9999.
        return plain_labels(column.to_numpy(zero_copy_only=False))
    return np.fromiter(_cells(column), dtype=object, count=len(column))


def _text_numbers(column: pa.Array) -> Floats:
    """Numbers that texts spell, as `cell_number` reads each; most of them at once."""
    try:
        text = pc.utf8_trim(pc.cast(column, pa.string()), " \t")
        spelt = pc.fill_null(pc.match_substring_regex(text, f"^{NUMBER}$"), fill_value=False)
        found = pc.cast(pc.if_else(spelt, text, None), pa.float64())
        numbers = np.array(found.to_numpy(zero_copy_only=False))
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


def _value_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if types.is_dictionary(kind) else kind


def _is_number(kind: pa.DataType) -> bool:
    number = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    return bool(number or types.is_boolean(kind))


def _is_text(kind: pa.DataType) -> bool:
    text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    binary = types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind)
    return bool(text or binary or types.is_fixed_size_binary(kind))
