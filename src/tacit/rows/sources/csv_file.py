"""A CSV file as a source: streamed, with the types the design asks for.

Private: the cells. Nothing is inferred from values: numeric columns are read as float64, label
columns as text, so the spelling of one cell cannot change the type of a column.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from tacit.errors import SchemaError
from tacit.rows.encoding.cells import MISSING_WORDS
from tacit.rows.sources.arrow import arrow_batches
from tacit.rows.sources.csv_lines import line_chunks, read_header, regular
from tacit.rows.sources.file_kinds import FileState, unreadable
from tacit.rows.sources.source import Batch, Source, require_distinct

BLOCK_BYTES = 1 << 20


@dataclass(frozen=True)
class CsvSource(Source):
    """A file with a line of names, then one record per line; `.csv` or `.csv.gz`.

    A numeric cell is a decimal number, or true or false; empty and the usual words for "missing"
    are missing. An empty label is missing.

    Guarantee
    ---------
    - Memory does not grow with the file.
    - There are as many records as lines after the first, and no content of a line raises or changes
      how another one is read. A line with more or fewer fields than names, with a quote left open
      or out of place, NUL, a CR inside, or more than 4 MiB is a record whose cells are all missing.
    - A file is refused by its first line, or where an archive's framing is damaged.
    """

    state: FileState

    @classmethod
    def open(cls, path: Path, response: str | None) -> CsvSource:
        """Read the header and remember the state of the file."""
        state = FileState.of(path)
        names = read_header(path)
        require_distinct(names)
        return cls(state, names=names, response=response, resident=False)

    def batches(
        self, rows: int, *, numeric: Sequence[str], labels: Sequence[str]
    ) -> Iterator[Batch]:
        """Batches of the columns asked for."""
        both = sorted(set(numeric) & set(labels))
        if both:
            raise SchemaError(f"Column {both[0]!r} is used as a number and as a label; use one.")
        parser = _Parser(self.names, tuple(numeric), tuple(labels))
        self.state.require_unchanged()
        for parsed in self._parsed(parser):
            for batch in parsed:
                yield from arrow_batches(batch, rows)
        self.state.require_unchanged()

    def _parsed(self, parser: _Parser) -> Iterator[list[pa.RecordBatch]]:
        """Record batches of one chunk after the other; the next is parsed while one is used."""
        header, waiting = True, None
        with ThreadPoolExecutor(1) as pool:
            for chunk in line_chunks(self.state.path):
                if chunk is None:
                    self.state.require_unchanged()
                    raise unreadable(self.state.path)
                records = chunk[chunk.index(b"\n") + 1 :] if header else chunk
                header = False
                job = pool.submit(parser.parse, records)
                if waiting is not None:
                    yield waiting.result()
                waiting = job
            if waiting is not None:
                yield waiting.result()


@dataclass(frozen=True)
class _Parser:
    """Lines to columns, by pyarrow: at once, or text first where a number is spelt otherwise."""

    names: tuple[str, ...]
    numeric: tuple[str, ...]
    labels: tuple[str, ...]

    def parse(self, records: bytes) -> list[pa.RecordBatch]:
        lines, count = regular(records, len(self.names))
        if count == 0:
            return []
        table = None
        with contextlib.suppress(pa.ArrowInvalid):
            table = self._read(lines, pa.float64(), BLOCK_BYTES)
        if table is None or not all(_settled(table.column(name)) for name in self.numeric):
            # What is not spelt as a finite number or as missing is read as `text_number` reads it.
            # In one block: pyarrow raises for a line that lies in more than two.
            table = self._read(lines, pa.string(), max(BLOCK_BYTES, len(lines)))
        if table.num_rows != count:
            raise RuntimeError("Lines and records differ in number.")
        return table.to_batches()  # type: ignore[no-any-return]

    def _read(self, lines: bytes, number: pa.DataType, block: int) -> pa.Table:
        # With names of our own, the file's may hold anything, and a mark of byte order at the start
        # of a chunk stays a part of a cell.
        places = {name: f"f{place}" for place, name in enumerate(self.names)}
        asked = (*self.numeric, *self.labels)
        types = dict.fromkeys((places[name] for name in self.numeric), number)
        types |= dict.fromkeys((places[name] for name in self.labels), pa.string())
        table = csv.read_csv(
            pa.BufferReader(",".join(places.values()).encode() + b"\n" + lines),
            read_options=csv.ReadOptions(block_size=block),
            parse_options=csv.ParseOptions(newlines_in_values=False, ignore_empty_lines=False),
            convert_options=csv.ConvertOptions(
                column_types=types,
                include_columns=[places[name] for name in asked],
                null_values=sorted(MISSING_WORDS),
                strings_can_be_null=False,
            ),
        )
        return table.rename_columns(list(asked))


def _settled(column: pa.ChunkedArray) -> bool:
    """Whether the numbers are finite wherever they are not missing."""
    finite = sum(np.isfinite(part.to_numpy(zero_copy_only=False)).sum() for part in column.chunks)
    return bool(finite + column.null_count == len(column))
