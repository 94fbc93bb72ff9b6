"""SQLite itself refuses what is not an append within the budget."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tacit.ledger.entry import Entry, Kind
from tacit.ledger.price import WHOLE
from tacit.ledger.tables import build, insert, read_entries

FIRST = Entry.follow(None, Kind.OPEN, 0, {})
SECOND = Entry.follow(FIRST, Kind.RESERVE, 5, {})


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    build(connection, [FIRST, SECOND])
    yield connection
    connection.close()


def test_entries_go_in_and_come_out(connection: sqlite3.Connection) -> None:
    assert read_entries(connection) == [FIRST, SECOND]
    assert read_entries(connection, after=0) == [SECOND]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET spent = 0",
        "UPDATE entries SET body = '' WHERE sequence = 1",
        "DELETE FROM entries WHERE sequence = 1",
        "DELETE FROM entries",
        "INSERT OR REPLACE INTO entries SELECT * FROM entries WHERE sequence = 1",
    ],
)
def test_nothing_is_changed_or_removed(connection: sqlite3.Connection, statement: str) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        connection.execute(statement)
    assert read_entries(connection) == [FIRST, SECOND]


@pytest.mark.parametrize(
    "change",
    [
        {"sequence": 3},
        {"sequence": 1},
        {"sequence": -1},
        {"previous": FIRST.hash},
        {"amount": 3},
        {"spent": 8},
        {"amount": -1, "spent": 4},
        {"amount": WHOLE - 4, "spent": WHOLE + 1},
        {"amount": 2.5, "spent": 7.5},
        {"kind": "refund"},
        {"hash": "short"},
        {"body": b"bytes"},
    ],
)
def test_what_does_not_follow_is_refused(
    connection: sqlite3.Connection, change: dict[str, object]
) -> None:
    good = Entry.follow(SECOND, Kind.RESERVE, 7, {})
    with pytest.raises(sqlite3.IntegrityError):
        insert(connection, replace(good, **change))  # type: ignore[arg-type]
    insert(connection, good)


def test_the_whole_budget_fits_in_an_integer(connection: sqlite3.Connection) -> None:
    insert(connection, Entry.follow(SECOND, Kind.RESERVE, WHOLE, {}))
    assert read_entries(connection)[-1].spent == WHOLE < 2**63
