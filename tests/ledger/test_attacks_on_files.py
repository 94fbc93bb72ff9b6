"""Attacks on the file of a ledger, kept as tests: interrupted, replaced, read at once."""

import errno
import fcntl
import os
import random
import shutil
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tacit.errors import LedgerError
from tacit.ledger import Ledger, storage
from tacit.ledger import locked_file as descriptor
from tacit.ledger.locked_file import Descriptor, locked
from tacit.ledger.storage import HEADER_BYTES
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian

# The children of this test process call nothing that a thread of the parent could have locked.
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")

SMALL = [Gaussian(1, 10**6)]
TERMS: dict[str, Any] = {"relation": "zero-out", "unit": "row"}
MU = Budget(mu=1.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "clinic.ledger"


def labels_of(path: Path) -> list[str]:
    Ledger(path).verify()
    return [charge.label for charge in Ledger(path).charges()]


# --- to be mended -------------------------------------------------------------------------------


def keyed(ledger: Ledger) -> None:
    request = ledger.request("first model")
    charge = request.reserve(SMALL, **TERMS, request="sha256:1")
    request.commit(charge, "sha256:x", {"answer": 1})


@pytest.mark.parametrize(
    "act",
    [
        keyed,
        lambda ledger: ledger.reserve(SMALL, **TERMS),
        lambda ledger: ledger.pause("an audit"),
        lambda ledger: ledger.lower(Budget(mu=0.1), "the board asked for it"),
        lambda ledger: ledger.grant("ana", reason="all of it"),
    ],
)
def test_an_older_copy_is_noticed_after_every_act(path: Path, act: Callable[[Ledger], Any]) -> None:
    ledger = Ledger(path, budget=MU)
    shutil.copy(path, path.with_name("old"))
    act(ledger)
    shutil.copy(path.with_name("old"), path)
    with pytest.raises(LedgerError, match="Restoring an older copy"):
        ledger.reserve(SMALL, **TERMS)


@pytest.mark.parametrize("how", ["replaced", "removed"])
@pytest.mark.parametrize("moment", [1, 2])
def test_a_charge_to_a_file_that_lost_its_name_is_not_acknowledged(
    path: Path, monkeypatch: pytest.MonkeyPatch, how: str, moment: int
) -> None:
    ledger, old, calls = Ledger(path, budget=MU), path.with_name("old"), [0]
    shutil.copy(path, old)
    real = descriptor.sync

    def meanwhile(number: int) -> None:
        calls[0] += 1
        if calls[0] == moment:
            old.replace(path) if how == "replaced" else path.unlink()
        real(number)

    monkeypatch.setattr("tacit.ledger.storage.sync", meanwhile)
    with pytest.raises(LedgerError, match=r"replaced, removed.*may count all the same"):
        ledger.reserve(SMALL, **TERMS)
    if how == "replaced":
        # No answer was computed for it, so the file that is there now can be charged.
        ledger.reserve(SMALL, **TERMS, label="next")
        assert labels_of(path) == ["next"]


@pytest.mark.parametrize("owner", [os, fcntl])
def test_a_failing_close_does_not_hide_a_charge(path: Path, monkeypatch: pytest.MonkeyPatch, owner: Any) -> None:
    ledger = Ledger(path, budget=MU)
    name = "close" if owner is os else "flock"
    real = getattr(owner, name)

    def failing(number: int, *arguments: int) -> Any:
        result = real(number, *arguments)
        if arguments in ((), (fcntl.LOCK_UN,)):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return result

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, failing)
        charge = ledger.reserve(SMALL, **TERMS, label="first")
        ledger.commit(charge, "sha256:x")
    assert labels_of(path) == ["first"]


def test_threads_that_read_at_once_do_not_take_each_other_for_a_restored_copy(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(path, budget=MU)
    Ledger(path).reserve(SMALL, **TERMS, label="of another")
    barrier, read, first = threading.Barrier(2), storage.Session.entries, [True]

    def entries(session: Any, after: int = -1) -> Any:
        found = read(session, after)
        if threading.current_thread() is slow and first:
            first.clear()
            barrier.wait()
            barrier.wait()
        return found

    found: list[str] = []
    slow = threading.Thread(target=lambda: found.extend(c.label for c in ledger.charges()))
    monkeypatch.setattr(storage.Session, "entries", entries)
    slow.start()
    barrier.wait()
    assert len(ledger.charges()) == 1
    barrier.wait()
    slow.join()
    assert found == ["of another"]


@pytest.mark.parametrize("moment", range(4))
def test_the_lock_ends_with_an_interruption_of_its_closing(path: Path, moment: int) -> None:
    path.touch()
    left = [moment + 1]

    # Where Python looks for signals: when a function begins, and when a call has returned.
    def interrupt(frame: FrameType, event: str, _: object) -> None:
        if frame.f_code is Descriptor.close.__code__ and event in ("call", "c_return"):
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt

    former = sys.getprofile()
    try:
        with suppress(KeyboardInterrupt), locked(path, alone=True, patience=0.0):
            sys.setprofile(interrupt)
    finally:
        sys.setprofile(former)
    assert left[0] < moment + 1
    with locked(path, alone=True, patience=0.0):
        pass


def test_an_error_tells_whether_what_failed_was_a_charge(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    ledger = Ledger(path, budget=MU)
    charge = ledger.reserve(SMALL, **TERMS)
    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(LedgerError, match=r"may count as spent, and no answer was released"):
        ledger.reserve(SMALL, **TERMS)
    with pytest.raises(LedgerError, match=r"may be in the ledger all the same, and costs nothing"):
        ledger.commit(charge, "sha256:x")


# --- attacks that failed ------------------------------------------------------------------------


class Ended(BaseException):
    """Stands for the end of the process: nothing is called any more."""


@pytest.mark.parametrize("state", ["clean", "torn", "whole line", "whole line and torn"])
def test_t44_after_any_number_of_written_bytes_nothing_is_lost_or_doubled(
    path: Path, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    first = Ledger(path, budget=MU)
    first.reserve(SMALL, **TERMS, label="first")
    one = path.read_bytes()
    first.reserve(SMALL, **TERMS, label="tail")
    tail = path.read_bytes()[len(one) :]
    kept = (tail if "whole" in state else b"") + (tail[:200] if "torn" in state else b"")
    before = ["first", "tail"] if "whole" in state else ["first"]
    real, outcomes, room = os.pwrite, Counter[bool](), 0

    def write(number: int, data: bytes, place: int) -> int:
        done = real(number, data[: left[0]], place) if left[0] else 0
        left[0] -= done
        if done < len(data):
            raise Ended
        return done

    for room in range(0, 2000, 23):
        path.write_bytes(one + kept)
        ledger, left = Ledger(path), [room]
        with monkeypatch.context() as patch, suppress(Ended):
            patch.setattr(os, "pwrite", write)
            ledger.reserve(SMALL, **TERMS, label="new")
            break
        # The header is within one sector of the disk: it is old or new, and never half of it.
        if path.read_bytes()[:HEADER_BYTES] != one[:HEADER_BYTES]:
            continue
        labels = labels_of(path)
        assert labels in (before, [*before, "new"])
        outcomes["new" in labels] += 1
        Ledger(path).reserve(SMALL, **TERMS, label="after")
        assert labels_of(path) == [*labels, "after"]
    assert outcomes[False] > 10
    assert labels_of(path) == [*before, "new"]


# An interrupt within a finaliser or a callback of the garbage collector is swallowed by Python, and told as a warning.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_t44_interrupted_at_any_instant_nothing_is_lost_or_doubled(path: Path) -> None:
    ledger, told, broken = Ledger(path, budget=MU), list[str](), 0
    clock, end = random.Random(0), time.monotonic() + 2

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    former = signal.signal(signal.SIGALRM, interrupt)
    try:
        while time.monotonic() < end:
            label = f"{len(told) + broken}"
            try:
                signal.setitimer(signal.ITIMER_REAL, clock.uniform(1e-5, 3e-3))
                ledger.reserve(SMALL, **TERMS, label=label)
                signal.setitimer(signal.ITIMER_REAL, 0)
                told.append(label)
            except KeyboardInterrupt:
                broken += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
    counted = Counter(labels_of(path))
    assert set(counted.values()) <= {1}
    assert set(told) <= set(counted)
    assert len(counted) <= len(told) + broken


def test_a_stopped_process_with_the_lock_ends_in_an_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "PATIENCE", 0.2)
    ledger = Ledger(path, budget=MU)
    child = os.fork()
    if child == 0:
        with locked(path, alone=True, patience=0.0):
            os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(0)
    os.waitpid(child, os.WUNTRACED)
    for attempt in (ledger.charges, lambda: ledger.reserve(SMALL, **TERMS)):
        with pytest.raises(LedgerError, match=r"kept busy.*nothing was spent"):
            attempt()
    os.kill(child, signal.SIGCONT)
    os.waitpid(child, 0)
    ledger.reserve(SMALL, **TERMS)
    assert len(ledger.charges()) == 1


def test_one_key_in_several_processes_has_one_answer(path: Path) -> None:
    Ledger(path, budget=MU)
    for turn in range(5):
        reading, telling = os.pipe()
        children = []
        for _ in range(3):
            child = os.fork()
            if child == 0:
                with suppress(LedgerError):
                    request = Ledger(path).request(f"model {turn}")
                    charge = request.reserve(SMALL, **TERMS, request="sha256:1")
                    noise = os.urandom(8).hex()
                    if charge.answer is None:
                        request.commit(charge, f"sha256:{noise}", {"noise": noise})
                    else:
                        noise = charge.answer["noise"]
                    os.write(telling, f"{noise}\n".encode())
                os._exit(0)
            children.append(child)
        for child in children:
            os.waitpid(child, 0)
        os.close(telling)
        assert len(set(os.read(reading, 1000).split())) == 1
        os.close(reading)
        assert len(Ledger(path).charges()) == turn + 1
