"""The one table of a ledger: its columns, its rules, and how entries go in and out."""

from __future__ import annotations

import sqlite3

from tacit.ledger.entry import COLUMNS, Entry
from tacit.ledger.price import WHOLE

APPLICATION = 0x54614C31
"""Marks the file as a ledger of Tacit ("TaL1"), where SQLite keeps such marks."""
FORMAT_VERSION = 1
PAGE_BYTES = 4096

SCHEMA = (
    f"""CREATE TABLE entries (
sequence INTEGER PRIMARY KEY,
kind TEXT NOT NULL CHECK (kind IN ('open', 'reserve', 'commit', 'grant', 'lower', 'pause',
'resume', 'refusal')),
amount INTEGER NOT NULL CHECK (typeof(amount) = 'integer' AND amount >= 0),
spent INTEGER NOT NULL CHECK (typeof(spent) = 'integer' AND spent >= amount AND spent <= {WHOLE}),
body TEXT NOT NULL CHECK (typeof(body) = 'text'),
previous TEXT NOT NULL CHECK (length(previous) = 64),
hash TEXT NOT NULL CHECK (length(hash) = 64))""",
    """CREATE TRIGGER entries_follow BEFORE INSERT ON entries BEGIN
SELECT RAISE(ABORT, 'an entry must follow the last one') WHERE NEW.sequence IS NOT
(SELECT coalesce(max(sequence) + 1, 0) FROM entries);
SELECT RAISE(ABORT, 'an entry must continue the chain') WHERE NEW.sequence > 0 AND
(NEW.previous, NEW.spent - NEW.amount) IS NOT
(SELECT hash, spent FROM entries WHERE sequence = NEW.sequence - 1);
END""",
    """CREATE TRIGGER entries_stay BEFORE DELETE ON entries BEGIN
SELECT RAISE(ABORT, 'a ledger is append-only');
END""",
    """CREATE TRIGGER entries_are_final BEFORE UPDATE ON entries BEGIN
SELECT RAISE(ABORT, 'a ledger is append-only');
END""",
)

# Both are texts of this file alone; nothing that was given becomes SQL.
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM entries WHERE sequence > ? ORDER BY sequence"  # noqa: S608
_INSERT = f"INSERT INTO entries VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608


def read_entries(connection: sqlite3.Connection, after: int = -1) -> list[Entry]:
    """Return the entries after a position, each with a hash that fits."""
    # All at once: a cursor left half read by an interruption would keep the file locked.
    rows = connection.execute(_SELECT, (after,)).fetchall()
    return [Entry.from_row(row) for row in rows]


def insert(connection: sqlite3.Connection, entry: Entry) -> None:
    """Append an entry."""
    connection.execute(_INSERT, entry.row())


def build(connection: sqlite3.Connection, entries: list[Entry]) -> list[int]:
    """Make a database of these entries; return the number of pages after each."""
    connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
    connection.execute("PRAGMA auto_vacuum = NONE")
    connection.execute("PRAGMA encoding = 'UTF-8'")
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
    for statement in SCHEMA:
        connection.execute(statement)
    pages = []
    for entry in entries:
        insert(connection, entry)
        pages.append(int(connection.execute("PRAGMA page_count").fetchone()[0]))
    connection.execute("COMMIT")
    return pages
