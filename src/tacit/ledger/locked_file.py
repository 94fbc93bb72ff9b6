"""A file that is open and locked with ``flock``.

The lock belongs to the inode, so links and bind mounts of a file share it. Each operation opens a
descriptor of its own, so threads exclude each other as processes do.
"""

from __future__ import annotations

import contextlib
import os
import stat
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tacit.errors import FileError, LedgerError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_PAUSE = 0.001


class Descriptor:
    """An open file of this process. In a process forked meanwhile it is closed: number -1."""

    __slots__ = ("__weakref__", "number")

    def __init__(self, path: Path, flags: int) -> None:
        self.number = -1
        # Nobody forks between the opening and the note of it.
        with _guard:
            # A pipe of that name would otherwise be waited for without end.
            self.number = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK)
            _opened.add(self)

    def close(self) -> None:
        """Unlock, also for copies of the descriptor in other processes, and close.

        What was written is on the disk by now, so failures are ignored.
        """
        with _guard:
            number, self.number = self.number, -1
            if number >= 0:
                try:
                    fcntl.flock(number, fcntl.LOCK_UN)
                except OSError:
                    pass
                finally:
                    try:  # noqa: SIM105
                        os.close(number)
                    except OSError:
                        pass
            _opened.discard(self)

    def __del__(self) -> None:
        # An interruption may come before `close`.
        if self.number >= 0:
            self.close()


_guard = threading.RLock()
_opened: weakref.WeakSet[Descriptor] = weakref.WeakSet()


def _close_in_child() -> None:
    # A copy in a child would keep the lock if the parent were killed while it writes.
    try:
        for descriptor in list(_opened):
            with contextlib.suppress(OSError):
                os.close(descriptor.number)
            descriptor.number = -1
        _opened.clear()
    finally:
        _guard.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_guard.acquire, after_in_parent=_guard.release, after_in_child=_close_in_child
    )


@contextmanager
def locked(path: Path, *, alone: bool, patience: float) -> Iterator[Descriptor]:
    """Open the file that the path leads to, and hold its lock within the block.

    With ``alone`` it is opened for writing and locked exclusively, else for reading and shared.

    Guarantee
    ---------
    - With ``alone`` nobody else is within such a block of the same file, under whatever name;
      without it, nobody who is alone.
    - The wait is at most `patience` seconds; a forked or a killed process does not keep the lock.
    """
    require_locks()
    deadline = time.monotonic() + patience
    while True:
        with refused(path):
            descriptor = Descriptor(path, os.O_RDWR if alone else os.O_RDONLY)
        try:
            with refused(path):
                _lock(descriptor.number, deadline, alone=alone)
                current = is_at(descriptor, path)
            if current:
                yield descriptor
                return
        finally:
            descriptor.close()
        # The file was replaced while its lock was waited for: the new one has a lock of its own.


def sync(number: int) -> None:
    """Return when what was written to the file is on the disk."""
    if hasattr(fcntl, "F_FULLFSYNC"):
        # On macOS fsync stops at the cache of the disk.
        fcntl.fcntl(number, fcntl.F_FULLFSYNC)
    else:
        getattr(os, "fdatasync", os.fsync)(number)


def require_locks() -> None:
    """Refuse a system on which files cannot be locked."""
    if fcntl is None:
        raise LedgerError(
            "a ledger in a file needs file locks that this system does not have (flock). Use a "
            "ledger in memory, Ledger(budget=...), or Linux or macOS"
        )


def _lock(number: int, deadline: float, *, alone: bool) -> None:
    kind = (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB
    while True:
        try:
            fcntl.flock(number, kind)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise LedgerError(
                    "the ledger is kept busy by another process. Close that process and try again; "
                    "by this attempt nothing was spent"
                ) from None
            time.sleep(_PAUSE)
        else:
            return


def is_at(file: Descriptor, path: Path) -> bool:
    """Whether the path leads to the open file, and not to one that took its place."""
    mine, there = os.fstat(file.number), path.stat()
    if not stat.S_ISREG(mine.st_mode):
        raise LedgerError(f"the ledger {path} is not a regular file; expected one that Tacit wrote")
    return os.path.samestat(mine, there)


@contextmanager
def refused(path: Path) -> Iterator[None]:
    """Turn refusals of the system into errors of the ledger."""
    try:
        yield
    except FileNotFoundError as error:
        raise FileError(f"the ledger {path} cannot be read: no such file") from error
    except OSError as error:
        raise LedgerError(f"the ledger {path} cannot be used: {error.strerror}") from error
