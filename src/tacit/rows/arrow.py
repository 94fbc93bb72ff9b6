"""A pyarrow record batch as a batch: what CSV and Parquet files are read into.

Private: the cells. Text of pyarrow's own errors can quote a cell and is never passed on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.rows.cells import not_numeric
from tacit.rows.labels import plain_labels

if TYPE_CHECKING:
    import pyarrow as pa


NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
"""A decimal number, as a CSV file spells it."""


@dataclass(frozen=True)
class ArrowBatch:
    """Columns of a record batch by name."""

    columns: Mapping[str, pa.Array] = field(repr=False)
    length: int

    def numeric(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Columns side by side as float64."""
        block = np.empty((self.length, len(names)), dtype=np.float64)
        for j, name in enumerate(names):
            block[:, j] = _numbers(self.columns[name], name)
        return block

    def labels(self, name: str) -> NDArray[Any]:
        """Raw values of one column."""
        import pyarrow as pa

        column = _plain(self.columns[name])
        kind = column.type
        numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        if numeric and column.null_count == 0:
            return plain_labels(column.to_numpy(zero_copy_only=False))
        return np.fromiter(column.to_pylist(), dtype=object, count=len(column))


def arrow_chunks(
    read: Callable[[], Iterable[pa.RecordBatch]],
) -> Iterator[pa.RecordBatch | None]:
    """Record batches of a reader; a last None stands for whatever error pyarrow had.

    An error is not raised from here, where it would carry pyarrow's text along as its context.
    """
    import pyarrow as pa

    failed = False
    try:
        yield from read()
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        failed = True
    if failed:
        yield None


def arrow_batches(chunk: pa.RecordBatch, rows: int) -> Iterator[ArrowBatch]:
    """A record batch cut into batches of at most `rows` records."""
    for start in range(0, chunk.num_rows, rows):
        part = chunk.slice(start, rows)
        columns = dict(zip(part.schema.names, part.columns, strict=True))
        yield ArrowBatch(columns, part.num_rows)


def numbers_of_text(chunk: pa.RecordBatch, names: Sequence[str]) -> pa.RecordBatch:
    """The record batch with these columns of text as numbers; what spells none is missing.

    Spellings are those that a CSV reader takes for a finite number.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in names:
        place = chunk.schema.names.index(name)
        text = pc.utf8_trim(chunk.column(place), " \t")
        spelt = pc.if_else(pc.match_substring_regex(text, NUMBER), text, None)
        chunk = chunk.set_column(place, name, pc.cast(spelt, pa.float64()))
    return chunk


def _plain(column: pa.Array) -> pa.Array:
    import pyarrow as pa

    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _numbers(column: pa.Array, name: str) -> NDArray[np.float64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    column = _plain(column)
    kind = column.type
    if pa.types.is_boolean(kind):
        column = pc.cast(column, pa.uint8())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind)):
        raise not_numeric(name)
    # The unchecked cast rounds large integers to nearest; the checked one would quote them.
    column = pc.cast(column, pa.float64(), safe=False)
    numbers: NDArray[np.float64] = column.to_numpy(zero_copy_only=False)
    return numbers
