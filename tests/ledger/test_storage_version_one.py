"""Ledgers that version 0.1 wrote are read, and nothing is written to or beside them."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import astuple
from pathlib import Path

import pytest

from tacit.errors import FileError, LedgerError
from tacit.ledger.entry import Entry, EntryKind
from tacit.ledger.ledger import Ledger
from tacit.ledger.storage import is_version_one, read_entries
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian

# Written by version 0.1: three charges of the budget (3, 1e-6), two of them released.
OLD = Path(__file__).parents[1] / "fixtures" / "ledger-0.1.db"
HEAD = "5cf2aa42591fbbcd1f29d9f61eda91e3ec63fe47b8debae619a80b969c63f34a"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return Path(shutil.copy(OLD, tmp_path / "old.db"))


def test_it_is_read_to_the_last_hash(path: Path) -> None:
    ledger = Ledger(path, budget=Budget(epsilon=3, delta=1e-6), dataset="clinic 2024")
    assert [charge.label for charge in ledger.charges()] == ["fit 0", "fit 1", "fit 2"]
    assert [charge.release is None for charge in ledger.charges()] == [False, False, True]
    guarantee = ledger.guarantee()
    assert guarantee is not None
    assert guarantee.mu == 0.27055455588838795
    assert ledger.verify().head == ledger.certificate().document["ledger"]["head"] == HEAD
    assert path.read_bytes() == OLD.read_bytes()
    assert [file.name for file in path.parent.iterdir()] == ["old.db"]


def test_it_is_not_charged(path: Path) -> None:
    ledger = Ledger(path, dataset="clinic 2024")
    with pytest.raises(LedgerError, match=r"tacit ledger upgrade OLD NEW.*Ledger\.upgrade"):
        ledger.reserve([Gaussian(1, 1000)], relation="replace-one", unit="patient")
    assert path.read_bytes() == OLD.read_bytes()


def test_what_a_crash_left_in_its_log_counts(path: Path, tmp_path: Path) -> None:
    last = read_entries(path)[-1]
    entry = Entry.follow(last, EntryKind.COMMIT, last.spent, {"reservation": 5, "release": "sha256:x"})
    after = tmp_path / "after"
    after.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)", astuple(entry))
        # As the files are when the process is killed.
        for suffix in ("", "-wal"):
            shutil.copy(f"{path}{suffix}", after / f"old.db{suffix}")
    assert (after / "old.db").read_bytes() == OLD.read_bytes()
    assert read_entries(after / "old.db")[-1] == entry
    assert Ledger(after / "old.db").verify().unreleased == 0
    assert sorted(file.name for file in after.iterdir()) == ["old.db", "old.db-wal"]
    assert (after / "old.db").read_bytes() == OLD.read_bytes()


def alter(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        found = connection.execute("SELECT sql FROM sqlite_master WHERE type = 'trigger'")
        rules = [row[0] for row in found.fetchall()]
        # Somebody who takes the rules away, rewrites, and puts them back.
        for name in ("entries_follow", "entries_stay", "entries_are_final"):
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(statement)
        for rule in rules:
            connection.execute(rule)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM entries WHERE sequence = 1",
        "UPDATE entries SET amount = 0, spent = 0",
        "UPDATE entries SET body = replace(body, '40', '90')",
        "CREATE TABLE more (a)",
        "PRAGMA user_version = 2",
        "PRAGMA application_id = 7",
    ],
)
def test_an_altered_one_is_refused(path: Path, statement: str) -> None:
    alter(path, statement)
    with pytest.raises(LedgerError):
        Ledger(path)


def test_flipped_bytes_never_show_other_charges(path: Path) -> None:
    whole = path.read_bytes()
    for place in range(16, len(whole), 61):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        try:
            assert Ledger(path).verify().head == HEAD
        except LedgerError:
            continue


def test_other_files_are_told_apart(tmp_path: Path) -> None:
    assert is_version_one(OLD)
    assert not is_version_one(tmp_path)
    assert not is_version_one(tmp_path / "none")
    (tmp_path / "notes").write_bytes(b"SQLite")
    assert not is_version_one(tmp_path / "notes")
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE entries (a)")
    with pytest.raises(LedgerError, match="not a ledger that Tacit wrote"):
        Ledger(tmp_path / "other.db")
    with pytest.raises(FileError, match="cannot be read"):
        read_entries(tmp_path / "none")
