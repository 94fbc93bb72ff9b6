"""Durable before anybody is told; one budget for all processes; nothing lost, nothing doubled."""

import errno
import os
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tacit.errors import FileError, LedgerError
from tacit.ledger import storage as storage_module
from tacit.ledger.entry import Entry, EntryKind
from tacit.ledger.ledger import Ledger
from tacit.ledger.storage import FileStorage, MemoryStorage, Storage, encode, written
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian

SOURCE = Path(__file__).parents[2] / "src"
FIRST = Entry.follow(None, EntryKind.OPEN, 0, {})
SECOND = Entry.follow(FIRST, EntryKind.RESERVE, 5, {})
THIRD = Entry.follow(SECOND, EntryKind.RESERVE, 6, {})
PART: dict[str, Any] = {"relation": "zero-out", "unit": "row"}

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


# A child of a process whose other threads charge can charge as well, and ends.
FORKS = 12
FORKER = """
import os, sys, threading
from tacit.ledger import Ledger
from tacit.privacy import Budget, Gaussian
path, forks = sys.argv[1], int(sys.argv[2])
ledger, memory = Ledger(path), Ledger(budget=Budget(mu=1.0))
stop = threading.Event()
terms = {"relation": "zero-out", "unit": "row"}
def charge():
    while not stop.is_set():
        ledger.reserve([Gaussian(1, 10**9)], **terms, label="thread")
        memory.reserve([Gaussian(1, 10**9)], **terms)
threads = [threading.Thread(target=charge) for _ in range(3)]
for thread in threads:
    thread.start()
children = []
for number in range(forks):
    child = os.fork()
    if child == 0:
        try:
            memory.charges()
            os._exit(2)
        except ValueError:
            pass
        ledger.reserve([Gaussian(1, 10**9)], **terms, label=f"child {number}")
        os._exit(0)
    children.append(child)
codes = [os.waitpid(child, 0)[1] for child in children]
stop.set()
for thread in threads:
    thread.join()
print(codes.count(0))
"""


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_t44_concurrent_processes_cannot_overspend(tmp_path: Path) -> None:
    path = tmp_path / "clinic.ledger"
    Ledger(path, budget=Budget(mu=1.0))
    spenders = [start(SPENDER, path, ATTEMPTS, ROOM) for _ in range(PROCESSES)]
    accepted = [int(spender.communicate(timeout=120)[0]) for spender in spenders]
    assert sum(accepted) == ROOM
    ledger = Ledger(path)
    assert len(ledger.charges()) == ROOM
    assert ledger.remaining() is None
    assert ledger.verify().charges == ROOM


def test_t44_a_killed_process_loses_no_charge_and_doubles_none(tmp_path: Path) -> None:
    path, log = tmp_path / "clinic.ledger", tmp_path / "released.txt"
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
    with storage.session(alone=True) as session:
        session.append(SECOND)
        raise KeyboardInterrupt


def entries_of(storage: Storage) -> list[Entry]:
    with storage.session(alone=False) as session:
        return session.entries()


def test_what_is_interrupted_before_its_end_is_not_written(tmp_path: Path) -> None:
    for storage in (FileStorage(tmp_path / "clinic.ledger"), MemoryStorage()):
        storage.create(FIRST)
        with pytest.raises(KeyboardInterrupt):
            interrupted(storage)
        assert entries_of(storage) == [FIRST]


def test_entries_go_in_and_come_out(tmp_path: Path) -> None:
    for storage in (FileStorage(tmp_path / "clinic.ledger"), MemoryStorage()):
        assert storage.create(FIRST)
        with storage.session(alone=True) as session:
            assert session.entries() == [FIRST]
            session.append(SECOND)
            with pytest.raises(LedgerError, match="breaks the chain"):
                session.append(SECOND)
            session.append(THIRD)
            assert session.entries(after=0) == [SECOND, THIRD]
        with storage.session(alone=False) as session:
            assert session.entries() == [FIRST, SECOND, THIRD]
            assert session.entries(after=1) == [THIRD]
            assert session.entries(after=2) == []
            with pytest.raises(LedgerError, match="one who is alone"):
                session.append(THIRD)


def test_t44_the_file_alone_holds_what_was_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "clinic.ledger"
    storage = FileStorage(path)
    assert storage.create(FIRST)
    assert not storage.create(FIRST)
    with storage.session(alone=True) as session:
        session.append(SECOND)
    assert path.read_bytes() == written([FIRST, SECOND])
    assert [file.name for file in tmp_path.iterdir()] == ["clinic.ledger"]


def test_t44_a_replaced_or_shortened_file_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "clinic.ledger"
    storage = FileStorage(path)
    path.write_bytes(written([FIRST, SECOND, THIRD]))
    with storage.session(alone=False) as session:
        assert session.entries(after=1) == [THIRD]
    path.write_bytes(written([FIRST, SECOND]))
    with storage.session(alone=False) as session:
        assert session.entries(after=1) == []
        assert session.entries() == [FIRST, SECOND]
    other = Entry.follow(None, EntryKind.OPEN, 0, {"label": "another ledger"})
    path.write_bytes(written([other]))
    assert entries_of(storage) == [other]


def test_t44_a_fork_while_threads_charge_can_charge_and_ends(tmp_path: Path) -> None:
    path = tmp_path / "clinic.ledger"
    Ledger(path, budget=Budget(mu=1.0))
    assert start(FORKER, path, FORKS).communicate(timeout=60)[0] == f"{FORKS}\n"
    labels = Counter(charge.label for charge in Ledger(path).charges())
    assert all(labels[f"child {number}"] == 1 for number in range(FORKS))
    assert Ledger(path).verify().charges == sum(labels.values())


def failing(real: Callable[..., Any], times: int, *, half: bool) -> Callable[..., Any]:
    """Fail at a call, for want of room; with `half`, after half of what it should write."""
    left = [times]

    def call(*arguments: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            if half:
                number, data, place = arguments
                real(number, data[: len(data) // 2], place)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*arguments)

    return call


@pytest.mark.parametrize("tail", [[], [SECOND]])
@pytest.mark.parametrize("cut", [True, False])
@pytest.mark.parametrize(
    ("call", "times", "half", "spent"),
    [
        ("pwrite", 1, False, False),
        ("pwrite", 1, True, False),
        ("fdatasync", 1, False, False),
        ("pwrite", 2, False, True),
        ("fdatasync", 2, False, True),
    ],
)
def test_t44_a_full_disk_at_any_step_leaves_the_ledger_usable(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    tail: list[Entry],
    cut: bool,
    call: str,
    times: int,
    half: bool,
    spent: bool,
) -> None:
    storage = FileStorage(tmp_path / "clinic.ledger")
    before = [FIRST, *tail]
    entry = Entry.follow(before[-1], EntryKind.RESERVE, 7, {})
    storage.path.write_bytes(written([FIRST]) + b"".join(map(encode, tail)))
    with monkeypatch.context() as patch:
        patch.setattr(os, call, failing(getattr(os, call), times, half=half))
        if not cut:
            # Nor can what was written be removed.
            patch.setattr(os, "ftruncate", failing(os.ftruncate, 1, half=False))
        with pytest.raises(LedgerError, match=r"No space left.*may count as spent"):
            append(storage, entry)
    # Where the line is whole on the disk and could not be removed, it counts.
    kept = spent or (not cut and call == "fdatasync")
    now = [*before, entry] if kept else before
    assert entries_of(storage) == now
    last = Entry.follow(now[-1], EntryKind.RESERVE, 9, {})
    append(storage, last)
    assert storage.path.read_bytes() == written([*now, last])


def append(storage: Storage, entry: Entry) -> None:
    with storage.session(alone=True) as session:
        session.append(entry)


def test_t44_a_disk_that_fills_up_refuses_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "clinic.ledger"
    ledger = Ledger(path, budget=Budget(mu=1.0))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    size, accepted, refused = path.stat().st_size, 0, 0
    try:
        for room in range(0, 2000, 100):
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, limits[1]))
            try:
                ledger.reserve([Gaussian(1, 10**6)], **PART)
                accepted += 1
            except LedgerError:
                refused += 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert accepted > 1 < refused
    assert len(ledger.charges()) == ledger.verify().charges == accepted
    ledger.reserve([Gaussian(1, 10**6)], **PART)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be written"):
        FileStorage(tmp_path / "none" / "clinic.ledger").create(FIRST)
    with pytest.raises(FileError, match="no such file"), FileStorage(tmp_path / "x").session(alone=False):
        pass


def test_what_the_system_refuses_is_a_ledger_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    storage = FileStorage(tmp_path / "clinic.ledger")
    storage.create(FIRST)
    monkeypatch.setattr(os, "pread", broken)
    with pytest.raises(LedgerError, match=r"cannot be used.*output error"), storage.session(alone=False):
        pass


def test_memory_is_not_shared_with_a_forked_process(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = MemoryStorage()
    storage.create(FIRST)
    # Also where another thread held its lock when the process was forked.
    with storage._lock:
        monkeypatch.setattr(os, "getpid", lambda: -1)
        with pytest.raises(LedgerError, match="belongs to the process"), storage.session(alone=False):
            pass


def test_threads_wait_for_memory_for_a_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_module, "PATIENCE", 0.1)
    storage = MemoryStorage()
    storage.create(FIRST)
    with storage._lock, pytest.raises(LedgerError, match="kept busy"), storage.session(alone=False):
        pass
