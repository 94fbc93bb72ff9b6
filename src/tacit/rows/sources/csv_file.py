"""A CSV file as a source: streamed, each line one record, with the types the design asks for.

Private: the bytes. A line ends with LF or CR LF; a quoted field does not span lines. Nothing is
inferred from values: numeric columns are read as float64, label columns as text, so the spelling of
one cell cannot change the type of a column. pyarrow takes long to import; the header needs none.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import FileError, SchemaError
from tacit.kernel_compilation import compiled
from tacit.rows.sources.source import Batch, FileState, Names, Source, require_distinct, unreadable
from tacit.rows.storage.tiles import Flags, Integers

CHUNK_BYTES = 4 << 20
LONGEST_LINE = 4 << 20
"""Bytes of a line beyond which it is no record, so that memory is bounded."""

_LF, _CR, _QUOTE, _COMMA = 10, 13, 34, 44


@dataclass(frozen=True)
class CsvSource(Source):
    """A file with a line of names, then one record per line; `.csv` or `.csv.gz`.

    A numeric cell is a decimal number, true, false, or one of the usual words for "missing".

    Guarantee: memory does not grow with the file. There are as many records as lines after the first, and no content of
    a line raises or changes how another one is read. A line with more or fewer fields than names, with a quote left
    open or out of place, NUL, a CR inside, or more than 4 MiB is a record whose cells are all missing. A file is
    refused by its first line, or where an archive's framing is damaged.
    """

    state: FileState

    @classmethod
    def open(cls, path: Path, response: str | None) -> CsvSource:
        """Read the header and remember the state of the file."""
        state = FileState.of(path)
        names = read_header(path)
        require_distinct(names)
        return cls(state, names=names, response=response, resident=False)

    def batches(self, rows: int, *, numeric: Names, labels: Names) -> Iterator[Batch]:
        """Batches of the columns asked for."""
        from tacit.rows.sources.arrow import arrow_batches, parse_lines

        both = sorted(set(numeric) & set(labels))
        if both:
            raise SchemaError(f"Column {both[0]!r} is used as a number and as a label; use one.")

        def parse(records: bytes) -> list[Any]:
            lines, count = regular(records, len(self.names))
            return parse_lines(lines, count, self.names, numeric, labels)

        self.state.require_unchanged()
        for parsed in self._parsed(parse):
            for batch in parsed:
                yield from arrow_batches(batch, rows)
        self.state.require_unchanged()

    def _parsed(self, parse: Callable[[bytes], list[Any]]) -> Iterator[list[Any]]:
        """Record batches of one chunk after the other; the next is parsed while one is used."""
        waiting: list[Future[list[Any]]] = []
        with ThreadPoolExecutor(1) as pool:
            for number, chunk in enumerate(line_chunks(self.state.path)):
                if chunk is None:
                    self.state.require_unchanged()
                    raise unreadable(self.state.path)
                # The first chunk begins with the names.
                waiting.append(pool.submit(parse, chunk if number else chunk[chunk.index(b"\n") + 1 :]))
                if len(waiting) > 1:
                    yield waiting.pop(0).result()
            yield from (job.result() for job in waiting)


def open_bytes(path: Path) -> Any:
    """The bytes of a file, unpacked where its name ends in `.gz`."""
    return gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb")


def read_header(path: Path) -> tuple[str, ...]:
    """Column names of a CSV file: its first line and nothing after it.

    Guarantee: whether the file is refused depends on its first line alone, and on the framing of an archive.
    """
    line, names = None, None
    with contextlib.suppress(OSError, EOFError, zlib.error), open_bytes(path) as stream:
        line = stream.readline(LONGEST_LINE)
    if line is not None and not line.strip():
        raise FileError(f"{path.name!r} is empty; a CSV file starts with a line of column names.")
    with contextlib.suppress(UnicodeDecodeError, csv.Error):
        # Strict, so that a quote left open is an error.
        text = (line or b"").decode("utf-8-sig").removesuffix("\n").removesuffix("\r")
        names = next(csv.reader([text], strict=True))
    if line is None:
        raise unreadable(path)
    if names is None or "\r" in text or "\0" in text or len(line) >= LONGEST_LINE:
        names_line = (
            "the names of the columns, in UTF-8, parted by commas, every quote closed, and end with LF or CR LF"
        )
        raise FileError(f"The first line of {path.name!r} must hold {names_line}.")
    return tuple(names)


def line_chunks(path: Path) -> Iterator[bytes | None]:
    """Whole lines of a file, all with LF, a few megabytes at a time; one too long is empty.

    A last None says that the disk failed, or that an archive's framing or checksums are damaged.
    """
    failed, too_long, rest = True, False, b""
    with contextlib.suppress(OSError, EOFError, zlib.error), open_bytes(path) as stream:
        while data := stream.read(CHUNK_BYTES):
            end = data.rfind(b"\n") + 1
            if end:
                # The end of a line that is too long is left out with its beginning.
                start = data.find(b"\n") if too_long else 0
                yield rest + data[start:end]
                rest, too_long = data[end:], False
            else:
                rest += data
            if too_long or len(rest) > LONGEST_LINE:
                rest, too_long = b"", True
        failed = False
    if failed:
        yield None
    elif rest or too_long:
        yield rest + b"\n"


def regular(lines: bytes, fields: int) -> tuple[bytes, int]:
    """The lines with those that are no record of so many fields emptied, and their number.

    A field holds no quote, or stands in quotes, in which a quote is doubled. There is no NUL in a
    record, and no CR but at its end. Bytes that are no UTF-8 become the replacement character.

    Guarantee: every line stays one line, and what becomes of it depends on that line alone.
    """
    if not lines.isascii():
        lines = lines.decode(errors="replace").encode()
    count = lines.count(b"\n")
    broken = np.zeros(count, dtype=np.bool_)
    ends = np.empty(count, dtype=np.int64)
    _scan(np.frombuffer(lines, dtype=np.uint8), fields, broken, ends)
    if not broken.any():
        return lines, count
    empty = b"," * (fields - 1) + b"\n" if fields > 1 else b'""\n'
    parts, start = [], 0
    for index in np.flatnonzero(broken).tolist():
        first = int(ends[index - 1]) + 1 if index else 0
        parts += [lines[start:first], empty]
        start = int(ends[index]) + 1
    return b"".join([*parts, lines[start:]]), count


@compiled
def _scan(lines: NDArray[np.uint8], fields: int, broken: Flags, ends: Integers) -> None:
    line = start = 0
    found, quoted, closed, bad = 1, False, False, False
    for place in range(lines.shape[0]):
        byte = lines[place]
        if byte > _COMMA:
            bad |= closed
        elif byte == _LF:
            length = place - start
            blank = length == 0 or (length == 1 and lines[start] == _CR)
            bad |= quoted or blank or found != fields or length > LONGEST_LINE
            broken[line] = bad
            ends[line] = place
            line += 1
            start = place + 1
            found, quoted, closed, bad = 1, False, False, False
        elif byte == _QUOTE:
            if closed:
                quoted, closed = True, False
            elif quoted:
                quoted, closed = False, True
            else:
                bad |= place > start and lines[place - 1] != _COMMA
                quoted = True
        elif byte == _COMMA:
            found += not quoted
            closed = False
        elif byte == _CR:
            bad |= quoted or lines[place + 1] != _LF
        else:
            bad |= closed or byte == 0
