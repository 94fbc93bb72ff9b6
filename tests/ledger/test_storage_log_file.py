"""Every byte of a ledger counts; what a crash leaves is adopted or removed, never misread."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tacit.errors import LedgerError
from tacit.ledger.entry import Entry, EntryKind
from tacit.ledger.ledger import Ledger
from tacit.ledger.storage import HEADER_BYTES, FileStorage, decode, encode, header, written
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian

FIRST = Entry.follow(None, EntryKind.OPEN, 0, {})
SECOND = Entry.follow(FIRST, EntryKind.RESERVE, 5, {"label": "ward ä"})
THIRD = Entry.follow(SECOND, EntryKind.RESERVE, 9, {})
FOURTH = Entry.follow(THIRD, EntryKind.RESERVE, 9, {})
CHARGE: dict[str, Any] = {"relation": "replace-one", "unit": "row"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "clinic.ledger"


def write_ledger(path: Path, charges: int) -> Ledger:
    ledger = Ledger(path, budget=Budget(mu=1.0), dataset="clinic 2024")
    for number in range(charges):
        charge = ledger.reserve([Gaussian(1, 1000)], relation="replace-one", unit="row", label=f"fit {number}")
        ledger.commit(charge, f"sha256:{number:064x}")
    return ledger


def entries_of(path: Path) -> list[Entry]:
    with FileStorage(path).session(alone=False) as session:
        return session.entries()


def append(path: Path, entry: Entry) -> None:
    with FileStorage(path).session(alone=True) as session:
        session.append(entry)


def recorded(monkeypatch: pytest.MonkeyPatch, call: str) -> list[tuple[Any, ...]]:
    """Arguments of every later use of a system call."""
    real, calls = getattr(os, call), list[tuple[Any, ...]]()

    def recording(*arguments: Any) -> Any:
        calls.append(arguments)
        return real(*arguments)

    monkeypatch.setattr(os, call, recording)
    return calls


def test_a_file_is_a_header_and_a_line_per_entry(path: Path) -> None:
    FileStorage(path).create(FIRST)
    append(path, SECOND)
    data = path.read_bytes()
    assert (
        data
        == written([FIRST, SECOND])
        == header(len(data), SECOND) + b"".join(encode(entry) for entry in (FIRST, SECOND))
    )
    assert data.isascii()
    # Within one sector, so that rewriting it is one step for the disk.
    assert len(header(10**19, FIRST)) == HEADER_BYTES < 512


@pytest.mark.parametrize(
    "change",
    [
        lambda line: line.replace(b'"amount":5', b'"amount": 5'),
        lambda line: line.replace(b'"amount":5', b'"amount":5.0'),
        lambda line: line.replace(b'"amount":5', b'"amount":5,"amount":5'),
        lambda line: line.replace(b'"amount":5', b'"amount":5,"more":1'),
        lambda line: line.replace(b'"amount":5', b'"amount":4'),
        lambda line: line.replace(b"reserve", b"\\u0072eserve"),
        lambda line: line.replace(b"\n", b" \n"),
        lambda line: b"\xff" + line,
        lambda line: b"[" * 100_000 + b"\n",
        lambda line: b"9" * 5_000 + b"\n",
        lambda line: b"\n",
    ],
)
def test_an_entry_has_one_spelling(change: Callable[[bytes], bytes]) -> None:
    assert decode(encode(SECOND)) == SECOND
    with pytest.raises(LedgerError):
        decode(change(encode(SECOND)))


def test_any_flipped_bit_is_found(path: Path) -> None:
    write_ledger(path, 1)
    whole = path.read_bytes()
    for place in range(len(whole)):
        # Every byte in one of its bits; the benchmark flips every bit.
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        with pytest.raises(LedgerError):
            Ledger(path)


def test_a_shorter_file_is_refused(path: Path) -> None:
    write_ledger(path, 2)
    whole = path.read_bytes()
    last = whole[:-1].rindex(b"\n") + 1
    for length in (0, 1, HEADER_BYTES, HEADER_BYTES + 1, last, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(LedgerError):
            Ledger(path)


def test_every_byte_beyond_is_told_and_removed(path: Path) -> None:
    ledger = write_ledger(path, 2)
    whole = path.read_bytes()
    for more in (b"\0", b'{"amount', b"\0" * 5000, whole[HEADER_BYTES:], b"\n\n"):
        path.write_bytes(whole + more)
        assert f"The last {len(more)} bytes" in Ledger(path).verify().statement
    ledger.reserve([Gaussian(1, 1000)], **CHARGE)
    assert path.read_bytes()[HEADER_BYTES : len(whole)] == whole[HEADER_BYTES:]
    assert "The last" not in ledger.verify().statement
    assert b"\n\n" not in path.read_bytes()


@pytest.mark.parametrize("line", [1, 2, 3])
def test_t44_rewritten_history_is_found(path: Path, line: int) -> None:
    write_ledger(path, 2)
    lines = path.read_bytes().splitlines(keepends=True)
    # Somebody who keeps the hash and the length of the entry, and somebody who makes new ones.
    altered = lines[line].replace(b"1000", b"9000")
    if altered != lines[line]:
        path.write_bytes(b"".join([*lines[:line], altered, *lines[line + 1 :]]))
        with pytest.raises(LedgerError, match="does not fit its hash"):
            Ledger(path)
    forged = encode(Entry.follow(None, EntryKind.RESERVE, 0, {}))
    rest = b"".join([*lines[1:line], forged, *lines[line + 1 :]])
    length = HEADER_BYTES + len(rest)
    path.write_bytes(header(length, decode(lines[-1])) + rest)
    with pytest.raises(LedgerError, match=r"damaged|out of place"):
        Ledger(path)


@pytest.mark.parametrize("removed", [1, 2, 4])
def test_t44_removed_history_is_found(path: Path, removed: int) -> None:
    write_ledger(path, 2)
    lines = path.read_bytes().splitlines(keepends=True)
    del lines[removed]
    path.write_bytes(b"".join(lines))
    with pytest.raises(LedgerError, match="damaged"):
        Ledger(path)


@pytest.mark.parametrize("torn", [0, 1, 40])
def test_a_complete_line_beyond_the_header_counts_as_spent(path: Path, torn: int) -> None:
    # A crash after the line was written and before the header was.
    old = written([FIRST, SECOND])
    path.write_bytes(old + encode(THIRD) + encode(FOURTH)[:torn])
    assert entries_of(path) == [FIRST, SECOND, THIRD]
    assert path.read_bytes()[:HEADER_BYTES] == old[:HEADER_BYTES]
    append(path, FOURTH)
    assert path.read_bytes() == written([FIRST, SECOND, THIRD, FOURTH])


def test_a_line_that_does_not_follow_is_no_entry(path: Path) -> None:
    path.write_bytes(written([FIRST, SECOND]) + encode(FOURTH))
    assert entries_of(path) == [FIRST, SECOND]
    append(path, THIRD)
    assert path.read_bytes() == written([FIRST, SECOND, THIRD])


def test_an_adopted_line_is_written_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # After a sync that failed, the system may take it for stored although it is not.
    path.write_bytes(written([FIRST, SECOND]) + encode(THIRD))
    written_to = recorded(monkeypatch, "pwrite")
    append(path, FOURTH)
    length = len(encode(THIRD)) + len(encode(FOURTH))
    assert [(place, len(data)) for _, data, place in written_to] == [
        (len(written([FIRST, SECOND])), length),
        (0, HEADER_BYTES),
    ]


@pytest.mark.parametrize(
    "entry", [FIRST, SECOND, FOURTH, replace(THIRD, sequence=7), replace(THIRD, previous=FIRST.hash)]
)
def test_what_does_not_follow_is_not_appended(path: Path, entry: Entry) -> None:
    path.write_bytes(written([FIRST, SECOND]))
    with pytest.raises(LedgerError, match="breaks the chain"):
        append(path, entry)
    assert path.read_bytes() == written([FIRST, SECOND])


def test_a_newer_format_and_other_files_are_refused(path: Path) -> None:
    whole = written([FIRST])
    for data in (b"", b"patient,age\n", whole.replace(b"ledger/2", b"ledger/3"), whole[1:]):
        path.write_bytes(data)
        with pytest.raises(LedgerError, match="not a ledger of this version"):
            Ledger(path)


def test_only_what_is_new_is_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = write_ledger(path, 20)
    ledger.charges()
    calls = recorded(monkeypatch, "pread")
    for _ in range(20):
        ledger.reserve([Gaussian(1, 1000)], **CHARGE)
    # A header, the last known line and a new one each time, however long the file.
    assert sum(amount for _, amount, _ in calls) / 20 < 2500 < path.stat().st_size / 10
