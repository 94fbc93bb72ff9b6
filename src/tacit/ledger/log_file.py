r"""The file of a ledger: a header and one line of canonical JSON per entry.

.. code-block:: text

    tacit-ledger/2 <acknowledged length, 20 digits> <hash of the last acknowledged entry>\n
    {"amount":0,"body":"...","hash":"...","kind":"open","previous":"000...","sequence":0,"spent":0}\n
    ...

An append writes its lines after the acknowledged length and syncs, then rewrites the header in
place (within one sector) and syncs again. So after a crash

- everything up to the acknowledged length is there, or the file was damaged and is refused;
- complete lines beyond it are charges whose answer was never computed; they count as spent;
- an unfinished line may follow, and the next append removes it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from tacit.documents.canonical_json import canonical
from tacit.errors import LedgerError
from tacit.ledger.entry import COLUMNS, Entry, Kind
from tacit.ledger.locked_file import Descriptor, sync

MAGIC = b"tacit-ledger/2"
_HEADER = re.compile(rb"tacit-ledger/2 ([0-9]{20}) ([0-9a-f]{64})\n")
HEADER_BYTES = len(MAGIC) + 1 + 20 + 1 + 64 + 1


def header(length: int, head: Entry) -> bytes:
    """Return the header of a file that is acknowledged up to a length and an entry."""
    return MAGIC + f" {length:020d} {head.hash}\n".encode("ascii")


def encode(entry: Entry) -> bytes:
    """Return the line of an entry."""
    return canonical(dict(zip(COLUMNS, entry.row(), strict=True))).encode("ascii") + b"\n"


def decode(line: bytes) -> Entry:
    """Read the line of an entry; refuse every other spelling of it."""
    try:
        fields = json.loads(line.decode("ascii"))
    except (ValueError, RecursionError) as error:
        raise LedgerError("a line of the ledger is not an entry") from error
    if not isinstance(fields, dict) or set(fields) != set(COLUMNS):
        raise LedgerError("a line of the ledger is not an entry")
    entry = Entry.from_row([fields[name] for name in COLUMNS])
    if encode(entry) != line:
        raise LedgerError(f"entry {entry.sequence} of the ledger is not in its one spelling")
    return entry


def written(entries: Sequence[Entry]) -> bytes:
    """Return the bytes of a whole file with these entries, all of them acknowledged."""
    lines = b"".join(map(encode, entries))
    return header(HEADER_BYTES + len(lines), entries[-1]) + lines


@dataclass(frozen=True, slots=True)
class Place:
    """Where an acknowledged entry begins, so that reading can go on from there."""

    start: int
    entry: Entry


@dataclass(frozen=True, slots=True)
class Log:
    """What an open and locked file holds from some place on.

    Guarantee
    ---------
    - Any altered byte of what was read is found: up to the acknowledged length it is refused, and
      beyond it, it is counted in `unfinished`.
    - `append` returns when the entries are on the disk and acknowledged there.
    """

    file: Descriptor
    entries: tuple[Entry, ...]
    """What was read, from the place where reading began."""
    acknowledged: int
    end: int
    """Where the last complete entry ends."""
    unfinished: int
    """Number of bytes after it; the next append removes them."""
    place: Place | None
    """The last acknowledged entry; None where the header names none that was read."""

    @classmethod
    def read(cls, file: Descriptor, known: Place | None = None) -> Log:
        """Read the file from a known entry on, or all of it where that entry is not there."""
        size = os.fstat(file.number).st_size
        length, head = _read_header(_read(file, 0, HEADER_BYTES))
        if known is not None:
            data = _read(file, known.start, size)
            if data.startswith(encode(known.entry)):
                log = cls._scan(file, data, known, length, head)
                if log.place is not None:
                    return log
        log = cls._scan(file, _read(file, HEADER_BYTES, size), None, length, head)
        if log.place is None and length > log.end:
            raise LedgerError(
                f"the ledger is damaged: {length} bytes of it were acknowledged, and its entries "
                f"end at byte {log.end}"
            )
        if log.place is None:
            raise LedgerError(
                "the header of the ledger is damaged: it does not name the end and hash of an entry"
            )
        return log

    @classmethod
    def _scan(
        cls, file: Descriptor, data: bytes, known: Place | None, length: int, head: str
    ) -> Log:
        at = start = HEADER_BYTES if known is None else known.start
        entries: list[Entry] = []
        acknowledged: Place | None = None
        while (stop := data.find(b"\n", at - start) + 1) > 0:
            try:
                entry = decode(data[at - start : stop])
                if entries or known is None:
                    entry.require_after(entries[-1] if entries else None)
            except LedgerError as error:
                if at >= length:
                    break
                raise LedgerError(f"the ledger is damaged from byte {at} on: {error}") from error
            if start + stop == length and entry.hash == head:
                acknowledged = Place(at, entry)
            entries.append(entry)
            at = start + stop
        return cls(file, tuple(entries), length, at, start + len(data) - at, acknowledged)

    def append(self, entries: Sequence[Entry]) -> None:
        """Write entries after the last one, and acknowledge everything up to them.

        If the disk is full or fails, they may count as spent; the file stays usable.
        """
        lines = b"".join(map(encode, entries))
        try:
            if self.unfinished:
                os.ftruncate(self.file.number, self.end)
            # Entries beyond the acknowledged length are written again: if their sync had failed,
            # the system may take them for stored although they are in its memory only.
            again = _read(self.file, self.acknowledged, self.end)
            _write(self.file, again + lines, self.acknowledged)
            sync(self.file.number)
        except OSError as error:
            # Nobody was told of them. Where this fails too, they count as spent.
            with contextlib.suppress(OSError):
                os.ftruncate(self.file.number, self.end)
            raise _failed(error, entries) from error
        try:
            _write(self.file, header(self.end + len(lines), entries[-1]), 0)
            sync(self.file.number)
        except OSError as error:
            raise _failed(error, entries) from error


def _read_header(data: bytes) -> tuple[int, str]:
    if not data.startswith(MAGIC):
        raise LedgerError("the file is not a ledger of this version; expected one that Tacit wrote")
    found = _HEADER.fullmatch(data)
    if found is None:
        raise LedgerError("the header of the ledger is damaged")
    return int(found[1]), found[2].decode("ascii")


def _read(file: Descriptor, start: int, end: int) -> bytes:
    parts = []
    while start < end and (part := os.pread(file.number, end - start, start)):
        parts.append(part)
        start += len(part)
    return b"".join(parts)


def _write(file: Descriptor, data: bytes, place: int) -> None:
    while data:
        done = os.pwrite(file.number, data, place)
        data, place = data[done:], place + done


def _failed(error: OSError, entries: Sequence[Entry]) -> LedgerError:
    if any(entry.kind is Kind.RESERVE for entry in entries):
        outcome = "may count as spent, and no answer was released for it"
    else:
        outcome = "may be in the ledger all the same, and costs nothing"
    return LedgerError(
        f"the ledger could not be written: {error.strerror}. What was being written {outcome}; the "
        "ledger can still be used. Repair the disk or free some space, and try again"
    )
