"""One lock for every name of a file; it ends with its owner, and nobody waits for ever."""

import os
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tacit.errors import FileError, LedgerError
from tacit.ledger import locked_file as descriptor
from tacit.ledger.ledger import Ledger
from tacit.ledger.locked_file import locked
from tacit.privacy.budget import Budget

# The child of this test process calls nothing that a thread of the parent could have locked.
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(b"content")
    return path


def is_free(path: Path, *, alone: bool = True) -> bool:
    try:
        with locked(path, alone=alone, patience=0.0):
            return True
    except LedgerError:
        return False


@pytest.mark.parametrize("kind", ["same", "symbolic", "hard"])
def test_every_name_has_the_one_lock(path: Path, kind: str) -> None:
    other = path if kind == "same" else path.parent / "other"
    if kind == "symbolic":
        other.symlink_to(path)
    elif kind == "hard":
        other.hardlink_to(path)
    with locked(path, alone=True, patience=0.0):
        assert not is_free(other)
        assert not is_free(other, alone=False)
    with locked(path, alone=False, patience=0.0):
        assert not is_free(other)
        assert is_free(other, alone=False)
    assert is_free(other)


def test_the_wait_is_bounded_and_costs_nothing(path: Path) -> None:
    begin = time.monotonic()
    with (
        locked(path, alone=False, patience=0.0),
        pytest.raises(LedgerError, match=r"kept busy by another process.*nothing was spent"),
        locked(path, alone=True, patience=0.2),
    ):
        pass
    assert 0.2 <= time.monotonic() - begin < 5


def test_a_file_that_was_replaced_meanwhile_is_opened_again(path: Path) -> None:
    read: list[bytes] = []

    def wait() -> None:
        with locked(path, alone=True, patience=30.0) as file:
            read.append(os.read(file.number, 100))

    with locked(path, alone=True, patience=0.0):
        waiting = threading.Thread(target=wait)
        waiting.start()
        time.sleep(0.05)
        new = path.with_name("new")
        new.write_bytes(b"replaced")
        new.replace(path)
    waiting.join()
    assert read == [b"replaced"]


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for alone in (True, False):
        with (
            pytest.raises(LedgerError, match="not a regular file"),
            locked(tmp_path / "pipe", alone=alone, patience=0.0),
        ):
            pass
    with pytest.raises(FileError, match="no such file"):
        is_free(tmp_path / "none")


def test_a_lock_ends_with_an_error_and_no_descriptor_stays_open(path: Path) -> None:
    numbers = []
    for _ in range(5):
        with suppress(KeyboardInterrupt), locked(path, alone=True, patience=0.0) as file:
            numbers.append(file.number)
            raise KeyboardInterrupt
    # The lowest free number is given: it was free again each time.
    assert len(numbers) == 5
    assert len(set(numbers)) == 1
    assert is_free(path)
    assert not descriptor._opened


def test_a_child_keeps_no_lock(path: Path) -> None:
    ready, tell = os.pipe()
    wait, end = os.pipe()
    with locked(path, alone=True, patience=0.0) as file:
        number = file.number
        child = os.fork()
        if child == 0:
            try:
                os.fstat(number)
            except OSError:
                os.write(tell, b"closed" if file.number == -1 else b"")
            os.close(end)
            os.read(wait, 1)
            os._exit(0)
        os.close(wait)
        assert os.read(ready, 6) == b"closed"
        # The lock of the parent is not given up by the child.
        assert not is_free(path)
    assert is_free(path)
    os.close(end)
    os.waitpid(child, 0)


def test_a_system_without_locks_keeps_ledgers_in_memory_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descriptor, "fcntl", None)
    with pytest.raises(LedgerError, match="Use a ledger in memory"):
        Ledger(tmp_path / "clinic.ledger", budget=Budget(mu=1.0))
    assert list(tmp_path.iterdir()) == []
    assert Ledger(budget=Budget(mu=1.0)).verify().entries == 1
