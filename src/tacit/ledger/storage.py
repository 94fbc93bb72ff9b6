"""The entries in SQLite: append-only, one writer at a time, durable before anybody is told.

A write is acknowledged only after its transaction is committed (write-ahead log, synchronous=FULL)
*and* copied into the database file, with the log emptied. So an acknowledged entry is never in the
log alone, where a damaged byte would pass for a write that was cut short.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

from tacit.errors import FileError, LedgerError
from tacit.ledger.entry import Entry
from tacit.ledger.tables import build

PATIENCE = 60.0
"""Seconds to wait for other processes before giving up."""
_PAUSE = 0.002


class Storage(ABC):
    """Where the entries of one ledger are.

    Guarantee
    ---------
    - When `writing` ends without an error, what was inserted survives the end of the process, if
      the storage is a file.
    - Between reading and inserting within `writing`, nobody else inserts.
    """

    path: Path | None = None

    def __init__(self) -> None:
        self._lock = threading.RLock()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Alone with the entries; what is inserted is durable when the block has ended."""
        with self._lock, _translated(self.path), self._connected() as connection:
            # Before anything is spent: a reader that never ends is noticed while it is free.
            self._settle(connection)
            try:
                _begin_alone(connection)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            self._settle(connection)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """See one state of the entries, whatever others write meanwhile."""
        with self._lock, _translated(self.path), self._connected() as connection:
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @abstractmethod
    def create(self, first: Entry) -> bool:
        """Begin with a first entry; False where somebody else has begun already."""

    @abstractmethod
    def _connected(self) -> AbstractContextManager[sqlite3.Connection]: ...

    @abstractmethod
    def _settle(self, connection: sqlite3.Connection) -> None: ...


class MemoryStorage(Storage):
    """Entries in the memory of this process, and of no other."""

    def __init__(self) -> None:
        super().__init__()
        self._process = os.getpid()
        self._memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, self._memory.close)

    def create(self, first: Entry) -> bool:
        """Begin with a first entry."""
        build(self._memory, [first])
        return True

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        # A forked process would spend a copy of the budget.
        if os.getpid() != self._process:
            raise LedgerError(
                "a ledger in memory belongs to the process that made it; give the ledger a path, "
                "so that several processes can share it"
            )
        # What an interruption left open was never acknowledged.
        if self._memory.in_transaction:
            self._memory.execute("ROLLBACK")
        yield self._memory

    def _settle(self, connection: sqlite3.Connection) -> None:
        pass


class FileStorage(Storage):
    """Entries in a file that threads and processes share.

    Parameters
    ----------
    path
        The file; it need not exist before `create`.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path: Path = path

    def create(self, first: Entry) -> bool:
        """Begin the file with a first entry; False where it exists already.

        Guarantee
        ---------
        - The file appears complete or not at all, and an existing one is never overwritten.
        """
        try:
            with tempfile.TemporaryDirectory(dir=self.path.parent, prefix=".tacit-") as folder:
                draft = Path(folder) / "ledger"
                with closing(_connect(draft, "rwc")) as connection:
                    build(connection, [first])
                    self._settle(connection)
                # A link, unlike a renaming, fails where the name is taken.
                os.link(draft, self.path)
        except FileExistsError:
            return False
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise FileError(f"the ledger {self.path} cannot be written: {reason}") from error
        _sync_folder(self.path.parent)
        return True

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        if not self.path.is_file():
            raise FileError(f"the ledger {self.path} cannot be read: no such file")
        # Locks go by name: under two names, two writers would not see each other.
        if self.path.stat().st_nlink > 1:
            raise LedgerError(
                f"the ledger {self.path} has a second name (a hard link), under which it could be "
                "spent twice; remove the other name"
            )
        writable = os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)
        # A connection per operation: none is ever carried into another thread or a forked process.
        with closing(_connect(self.path, "rw" if writable else "ro&immutable=1")) as connection:
            yield connection

    def _settle(self, connection: sqlite3.Connection) -> None:
        """Copy the log into the file and empty it, waiting for others."""
        deadline = time.monotonic() + PATIENCE
        while connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] != 0:
            if time.monotonic() > deadline:
                raise LedgerError(
                    "the ledger is kept busy by another process. Close that process and try again; "
                    "a charge that was written meanwhile stays spent, and no answer was released"
                )
            time.sleep(_PAUSE)


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    # Resolved and as an address: no name of a file means anything special to SQLite.
    address = f"{path.resolve().as_uri()}?mode={mode}"
    connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=PATIENCE)
    try:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
    except BaseException:
        connection.close()
        raise
    return connection


def _begin_alone(connection: sqlite3.Connection) -> None:
    """Begin as the only writer, waiting for others."""
    # SQLite's own waiting sleeps ever longer, and many writers would sleep most of the time.
    connection.execute("PRAGMA busy_timeout = 0")
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE)
        else:
            return


@contextmanager
def _translated(path: Path | None) -> Iterator[None]:
    name = "in memory" if path is None else str(path)
    try:
        yield
    # A damaged name in the database reaches us as text that cannot be decoded.
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise LedgerError(f"the ledger {name} cannot be used: {error}") from error


def _sync_folder(folder: Path) -> None:
    # Only there can a folder be opened, and only there does a new name need it.
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
