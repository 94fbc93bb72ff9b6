r"""Where the entries of a ledger are: append-only, one writer at a time, durable.

The file of a ledger is a header and one line of canonical JSON per entry.

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

import hashlib
import json
import os
import re
import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tacit.documents.canonical_json import canonical
from tacit.errors import FileError, LedgerError, SettingError
from tacit.ledger.accounts import require
from tacit.ledger.entry import COLUMNS, Entry, EntryKind
from tacit.ledger.locked_file import Descriptor, create, is_at, locked, refused, sync, sync_folder

PATIENCE = 60.0  # Seconds to wait for other processes before giving up.
_HEADER = re.compile(rb"tacit-ledger/2 ([0-9]{20}) ([0-9a-f]{64})\n")
HEADER_BYTES = len("tacit-ledger/2") + 1 + 20 + 1 + 64 + 1
_SQLITE = b"SQLite format 3\0"
_MARKS = {"application_id": 0x54614C31, "user_version": 1}
"""Mark the file as a ledger of Tacit ("TaL1"), where SQLite keeps such marks."""
_SCHEMA = "a4239d2b8af903bb4c47b3636c5f7fb61d0d10910dfef81a943f8b8ac642b36c"
"""SHA-256 of the table and triggers of version 0.1, as a JSON list of their SQL."""
# A text of this file alone; nothing that was given becomes SQL.
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM entries ORDER BY sequence"  # noqa: S608


def header(length: int, head: Entry) -> bytes:
    """Return the header of a file that is acknowledged up to a length and an entry."""
    return f"tacit-ledger/2 {length:020d} {head.hash}\n".encode("ascii")


def encode(entry: Entry) -> bytes:
    """Return the line of an entry."""
    return canonical({name: getattr(entry, name) for name in COLUMNS}).encode("ascii") + b"\n"


def decode(line: bytes) -> Entry:
    """Read the line of an entry; refuse every other spelling of it."""
    try:
        fields = json.loads(line.decode("ascii"))
    except (ValueError, RecursionError):
        fields = None
    require(isinstance(fields, dict) and set(fields) == set(COLUMNS), "a line of the ledger is not an entry")
    entry = Entry.from_row([fields[name] for name in COLUMNS])
    require(encode(entry) == line, f"entry {entry.sequence} of the ledger is not in its one spelling")
    return entry


def written(entries: Sequence[Entry]) -> bytes:
    """Return the bytes of a whole file with these entries, all of them acknowledged."""
    lines = b"".join(map(encode, entries))
    return header(HEADER_BYTES + len(lines), entries[-1]) + lines


class Place(NamedTuple):
    """Where an acknowledged entry begins, so that reading can go on from there."""

    start: int
    entry: Entry


@dataclass(frozen=True, slots=True)
class Log:
    """What an open and locked file holds from some place on.

    `end` is where the last complete entry ends, and `unfinished` the number of bytes after it. `place` is the last
    acknowledged entry, None where the header names none that was read. Guarantee: Any altered byte of what was read is
    found: up to the acknowledged length it is refused, and beyond it, it is counted in `unfinished`. `append` returns
    when the entries are on the disk and acknowledged there.
    """

    file: Descriptor
    entries: tuple[Entry, ...]
    acknowledged: int
    end: int
    unfinished: int
    place: Place | None

    @classmethod
    def read(cls, file: Descriptor, known: Place | None = None) -> Log:
        """Read the file from a known entry on, or all of it where that entry is not there."""
        size = os.fstat(file.number).st_size
        first = _read(file, 0, HEADER_BYTES)
        found = _HEADER.fullmatch(first)
        if found is None:
            require(not first.startswith(b"tacit-ledger/2"), "the header of the ledger is damaged")
            raise LedgerError("the file is not a ledger of this version; expected one that Tacit wrote")
        length, head = int(found[1]), found[2].decode("ascii")
        if known is not None and (data := _read(file, known.start, size)).startswith(encode(known.entry)):
            log = cls._scan(file, data, known, length, head)
            if log.place is not None:
                return log
        log = cls._scan(file, _read(file, HEADER_BYTES, size), None, length, head)
        if log.place is None:
            lost = f"{length} bytes of it were acknowledged, and its entries end at byte {log.end}"
            odd = "its header does not name the end and hash of an entry"
            raise LedgerError(f"the ledger is damaged: {lost if length > log.end else odd}")
        return log

    @classmethod
    def _scan(cls, file: Descriptor, data: bytes, known: Place | None, length: int, head: str) -> Log:
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
        """Write entries after the last one, and acknowledge them. If the disk fails, they may count as spent."""
        lines = b"".join(map(encode, entries))
        try:
            if self.unfinished:
                os.ftruncate(self.file.number, self.end)
            # Entries that were not acknowledged are written again: after a failed sync they may be in memory only.
            _write(self.file, _read(self.file, self.acknowledged, self.end) + lines, self.acknowledged)
            sync(self.file.number)
        except OSError as error:
            # Nobody was told of them. Where this fails too, they count as spent.
            with suppress(OSError):
                os.ftruncate(self.file.number, self.end)
            raise _failed(error, entries) from error
        try:
            _write(self.file, header(self.end + len(lines), entries[-1]), 0)
            sync(self.file.number)
        except OSError as error:
            raise _failed(error, entries) from error


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
    may = "be in the ledger all the same, and costs nothing"
    if any(entry.kind is EntryKind.RESERVE for entry in entries):
        may = "count as spent, and no answer was released for it"
    return LedgerError(
        f"the ledger could not be written: {error.strerror}. What was being written may {may}; the ledger can still be "
        "used. Repair the disk or free some space, and try again"
    )


@dataclass
class Session:
    """Entries from some number on, while nobody else changes them; `unfinished` bytes follow, and `whole` reads all."""

    known: Sequence[Entry]
    alone: bool
    unfinished: int = 0
    whole: Callable[[], Sequence[Entry]] = tuple
    appended: list[Entry] = field(default_factory=list)

    def entries(self, after: int = -1) -> list[Entry]:
        """Return the entries after a position, by default all, each with a hash that fits."""
        known, begin = self.known, self.known[0].sequence if self.known else 0
        if after + 1 < begin:
            known, begin = self.whole(), 0
        return [*known[after + 1 - begin :], *(entry for entry in self.appended if entry.sequence > after)]

    def append(self, entry: Entry) -> None:
        """Append an entry that follows the last one. It is written when the block ends."""
        require(self.alone, "entries are appended by one who is alone")
        entry.require_after([*self.known[-1:], *self.appended][-1])
        self.appended.append(entry)


class MemoryStorage:
    """Entries in the memory of this process, and of no other.

    Of storages: `path` is their file, `name` the same for all objects that share the entries and for no others, and
    `acknowledged` the last entry that was appended through this object. Guarantee: When a session ends without an
    error, what was appended survives the end of the process and a power cut, if the storage is a file. After an error
    nothing was written. Between reading and appending in a session that is alone, nobody else appends.
    """

    path: None = None
    acknowledged: Entry | None = None

    def __init__(self) -> None:
        self._process = os.getpid()
        # With the time, because an address is used again.
        self.name = f"{self._process}_{time.time_ns()}_{id(self)}"
        self._lock = threading.Lock()
        self._entries: list[Entry] = []

    def create(self, first: Entry) -> bool:
        """Begin with a first entry; False where somebody else has begun already."""
        self._entries = [first]
        return True

    @contextmanager
    def session(self, *, alone: bool) -> Iterator[Session]:
        """See one state of the entries, with the lock held. Who is alone may append."""
        # A forked process would spend a copy of the budget. Asked first: its copy of the lock may stay held.
        if os.getpid() != self._process:
            raise LedgerError(
                "a ledger in memory belongs to the process that made it; give the ledger a path, "
                "so that several processes can share it"
            )
        if not self._lock.acquire(timeout=PATIENCE):
            raise LedgerError("the ledger is kept busy by another thread; by this attempt nothing was spent")
        try:
            session = Session(self._entries, alone)
            yield session
            self._entries.extend(session.appended)
        finally:
            self._lock.release()


class FileStorage:
    """Entries in a log that threads and processes share, under every name of its file; its lock is this object's."""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, str(path)
        self.acknowledged: Entry | None = None
        self._place: Place | None = None
        self._is_named = False

    def create(self, first: Entry) -> bool:
        """Begin the file with a first entry; False where it exists already."""
        return create(self.path, written([first]))

    @contextmanager
    def session(self, *, alone: bool) -> Iterator[Session]:
        """Hold the lock of the file."""
        with locked(self.path, alone=alone, patience=PATIENCE) as file:
            log = self._log(file, self._place)
            self._place = log.place
            session = Session(log.entries, alone, log.unfinished, whole=lambda: self._log(file).entries)
            yield session
            if session.appended:
                if not self._is_named:
                    sync_folder(self.path.parent)
                    self._is_named = True
                log.append(session.appended)
                self._require_in_place(file)
                self.acknowledged = session.appended[-1]

    def _log(self, file: Descriptor, known: Place | None = None) -> Log:
        with refused(self.path):
            return Log.read(file, known)

    def _require_in_place(self, file: Descriptor) -> None:
        """Refuse what was written to a file that another one has taken the place of."""
        # An error: there is no such name any more, or this process was forked from within the block.
        with suppress(OSError):
            if is_at(file, self.path):
                return
        raise LedgerError(
            f"the ledger {self.path} was replaced, removed or out of reach while written to. What was written may "
            "count all the same. Put the former file back"
        )


def is_version_one(path: Path) -> bool:
    """Whether a file begins as a database of SQLite does."""
    with suppress(OSError):
        if path.is_file():
            with path.open("rb") as stream:
                return stream.read(len(_SQLITE)) == _SQLITE
    return False


def read_entries(path: Path) -> list[Entry]:
    """Read a ledger whose table is the one that Tacit made and that SQLite finds intact; every entry fits its hash."""
    try:
        with _connected(path) as connection:
            _require_structure(connection)
            return [Entry.from_row(row) for row in connection.execute(_SELECT).fetchall()]
    # A damaged name in the database reaches us as text that cannot be decoded.
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise LedgerError(f"the ledger {path} cannot be used: {error}") from error
    except OSError as error:
        raise FileError(f"the ledger {path} cannot be read: {error.strerror}") from error


@contextmanager
def _connected(path: Path) -> Iterator[sqlite3.Connection]:
    log, mode = path.with_name(path.name + "-wal"), "ro&immutable=1"
    with ExitStack() as stack:
        # After a crash a write-ahead log with content lies next to it: both are copied and read elsewhere.
        if log.exists() and log.stat().st_size:
            copy = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "ledger"
            shutil.copyfile(log, copy.with_name(copy.name + "-wal"))
            path, mode = Path(shutil.copyfile(path, copy)), "rw"
        # Resolved and as an address: no name of a file means anything special to SQLite.
        address = f"{path.resolve(strict=True).as_uri()}?mode={mode}"
        yield stack.enter_context(closing(sqlite3.connect(address, uri=True)))


def _require_structure(connection: sqlite3.Connection) -> None:
    marks = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in _MARKS]
    require(marks == list(_MARKS.values()), "the file is a database, but not a ledger that Tacit wrote")
    found = [row[0] for row in connection.execute("SELECT sql FROM sqlite_master ORDER BY rowid")]
    digest = hashlib.sha256(json.dumps(found).encode()).hexdigest()
    require(digest == _SCHEMA, "the tables of the ledger were altered: its rules are not in force")
    report = [row[0] for row in connection.execute("PRAGMA integrity_check")]
    require(report == ["ok"], f"the file of the ledger is damaged: {str(report[0])[:200]}")


class VersionOneStorage(FileStorage):
    """Entries in a file that version 0.1 wrote. They can be read, and none can be added."""

    @contextmanager
    def session(self, *, alone: bool) -> Iterator[Session]:
        """Read the database; nobody may be alone with it."""
        if alone:
            raise LedgerError(
                f"the ledger {self.path} was written by Tacit 0.1: it can be read, not charged. "
                "Write it anew with `tacit ledger upgrade OLD NEW` or Ledger.upgrade(old, new), "
                "charge the new one, and move the old one away"
            )
        yield Session(read_entries(self.path), alone)


Storage = MemoryStorage | FileStorage


def storage_at(path: Path | None) -> Storage:
    """Return the storage that a path needs: in memory, in a log, or in a file of version 0.1."""
    if path is None:
        return MemoryStorage()
    return VersionOneStorage(path) if is_version_one(path) else FileStorage(path)


def file_of(path: str | os.PathLike[str]) -> Path:
    """Return the file that a path leads to, which need not exist; refuse what is no path of one."""
    if not isinstance(path, str | os.PathLike):
        raise SettingError("the path of a ledger is not a path; expected the name of a file")
    try:
        file = Path(os.fsdecode(path)).resolve()
        is_file = not file.is_dir() and file.parent.is_dir()
    except (OSError, ValueError, RuntimeError) as error:
        raise FileError(f"the ledger {path!s:.200} cannot be opened") from error
    require(is_file, f"the ledger {path!s:.200} is no file; give the name of a file", error=FileError)
    return file
