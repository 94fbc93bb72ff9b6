"""A Parquet file as a source: the columns asked for, streamed.

Private: the cells and the footer's statistics, which are not read.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from tacit.rows.sources.arrow import arrow_batches, arrow_chunks, require_types
from tacit.rows.sources.files import FileState, unreadable
from tacit.rows.sources.source import Batch, Source, require_distinct, require_table


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
        schema, length = None, 0
        with (
            contextlib.suppress(pa.ArrowException, OSError, UnicodeDecodeError),
            parquet.ParquetFile(path) as file,
        ):
            schema, length = file.schema_arrow, file.metadata.num_rows
        if schema is None:
            raise unreadable(path)
        names = tuple(schema.names)
        require_distinct(names)
        require_table(length, len(names), fewest)
        types = {part.name: part.type for part in schema}
        facts: dict[str, Any] = {"length": length, "resident": False, "typed_by": "Parquet"}
        return cls(state, types, names=names, response=response, **facts)

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
