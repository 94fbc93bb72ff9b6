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
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from tacit.errors import FileError, LedgerError
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
    """Read a ledger of version 0.1.

    Guarantee
    ---------
    - Its table is the one that Tacit made, SQLite finds it intact, and every entry fits its hash.
    - Nothing is written next to the file.
    """
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
    log = path.with_name(path.name + "-wal")
    if not (log.exists() and log.stat().st_size):
        with closing(_connect(path, "ro&immutable=1")) as connection:
            yield connection
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "ledger"
        shutil.copyfile(path, copy)
        shutil.copyfile(log, copy.with_name(copy.name + "-wal"))
        with closing(_connect(copy, "rw")) as connection:
            yield connection


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    # Resolved and as an address: no name of a file means anything special to SQLite.
    return sqlite3.connect(f"{path.resolve(strict=True).as_uri()}?mode={mode}", uri=True)


def _require_structure(connection: sqlite3.Connection) -> None:
    marks = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in _MARKS]
    if marks != list(_MARKS.values()):
        raise LedgerError("the file is a database, but not a ledger that Tacit wrote")
    found = [row[0] for row in connection.execute("SELECT sql FROM sqlite_master ORDER BY rowid")]
    if hashlib.sha256(json.dumps(found).encode()).hexdigest() != _SCHEMA:
        raise LedgerError("the tables of the ledger were altered: its rules are not in force")
    report = [row[0] for row in connection.execute("PRAGMA integrity_check")]
    if report != ["ok"]:
        raise LedgerError(f"the file of the ledger is damaged: {str(report[0])[:200]}")
