"""Where the entries of a ledger are: append-only, one writer at a time, durable.

What a block of `Storage.writing` appends is written when the block ends, all of it in one step; a
block that ends with an error has written nothing.
"""

from __future__ import annotations

import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from tacit.errors import FileError, LedgerError, SettingError
from tacit.ledger import sqlite_ledger as version_one
from tacit.ledger.entry import Entry
from tacit.ledger.locked_file import create, is_at, locked, refused, sync_folder
from tacit.ledger.log_file import Log, Place, written

PATIENCE = 60.0
"""Seconds to wait for other processes before giving up."""


class Session:
    """The entries, while nobody else changes them; where `last` is None they are only read."""

    def __init__(
        self, read: Callable[[int], list[Entry]], last: Entry | None, unfinished: int = 0
    ) -> None:
        self._read = read
        self._last = last
        self.unfinished = unfinished
        """Number of bytes after the last entry: an append that was cut short by a crash."""
        self.appended: list[Entry] = []

    def entries(self, after: int = -1) -> list[Entry]:
        """Return the entries after a position, each with a hash that fits.

        Without a position the whole file is read again. From the last known entry on, only what is
        new is read.
        """
        return self._read(after) + [entry for entry in self.appended if entry.sequence > after]

    def append(self, entry: Entry) -> None:
        """Append an entry that follows the last one. It is written when the block ends."""
        if self._last is None:
            raise LedgerError("entries are appended within `writing` alone")
        entry.require_after(self._last)
        self.appended.append(entry)
        self._last = entry


class Storage(ABC):
    """Where the entries of one ledger are.

    Guarantee
    ---------
    - When `writing` ends without an error, what was appended survives the end of the process and
      a power cut, if the storage is a file.
    - Between reading and appending within `writing`, nobody else appends.
    """

    path: Path | None = None
    name: str
    """The same for all objects that share the entries, and for no others."""
    acknowledged: Entry | None = None
    """The last entry that was appended through this object, whoever shares it."""

    def create(self, first: Entry) -> bool:  # noqa: ARG002
        """Begin with a first entry; False where somebody else has begun already."""
        return False

    @abstractmethod
    def _session(self, *, alone: bool) -> AbstractContextManager[Session]: ...

    def writing(self) -> AbstractContextManager[Session]:
        """Alone with the entries; what is appended is durable when the block has ended."""
        return self._session(alone=True)

    def reading(self) -> AbstractContextManager[Session]:
        """See one state of the entries; writers wait."""
        return self._session(alone=False)


def storage_at(path: Path | None) -> Storage:
    """Return the storage that a path needs: in memory, in a log, or in a file of version 0.1."""
    if path is None:
        return MemoryStorage()
    return VersionOneStorage(path) if version_one.is_version_one(path) else FileStorage(path)


class MemoryStorage(Storage):
    """Entries in the memory of this process, and of no other."""

    def __init__(self) -> None:
        self._process = os.getpid()
        # With the time, because an address is used again.
        self.name = f"{self._process}_{time.time_ns()}_{id(self)}"
        self._lock = threading.Lock()
        self._entries: list[Entry] = []

    def create(self, first: Entry) -> bool:
        """Begin with a first entry."""
        self._entries = [first]
        return True

    @contextmanager
    def _session(self, *, alone: bool) -> Iterator[Session]:
        # A forked process would spend a copy of the budget. Asked before the lock, which another
        # thread may have held when the process was forked and which then stays held.
        if os.getpid() != self._process:
            raise LedgerError(
                "a ledger in memory belongs to the process that made it; give the ledger a path, "
                "so that several processes can share it"
            )
        if not self._lock.acquire(timeout=PATIENCE):
            raise LedgerError(
                "the ledger is kept busy by another thread; by this attempt nothing was spent"
            )
        try:
            last = self._entries[-1] if alone else None
            session = Session(lambda after: self._entries[after + 1 :], last)
            yield session
            self._entries.extend(session.appended)
        finally:
            self._lock.release()


class FileStorage(Storage):
    """Entries in a log that threads and processes share, under every name of its file.

    The lock of the file protects this object too, so it needs no lock of its own.
    """

    def __init__(self, path: Path) -> None:
        self.path: Path = path
        self.name = str(path)
        self._place: Place | None = None
        self._is_named = False

    def create(self, first: Entry) -> bool:
        """Begin the file with a first entry; False where it exists already."""
        return create(self.path, written([first]))

    @contextmanager
    def _session(self, *, alone: bool) -> Iterator[Session]:
        with locked(self.path, alone=alone, patience=PATIENCE) as file:
            with refused(self.path):
                log = Log.read(file, self._place)
            self._place = log.place
            last = log.entries[-1] if alone else None
            session = Session(self._reader(log), last, log.unfinished)
            yield session
            if session.appended:
                if not self._is_named:
                    sync_folder(self.path.parent)
                    self._is_named = True
                log.append(session.appended)
                self._require_in_place(log)
                self.acknowledged = session.appended[-1]

    def _require_in_place(self, log: Log) -> None:
        """Refuse what was written to a file that another one has taken the place of."""
        try:
            in_place = is_at(log.file, self.path)
        except OSError:
            # There is no such name any more, or this process was forked from within the block.
            in_place = False
        if not in_place:
            raise LedgerError(
                f"the ledger {self.path} was replaced, removed or out of reach while it was "
                "written to. What was written may count all the same: it is in the file that was "
                "there before. Put that file back, or find out who replaced it"
            )

    def _reader(self, log: Log) -> Callable[[int], list[Entry]]:
        def read(after: int) -> list[Entry]:
            entries = log.entries
            if after + 1 < entries[0].sequence:
                with refused(self.path):
                    entries = Log.read(log.file).entries
            return [entry for entry in entries if entry.sequence > after]

        return read


class VersionOneStorage(Storage):
    """Entries in a file that version 0.1 wrote. They can be read, and none can be added."""

    def __init__(self, path: Path) -> None:
        self.path: Path = path
        self.name = str(path)

    @contextmanager
    def _session(self, *, alone: bool) -> Iterator[Session]:
        if alone:
            raise LedgerError(
                f"the ledger {self.path} was written by Tacit 0.1: it can be read, but no longer "
                "be charged. Write it anew with `tacit ledger upgrade OLD NEW` or "
                "Ledger.upgrade(old, new), charge the new one, and move the old one away"
            )
        entries = version_one.read_entries(self.path)
        yield Session(lambda after: entries[after + 1 :], None)


def file_of(path: str | os.PathLike[str]) -> Path:
    """Return the file that a path leads to, which need not exist; refuse what is no path of one."""
    if not isinstance(path, str | os.PathLike):
        raise SettingError("the path of a ledger is not a path; expected the name of a file")
    try:
        file = Path(os.fsdecode(path)).resolve()
        is_no_file = file.is_dir() or not file.parent.is_dir()
    except (OSError, ValueError, RuntimeError) as error:
        raise FileError(f"the ledger {path!s:.200} cannot be opened") from error
    if is_no_file:
        raise FileError(f"the ledger {path!s:.200} is no file; give the name of a file")
    return file
