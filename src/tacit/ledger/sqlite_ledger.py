"""Ledgers of version 0.1, a table in SQLite: read, and written anew in the form of this version.

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
from tacit.ledger.chain import Chain
from tacit.ledger.entry import COLUMNS, Entry
from tacit.ledger.locked_file import create
from tacit.ledger.log_file import written

_SQLITE = b"SQLite format 3\0"
_APPLICATION = 0x54614C31
"""Marks the file as a ledger of Tacit ("TaL1"), where SQLite keeps such marks."""
_FORMAT = 1
_SCHEMA = "a4239d2b8af903bb4c47b3636c5f7fb61d0d10910dfef81a943f8b8ac642b36c"
"""SHA-256 of the table and triggers as version 0.1 made them, as a JSON list of their SQL."""
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


def upgrade(old: Path, new: Path) -> None:
    """Write the entries of a ledger of version 0.1 to a new file, each with the hash it had.

    The old file is not changed. While both exist they are two ledgers with a budget each: charge
    the old one no more, and move it away.

    Guarantee
    ---------
    - The new ledger holds every entry of the old one and continues its chain.
    - An existing file is never overwritten.
    """
    if not old.is_file():
        raise FileError(f"the ledger {old} cannot be read: no such file")
    if not is_version_one(old):
        raise LedgerError(
            f"{old} is not a ledger of version 0.1, so there is nothing to upgrade. A copy of a "
            "ledger would be another ledger with a whole budget of its own"
        )
    if old.stat().st_nlink > 1:
        # The write-ahead log that a crash left has one of the names only.
        raise LedgerError(
            f"{old} has a second name (a hard link), whose write-ahead log may hold charges that "
            "are not in the file yet; remove the other name first"
        )
    entries = read_entries(old)
    # A chain that does not hold is refused.
    Chain(entries)
    if not entries or not create(new, written(entries)):
        raise FileError(f"{new} exists; a ledger is written to a new file")


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
    marks = [
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("application_id", "user_version")
    ]
    if marks != [_APPLICATION, _FORMAT]:
        raise LedgerError("the file is a database, but not a ledger that Tacit wrote")
    found = [row[0] for row in connection.execute("SELECT sql FROM sqlite_master ORDER BY rowid")]
    if hashlib.sha256(json.dumps(found).encode()).hexdigest() != _SCHEMA:
        raise LedgerError("the tables of the ledger were altered: its rules are not in force")
    report = [row[0] for row in connection.execute("PRAGMA integrity_check")]
    if report != ["ok"]:
        raise LedgerError(f"the file of the ledger is damaged: {str(report[0])[:200]}")
