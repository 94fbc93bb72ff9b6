"""Any altered byte of a ledger is found, wherever it is."""

import sqlite3
from collections.abc import Iterable
from pathlib import Path

import pytest

from tacit.errors import LedgerError
from tacit.ledger.entry import Entry, Kind
from tacit.ledger.layout import require_layout, require_structure
from tacit.ledger.ledger import Ledger
from tacit.ledger.storage import FileStorage
from tacit.ledger.tables import SCHEMA, insert
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian

HEADER = range(100)
# 97 and 8 have no common factor: over the file every bit of a byte is flipped somewhere.
STRIDE = 97


def write_ledger(path: Path, charges: int) -> Ledger:
    ledger = Ledger(path, budget=Budget(mu=1.0), dataset="clinic 2024")
    for number in range(charges):
        charge = ledger.reserve(
            [Gaussian(1, 1000)], relation="replace-one", unit="row", label=f"fit {number}"
        )
        ledger.commit(charge, f"sha256:{number:064x}")
    return ledger


def unnoticed(path: Path, places: Iterable[int]) -> list[int]:
    """Places where a flipped bit passes `verify`, or opening shows other charges."""
    whole, head = path.read_bytes(), Ledger(path).verify().head
    missed: list[int] = []
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        try:
            ledger = Ledger(path)
            lost = ledger.certificate().document["ledger"]["head"] != head
            if lost or ledger.verify():
                missed.append(place)
        except LedgerError:
            continue
        finally:
            path.write_bytes(whole)
            for log in path.parent.glob("clinic.db-*"):
                log.unlink()
    return missed


def test_every_byte_of_the_header_counts(tmp_path: Path) -> None:
    path = tmp_path / "clinic.db"
    write_ledger(path, 2)
    assert unnoticed(path, HEADER) == []


def test_any_flipped_byte_is_found(tmp_path: Path) -> None:
    path = tmp_path / "clinic.db"
    write_ledger(path, 8)
    size = path.stat().st_size
    assert size > 2 * 4096  # unused space, several pages and an inner page among them
    assert unnoticed(path, range(0, size, STRIDE)) == []


def test_longer_and_shorter_files_are_found(tmp_path: Path) -> None:
    path = tmp_path / "clinic.db"
    write_ledger(path, 2)
    whole = path.read_bytes()
    for altered in (whole + b"\0", whole + whole[-4096:], whole[:-1], whole[:-4096]):
        path.write_bytes(altered)
        with pytest.raises(LedgerError):
            Ledger(path).verify()


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TRIGGER entries_stay",
        "CREATE TABLE more (a)",
        "CREATE INDEX more ON entries (hash)",
        "PRAGMA user_version = 2",
        "PRAGMA application_id = 7",
    ],
)
def test_altered_tables_are_refused(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "clinic.db"
    write_ledger(path, 1)
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.close()
    with pytest.raises(LedgerError, match=r"altered|not a ledger"):
        Ledger(path)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM entries WHERE sequence = (SELECT max(sequence) FROM entries)",
        "DELETE FROM entries WHERE sequence = 1",
        "UPDATE entries SET amount = 0, spent = 0",
        "UPDATE entries SET body = replace(body, '1000', '9000')",
    ],
)
def test_t44_rewritten_history_is_found(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "clinic.db"
    write_ledger(path, 2)
    connection = sqlite3.connect(path, isolation_level=None)
    # Somebody who takes the rules away, rewrites, and puts them back.
    for name in ("entries_follow", "entries_stay", "entries_are_final"):
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute(statement)
    for text in SCHEMA[1:]:
        connection.execute(text)
    connection.close()
    with pytest.raises(LedgerError):
        Ledger(path).verify()


def test_a_ledger_in_memory_verifies() -> None:
    ledger = Ledger(budget=Budget(mu=1.0))
    ledger.reserve([Gaussian(1, 4)], relation="replace-one", unit="row")
    assert ledger.verify().charges == 1


def test_a_tree_of_several_levels_is_laid_out_in_one_way(tmp_path: Path) -> None:
    # One entry fills a page, and an inner page points to some 450: the root has been split.
    storage = FileStorage(tmp_path / "clinic.db")
    entry = Entry.follow(None, Kind.OPEN, 0, {})
    storage.create(entry)
    for _ in range(30):
        with storage.writing() as connection:
            for _ in range(20):
                entry = Entry.follow(entry, Kind.RESERVE, entry.spent, {"label": "x" * 3000})
                insert(connection, entry)
    with storage.reading() as connection:
        require_structure(connection)
        require_layout(connection, storage.path)
