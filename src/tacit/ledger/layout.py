"""Whether a database is what its entries make of it, to the last byte.

The chain of hashes covers every entry, but not the bytes around them: headers, pointers and unused
space. They are covered by building the same database again from the entries and comparing.

Entries are only ever appended to one table, so SQLite lays them out in one way. Three numbers in
the header are left to be checked one by one: the change counter (bytes 24 to 27) and its copy (92
to 95), which must agree, and the library that last wrote the first page (96 to 99), which must be
that of the entry that last made the file grow.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tacit.errors import LedgerError
from tacit.ledger.entry import Entry
from tacit.ledger.tables import APPLICATION, FORMAT_VERSION, SCHEMA, build, read_entries

_JOURNAL = slice(18, 20)
_COUNTER = slice(24, 28)
_COUNTER_COPY = slice(92, 96)
_LIBRARY = slice(96, 100)
_LOG = b"\x02\x02"
"""How a header says that the write-ahead log is in use; a database in memory has none."""


def require_structure(connection: sqlite3.Connection) -> None:
    """Refuse a database that is not a ledger, or that SQLite itself finds damaged.

    Guarantee
    ---------
    - After it, every entry that was ever acknowledged is among those that can be read.
    """
    marks = [
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("application_id", "user_version")
    ]
    if marks != [APPLICATION, FORMAT_VERSION]:
        raise LedgerError("the file is not a ledger of this version; expected one that Tacit wrote")
    found = [row[0] for row in connection.execute("SELECT sql FROM sqlite_master ORDER BY rowid")]
    if found != list(SCHEMA):
        raise LedgerError("the tables of the ledger were altered: its rules are not in force")
    report = [row[0] for row in connection.execute("PRAGMA integrity_check")]
    if report != ["ok"]:
        raise LedgerError(f"the file of the ledger is damaged: {str(report[0])[:200]}")


def require_layout(connection: sqlite3.Connection, path: Path | None) -> None:
    """Refuse a database of which any byte is not what its entries make of it.

    Guarantee
    ---------
    - Any single altered byte of the file is found.
    """
    if not hasattr(connection, "serialize"):
        raise LedgerError(
            "this build of SQLite cannot show the bytes of a database; verify the ledger with a "
            "Python whose sqlite3 has Connection.serialize"
        )
    entries = read_entries(connection)
    # Not read from the file: opening it beside SQLite would drop this process's locks on it.
    image = bytearray(connection.serialize())
    expected, library = _rebuild(entries)
    if path is not None:
        if image[_COUNTER] != image[_COUNTER_COPY]:
            raise LedgerError("the header of the ledger is damaged: its change counters disagree")
        if int.from_bytes(image[_LIBRARY], "big") != library:
            raise LedgerError("the header of the ledger is damaged: another library wrote it")
        expected[_JOURNAL] = _LOG
        _require_size(path, len(image))
    for field in (_COUNTER, _COUNTER_COPY, _LIBRARY):
        expected[field] = image[field]
    if image != expected:
        place = next(
            (
                at
                for at, pair in enumerate(zip(image, expected, strict=False))
                if pair[0] != pair[1]
            ),
            min(len(image), len(expected)),
        )
        versions = sorted({entry.document()["sqlite"] for entry in entries})
        raise LedgerError(
            f"byte {place} of the ledger is not what its entries make of it: the file was altered. "
            f"(Written with SQLite {versions}, rebuilt with {sqlite3.sqlite_version})"
        )


def _rebuild(entries: list[Entry]) -> tuple[bytearray, int]:
    """Return the bytes of a new database of these entries, and the library that owns page 1."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        pages = build(connection, entries)
        image = bytearray(connection.serialize())
    # Page 1 holds the number of pages, so it is written by whoever makes the file grow.
    grown = max(at for at, count in enumerate(pages) if at == 0 or count > pages[at - 1])
    return image, int(entries[grown].document()["sqlite"])


def _require_size(path: Path, size: int) -> None:
    log = path.with_name(path.name + "-wal")
    # With an empty log this reader sees the file itself, which then nobody may change meanwhile.
    settled = not log.exists() or log.stat().st_size == 0
    if settled and path.stat().st_size != size:
        raise LedgerError("the file of the ledger is longer or shorter than its pages")
