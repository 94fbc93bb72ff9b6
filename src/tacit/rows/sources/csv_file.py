"""A text file as a source: streamed, each line one record, with the types the design asks for.

Private: the bytes. A line ends with LF or CR LF; a quoted field does not span lines. Nothing is
inferred from values: numeric columns are read as float64, label columns as text, so the spelling of
one cell cannot change the type of a column. pyarrow takes long to import; the header needs none.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import gzip
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.design.reading import FileFormat
from tacit.errors import FileError, SchemaError
from tacit.kernel_compilation import compiled
from tacit.rows.sources.source import Batch, FileState, Names, Source, require_distinct, unreadable
from tacit.rows.storage.tiles import Flags, Integers

CHUNK_BYTES = 4 << 20
LONGEST_LINE = 4 << 20
"""Bytes of a line beyond which it is no record, so that memory is bounded."""

_LF, _CR, _QUOTE = 10, 13, 34
DELIMITERS = (";", "\t", "|")
"""What parts columns beside commas, by how often it is met."""
UTF_16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class CsvSource(Source):
    """A file with a line of names, then one record per line; `.csv`, `.tsv` or `.txt`, packed with `.gz` or not.

    A numeric cell is a decimal number, true, false, or one of the usual words for "missing". Delimiter, decimal mark
    and encoding are those of the declared format.

    Guarantee: memory does not grow with the file. There are as many records as lines after the first, and no content of
    a line raises or changes how another one is read. A line with more or fewer fields than names, with a quote left
    open or out of place, NUL, a CR inside, or more than 4 MiB is a record whose cells are all missing. A file is
    refused by its first line, or where an archive's framing is damaged.
    """

    state: FileState
    format: FileFormat

    @classmethod
    def open(cls, path: Path, response: str | None, written: FileFormat | None = None) -> CsvSource:
        """Read the header and remember the state of the file."""
        state, written = FileState.of(path), format_of(path, written)
        names = read_header(path, written)
        require_distinct(names)
        return cls(state, written, names=names, response=response, resident=False)

    def batches(self, rows: int, *, numeric: Names, labels: Names) -> Iterator[Batch]:
        """Batches of the columns asked for."""
        from tacit.rows.sources.arrow import arrow_batches, parse_lines

        both = sorted(set(numeric) & set(labels))
        if both:
            raise SchemaError(f"Column {both[0]!r} is used as a number and as a label; use one.")

        def parse(records: bytes) -> list[Any]:
            lines, count = regular(records, len(self.names), self.format)
            return parse_lines(lines, count, self.names, numeric, labels, self.format)

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


def format_of(path: Path, declared: FileFormat | None = None) -> FileFormat:
    """The declared format with the delimiter of a file's name where none is declared."""
    declared = declared or FileFormat()
    by_name = "\t" if path.name.lower().endswith((".tsv", ".tsv.gz")) else ","
    return declared if declared.delimiter is not None else replace(declared, delimiter=by_name)


def first_line(path: Path) -> bytes:
    """Read the first line of a file and nothing after it."""
    line = None
    with contextlib.suppress(OSError, EOFError, zlib.error), open_bytes(path) as stream:
        line = stream.readline(LONGEST_LINE)
    if line is None:
        raise unreadable(path)
    if line.startswith(UTF_16):
        raise FileError(f"{path.name!r} is written in UTF-16; save it as UTF-8.")
    if not line.strip():
        raise FileError(f"{path.name!r} is empty; a CSV file starts with a line of column names.")
    return bytes(line)


def read_header(path: Path, written: FileFormat | None = None) -> tuple[str, ...]:
    """Column names of a text file: its first line and nothing after it.

    Guarantee: whether the file is refused depends on its first line alone, and on the framing of an archive.
    """
    line, names, text, written = first_line(path), None, None, format_of(path, written)
    encoding = "utf-8-sig" if written.encoding == "utf-8" else written.encoding
    if line.startswith(codecs.BOM_UTF8) and encoding != "utf-8-sig":
        raise FileError(f'{path.name!r} begins with the mark of UTF-8; declare encoding = "utf-8" under [file].')
    with contextlib.suppress(UnicodeDecodeError, csv.Error):
        text = line.decode(encoding).removesuffix("\n").removesuffix("\r")
        # Strict, so that a quote left open is an error.
        names = next(csv.reader([text], strict=True, delimiter=written.delimiter or ","))
    if text is None:
        declare = 'declare encoding = "cp1252" (Western European) or its own under [file] in the schema'
        raise FileError(f"The first line of {path.name!r} is not in {written.encoding}; {declare}.")
    if names is None or "\r" in text or "\0" in text or len(line) >= LONGEST_LINE:
        names_line = "the names of the columns, parted by the delimiter, every quote closed, and end with LF or CR LF"
        raise FileError(f"The first line of {path.name!r} must hold {names_line}.")
    return tuple(names)


def proposed_format(path: Path) -> FileFormat:
    """What the first line of a file lets one suppose: a delimiter that parts it, an encoding that it is in.

    Guarantee: nothing after the first line is read.
    """
    line, usual = first_line(path), format_of(path)
    encoding = "utf-8"
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Of Western European encodings the one that has a letter for most bytes.
        encoding = "cp1252"
        text = line.decode(encoding, "replace")
    counts = {mark: text.count(mark) for mark in (usual.delimiter or ",", *DELIMITERS)}
    found = next(iter(counts)) if next(iter(counts.values())) else max(counts, key=counts.__getitem__)
    return FileFormat(found if counts[found] else usual.delimiter, encoding=encoding)


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


def regular(lines: bytes, fields: int, written: FileFormat | None = None) -> tuple[bytes, int]:
    """The lines with those that are no record of so many fields emptied, and their number.

    A field holds no quote, or stands in quotes, in which a quote is doubled. There is no NUL in a
    record, and no CR but at its end. The lines are then in UTF-8; bytes that are no letter become
    the replacement character.

    Guarantee: every line stays one line, and what becomes of it depends on that line alone.
    """
    written = written or FileFormat(",")
    lines = in_utf8(lines, written)
    mark = written.delimiter or ","
    count = lines.count(b"\n")
    broken = np.zeros(count, dtype=np.bool_)
    ends = np.empty(count, dtype=np.int64)
    _scan(np.frombuffer(lines, dtype=np.uint8), fields, ord(mark), broken, ends)
    if not broken.any():
        return lines, count
    empty = mark.encode() * (fields - 1) + b"\n" if fields > 1 else b'""\n'
    parts, start = [], 0
    for index in np.flatnonzero(broken).tolist():
        first = int(ends[index - 1]) + 1 if index else 0
        parts += [lines[start:first], empty]
        start = int(ends[index]) + 1
    return b"".join([*parts, lines[start:]]), count


def in_utf8(lines: bytes, written: FileFormat) -> bytes:
    """The lines in UTF-8, each decoded by itself."""
    if lines.isascii():
        return lines
    if not written.by_line:
        return lines.decode(written.encoding, errors="replace").encode(errors="replace")
    # A letter cut short would take the end of its line along.
    texts = [line.decode(written.encoding, errors="replace").replace("\n", "?") for line in lines.split(b"\n")]
    return "\n".join(texts).encode(errors="replace")


@compiled
def _scan(lines: NDArray[np.uint8], fields: int, mark: int, broken: Flags, ends: Integers) -> None:
    line = start = 0
    last = max(mark, _QUOTE)
    found, quoted, closed, bad = 1, False, False, False
    for place in range(lines.shape[0]):
        byte = lines[place]
        if byte > last:
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
                bad |= place > start and lines[place - 1] != mark
                quoted = True
        elif byte == mark:
            found += not quoted
            closed = False
        elif byte == _CR:
            bad |= quoted or lines[place + 1] != _LF
        else:
            bad |= closed or byte == 0
