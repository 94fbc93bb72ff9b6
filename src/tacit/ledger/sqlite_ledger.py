"""Ledgers of version 0.1, a table in SQLite, are read.

Nothing is made next to the file: SQLite opens it as immutable. Where a write-ahead log with content
lies next to it (after a crash), both are copied to a temporary folder and read there.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from tacit.errors import FileError, LedgerError
from tacit.ledger.accounts import require
from tacit.ledger.entry import COLUMNS, Entry

_SQLITE = b"SQLite format 3\0"
_MARKS = {"application_id": 0x54614C31, "user_version": 1}
"""Mark the file as a ledger of Tacit ("TaL1"), where SQLite keeps such marks."""
_SCHEMA = "a4239d2b8af903bb4c47b3636c5f7fb61d0d10910dfef81a943f8b8ac642b36c"
"""SHA-256 of the table and triggers of version 0.1, as a JSON list of their SQL."""
# A text of this file alone; nothing that was given becomes SQL.
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM entries ORDER BY sequence"  # noqa: S608


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
