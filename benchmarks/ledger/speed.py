"""Charges per second of one writer: the log, and beside it SQLite as version 0.1 used it."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import astuple
from pathlib import Path

from tacit.ledger import Ledger
from tacit.ledger.entry import COLUMNS, Entry, EntryKind
from tacit.ledger.storage import FileStorage
from tacit.privacy import Budget, Gaussian

CHARGES = 10_000
APPENDS = 1_000


def charges_per_second(folder: Path) -> tuple[float, float]:
    """Charges per second of a whole ledger: over all of them, and over the last tenth."""
    ledger = Ledger(folder / "fast", budget=Budget(mu=1.0))

    def charge() -> None:
        ledger.reserve([Gaussian(1, 10**9)], relation="zero-out", unit="row")

    begin = time.perf_counter()
    _rate(charge, CHARGES - CHARGES // 10)
    last = _rate(charge, CHARGES // 10)
    return CHARGES / (time.perf_counter() - begin), last


def appends_per_second(folder: Path) -> tuple[float, float]:
    """Durable appends per second of the log and of SQLite, of the same entries."""
    entries = [Entry.follow(None, EntryKind.OPEN, 0, {})]
    for _ in range(2 * APPENDS):
        entries.append(Entry.follow(entries[-1], EntryKind.RESERVE, 0, {"label": "x" * 200}))
    storage = FileStorage(folder / "log")
    storage.create(entries[0])
    begin_sqlite(folder / "database", entries[0])
    given, same = iter(entries[1:]), iter(entries[1:])

    def append() -> None:
        with storage.session(alone=True) as session:
            session.append(next(given))

    rates = [
        (_rate(append, APPENDS), _rate(lambda: insert(folder / "database", next(same)), APPENDS)) for _ in range(2)
    ]
    # The second round: everything is warm.
    return rates[-1]


def begin_sqlite(path: Path, first: Entry) -> None:
    """Make a database with a write-ahead log."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"CREATE TABLE entries ({', '.join(COLUMNS)})")
    insert(path, first)


def insert(path: Path, entry: Entry) -> None:
    """Append durably, with the log emptied before it is told, on a connection of its own."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"INSERT INTO entries VALUES ({', '.join('?' * 7)})", astuple(entry))
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def _rate(action: Callable[[], object], times: int) -> float:
    begin = time.perf_counter()
    for _ in range(times):
        action()
    return times / (time.perf_counter() - begin)
