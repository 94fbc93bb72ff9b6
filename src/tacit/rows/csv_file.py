"""A CSV file as a source: streamed, with the types the design asks for.

Private: the cells. Nothing is inferred from values: numeric columns are read as float64, label
columns as text, so the spelling of one cell cannot change the type of a column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tacit.errors import FileError, SchemaError
from tacit.rows.arrow import ArrowBatch, arrow_batches, arrow_chunks, numbers_of_text
from tacit.rows.cells import not_numeric
from tacit.rows.files import FileState, read_header, unreadable
from tacit.rows.lines import LineCounter
from tacit.rows.source import require_distinct

if TYPE_CHECKING:
    import pyarrow as pa

# A record must fit into one chunk of the file.
CHUNK_BYTES = 4 << 20
MISSING_NUMBERS = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None")

CellType = Literal["float64", "string"]


@dataclass(frozen=True)
class CsvSource:
    """A file with a line of names, then one record per line; `.csv` or `.csv.gz`.

    A numeric cell is a decimal number; empty and the usual words for "missing" are missing. An
    empty label is missing. The length is unknown before the file is read.

    Guarantee
    ---------
    - Memory does not grow with the file.
    - There are as many records as lines after the first, or the file is refused: no content of a
      line can change the number of records or how another line is read.
    - No error contains a cell, in its text or in its context.
    """

    state: FileState
    names: tuple[str, ...]
    response: str | None
    length: int | None = None
    resident: bool = False
    forgives: bool = False

    @classmethod
    def open(cls, path: Path, response: str | None) -> CsvSource:
        """Read the header and remember the state of the file."""
        state = FileState.of(path)
        names = read_header(path)
        require_distinct(names)
        return cls(state, names, response)

    def batches(
        self, rows: int, *, numeric: Sequence[str], labels: Sequence[str]
    ) -> Iterator[ArrowBatch]:
        """Batches of the columns asked for."""
        both = sorted(set(numeric) & set(labels))
        if both:
            raise SchemaError(f"Column {both[0]!r} is used as a number and as a label; use one.")
        types: dict[str, CellType] = dict.fromkeys(numeric, "float64")
        types |= dict.fromkeys(labels, "string")
        self.state.require_unchanged()
        records = 0
        with LineCounter(self.state.path) as counter:
            for chunk in self._chunks(types, counter):
                if chunk is None:
                    self.state.require_unchanged()
                    self._explain(types)
                    raise unreadable(self.state.path)
                records += chunk.num_rows
                yield from arrow_batches(chunk, rows)
        self.state.require_unchanged()
        if records != counter.lines - 1:
            raise FileError(
                f"{self.state.path.name!r} must have one record per line: no line break inside "
                "quotes, no quote left open, no empty line. Otherwise one record could swallow "
                "others."
            )

    def forgiving(self) -> CsvSource:
        """The same file; a cell that spells no number is missing where one is asked for."""
        return replace(self, forgives=True)

    def _chunks(
        self, types: Mapping[str, CellType], counter: LineCounter | None = None
    ) -> Iterator[pa.RecordBatch | None]:
        import pyarrow as pa
        from pyarrow import csv

        # Every cell is text until it is known to be a number, where others are to be forgiven.
        read_as: Mapping[str, CellType] = dict.fromkeys(types, "string") if self.forgives else types

        def read() -> Iterator[pa.RecordBatch]:
            with csv.open_csv(
                self.state.path if counter is None else counter,
                read_options=csv.ReadOptions(block_size=CHUNK_BYTES),
                parse_options=csv.ParseOptions(newlines_in_values=True),
                convert_options=csv.ConvertOptions(
                    column_types={name: pa.type_for_alias(kind) for name, kind in read_as.items()},
                    include_columns=list(types),
                    null_values=MISSING_NUMBERS,
                    strings_can_be_null=False,
                ),
            ) as reader:
                numeric = [name for name in types if types[name] != read_as[name]]
                for chunk in reader:
                    yield numbers_of_text(chunk, numeric)

        return arrow_chunks(read)

    def _explain(self, types: Mapping[str, CellType]) -> None:
        """Name the column that is to blame, if it is one: the one that cannot be read alone."""
        if not self._readable(dict.fromkeys(types, "string")):
            return
        for name, kind in types.items():
            if kind == "float64" and not self._readable({name: kind}):
                raise not_numeric(name)

    def _readable(self, types: Mapping[str, CellType]) -> bool:
        return all(chunk is not None for chunk in self._chunks(types))
