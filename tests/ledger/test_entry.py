"""An entry fits its hash or is refused."""

import json
from typing import Any

import pytest

from tacit.errors import LedgerError
from tacit.ledger.entry import COLUMNS, ORIGIN, Entry, EntryKind


def chain() -> tuple[Entry, Entry]:
    first = Entry.follow(None, EntryKind.OPEN, 0, {"a": 1})
    return first, Entry.follow(first, EntryKind.RESERVE, 7, {"b": "é"})


def test_an_entry_follows_the_last_one() -> None:
    first, second = chain()
    assert (first.sequence, first.previous, first.amount, first.spent) == (0, ORIGIN, 0, 0)
    assert (second.sequence, second.previous, second.amount, second.spent) == (1, first.hash, 7, 7)


def row_of(entry: Entry) -> list[Any]:
    return [str(entry.kind) if name == "kind" else getattr(entry, name) for name in COLUMNS]


def test_reading_a_row_gives_the_entry_back() -> None:
    for entry in chain():
        assert Entry.from_row(row_of(entry)) == entry


@pytest.mark.parametrize("place", range(len(COLUMNS)))
def test_any_altered_field_is_found(place: int) -> None:
    row: list[Any] = list(row_of(chain()[1]))
    row[place] += 1 if isinstance(row[place], int) else "0"
    with pytest.raises(LedgerError, match="does not fit its hash"):
        Entry.from_row(row)


@pytest.mark.parametrize("place", range(len(COLUMNS)))
def test_a_field_of_another_type_is_refused(place: int) -> None:
    row: list[object] = list(row_of(chain()[1]))
    row[place] = 1.0
    with pytest.raises(LedgerError, match="wrong type"):
        Entry.from_row(row)


def test_an_unknown_kind_is_refused() -> None:
    odd = Entry.follow(None, "refund", 0, {})  # type: ignore[arg-type]
    with pytest.raises(LedgerError, match="unknown kind"):
        Entry.from_row(row_of(odd))


def test_the_body_has_a_time_and_one_spelling() -> None:
    entry = chain()[1]
    assert entry.document()["time"].endswith("+00:00")
    loose = Entry(0, EntryKind.OPEN, 0, 0, json.dumps({"b": 1, "a": 2}), ORIGIN, "")
    with pytest.raises(LedgerError, match="one spelling"):
        loose.document()
    with pytest.raises(LedgerError, match="cannot be read"):
        Entry(0, EntryKind.OPEN, 0, 0, "{", ORIGIN, "").document()


def test_an_entry_comes_right_after_the_last_one() -> None:
    first, second = chain()
    first.require_after(None)
    second.require_after(first)
    other = Entry.follow(None, EntryKind.OPEN, 0, {"a": 2})
    for entry, last in ((second, None), (second, other), (first, first), (second, second)):
        with pytest.raises(LedgerError, match="breaks the chain"):
            entry.require_after(last)
