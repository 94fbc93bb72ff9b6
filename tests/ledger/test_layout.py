"""Any altered byte of a ledger is found, wherever it is."""

import sqlite3
from collections.abc import Iterable
from pathlib import Path

import pytest

from tacit.errors import LedgerError
from tacit.ledger.ledger import Ledger
from tacit.ledger.tables import SCHEMA
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
    return missed


def test_every_byte_of_the_header_counts(tmp_path: Path) -> None:
    path = tmp_path / "clinic.db"
    write_ledger(path, 2)
    assert unnoticed(path, HEADER) == []


def test_any_flipped_byte_is_found(tmp_path: Path) -> None:
    path = tmp_path / "clinic.db"
    write_ledger(path, 4)
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


def test_many_entries_verify(tmp_path: Path) -> None:
    # Built at once, as a rebuilt one is: inner pages of the tree have been split.
    ledger = Ledger(budget=Budget(mu=1.0))
    for _ in range(60):
        ledger.reserve([Gaussian(1, 10**6)] * 60, relation="replace-one", unit="row")
    assert ledger.verify().entries == 61
