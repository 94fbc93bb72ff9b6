"""Durable before anybody is told; one budget for all processes; nothing lost, nothing doubled."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from tacit.errors import FileError, LedgerError
from tacit.ledger.entry import Entry, Kind
from tacit.ledger.ledger import Ledger
from tacit.ledger.storage import FileStorage, MemoryStorage, Storage
from tacit.ledger.tables import insert, read_entries
from tacit.privacy.budget import Budget

SOURCE = Path(__file__).parents[2] / "src"
FIRST = Entry.follow(None, Kind.OPEN, 0, {})
SECOND = Entry.follow(FIRST, Kind.RESERVE, 5, {})

PROCESSES, ATTEMPTS, ROOM = 4, 20, 50
SPENDER = """
import sys
from tacit.errors import BudgetError
from tacit.ledger import Ledger
from tacit.privacy import Gaussian
path, attempts, room = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
ledger, accepted = Ledger(path), 0
for _ in range(attempts):
    try:
        ledger.reserve([Gaussian(1, room)], relation="replace-one", unit="row")
    except BudgetError:
        continue
    accepted += 1
print(accepted)
"""

# The line is on disk before the next charge: what it names is a release that somebody has seen.
KILLS = 5
RELEASER = """
import os, sys
from tacit.ledger import Ledger
from tacit.privacy import Gaussian
path, log, name = sys.argv[1:]
ledger = Ledger(path)
with open(log, "a") as stream:
    for number in range(10**6):
        label = f"{name}-{number}"
        charge = ledger.reserve([Gaussian(1, 10**9)], relation="zero-out", unit="row", label=label)
        stream.write(label + "\\n")
        stream.flush()
        os.fsync(stream.fileno())
        ledger.commit(charge, "sha256:" + label)
"""


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_t44_concurrent_processes_cannot_overspend(tmp_path: Path) -> None:
    path = tmp_path / "clinic.db"
    Ledger(path, budget=Budget(mu=1.0))
    spenders = [start(SPENDER, path, ATTEMPTS, ROOM) for _ in range(PROCESSES)]
    accepted = [int(spender.communicate(timeout=120)[0]) for spender in spenders]
    assert sum(accepted) == ROOM
    ledger = Ledger(path)
    assert len(ledger.charges()) == ROOM
    assert ledger.remaining() is None
    assert ledger.verify().charges == ROOM


def test_t44_a_killed_process_loses_no_charge_and_doubles_none(tmp_path: Path) -> None:
    path, log = tmp_path / "clinic.db", tmp_path / "released.txt"
    log.touch()
    Ledger(path, budget=Budget(mu=1.0))
    for kill in range(KILLS):
        releaser = start(RELEASER, path, log, kill)
        before, deadline = log.stat().st_size, time.monotonic() + 60
        while log.stat().st_size == before and time.monotonic() < deadline:
            time.sleep(0.005)
        # Different instants of the cycle of some ten milliseconds.
        time.sleep(0.0037 * (kill + 1))
        os.kill(releaser.pid, signal.SIGKILL)
        releaser.communicate()
        released = log.read_text(encoding="utf-8").splitlines()
        check = Ledger(path).verify()
        charges = Ledger(path).charges()
        labels = Counter(charge.label for charge in charges)
        assert set(released) <= set(labels)
        assert set(labels.values()) == {1}
        # One charge at most is under way when a process dies.
        assert check.charges - len(released) <= kill + 1
        assert check.unreleased <= kill + 1
        assert all(charge.release in (None, f"sha256:{charge.label}") for charge in charges)
    assert len(released) >= KILLS


def interrupted(storage: Storage) -> None:
    with storage.writing() as connection:
        insert(connection, SECOND)
        raise KeyboardInterrupt


def test_t44_the_file_alone_holds_what_was_acknowledged(tmp_path: Path) -> None:
    path, copy = tmp_path / "clinic.db", tmp_path / "copy.db"
    storage = FileStorage(path)
    assert storage.create(FIRST)
    # Another connection keeps the log from being removed; it must be empty nevertheless.
    with closing(sqlite3.connect(path)) as other:
        other.execute("SELECT count(*) FROM entries").fetchone()
        with storage.writing() as connection:
            insert(connection, SECOND)
        assert (tmp_path / "clinic.db-wal").stat().st_size == 0
        copy.write_bytes(path.read_bytes())
    with FileStorage(copy).reading() as connection:
        assert read_entries(connection) == [FIRST, SECOND]


def test_what_is_interrupted_before_its_end_is_not_written(tmp_path: Path) -> None:
    for storage in (FileStorage(tmp_path / "clinic.db"), MemoryStorage()):
        storage.create(FIRST)
        with pytest.raises(KeyboardInterrupt):
            interrupted(storage)
        with storage.reading() as connection:
            assert read_entries(connection) == [FIRST]


def test_an_existing_file_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("mine", encoding="utf-8")
    assert not FileStorage(path).create(FIRST)
    assert path.read_text(encoding="utf-8") == "mine"
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_a_new_file_is_complete_and_alone(tmp_path: Path) -> None:
    storage = FileStorage(tmp_path / "clinic.db")
    assert storage.create(FIRST)
    assert [file.name for file in tmp_path.iterdir()] == ["clinic.db"]
    with storage.reading() as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert connection.execute("PRAGMA synchronous").fetchone()[0] == 2


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be written"):
        FileStorage(tmp_path / "none" / "clinic.db").create(FIRST)
    with pytest.raises(FileError, match="no such file"), FileStorage(tmp_path / "x.db").reading():
        pass


def test_what_sqlite_says_is_a_ledger_error(tmp_path: Path) -> None:
    path = tmp_path / "clinic.db"
    path.write_bytes(b"not a database at all" * 100)
    with (
        pytest.raises(LedgerError, match="cannot be used"),
        FileStorage(path).reading() as connection,
    ):
        read_entries(connection)


def test_memory_is_not_shared_with_a_forked_process(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = MemoryStorage()
    storage.create(FIRST)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(LedgerError, match="belongs to the process"), storage.reading():
        pass
