"""Files that are created whole, and that are open and locked with ``flock``.

The lock belongs to the inode, whatever its name, and each operation opens a descriptor: so threads exclude each other.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tacit.errors import FileError, LedgerError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_MODE = 0o666
_NO_NAMELESS_FILES = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT)


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
        """Unlock, also for copies in other processes, and close; what was written is stored."""
        with _guard:
            number, self.number = self.number, -1
            if number >= 0:
                try:
                    with suppress(OSError):
                        fcntl.flock(number, fcntl.LOCK_UN)
                finally:
                    # Nothing between the two that an interruption could come in.
                    try:  # noqa: SIM105
                        os.close(number)
                    except OSError:
                        pass
            _opened.discard(self)

    def __del__(self) -> None:
        # An interruption may come before `close`, or before there is a number.
        if getattr(self, "number", -1) >= 0:
            self.close()


_guard = threading.RLock()
_opened: weakref.WeakSet[Descriptor] = weakref.WeakSet()


def _close_in_child() -> None:
    # A copy in a child would keep the lock if the parent were killed while it writes.
    try:
        for descriptor in list(_opened):
            with suppress(OSError):
                os.close(descriptor.number)
            descriptor.number = -1
        _opened.clear()
    finally:
        _guard.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_guard.acquire, after_in_parent=_guard.release, after_in_child=_close_in_child)


@contextmanager
def locked(path: Path, *, alone: bool, patience: float) -> Iterator[Descriptor]:
    """Open a file and hold its lock in the block: with ``alone`` to write, exclusively; else to read, shared.

    Guarantee: With ``alone`` nobody else is within such a block of the same file, under whatever name; without it,
    nobody who is alone. The wait is at most `patience` seconds; a forked or a killed process does not keep the lock.
    """
    _require_locks()
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
        fcntl.fcntl(number, fcntl.F_FULLFSYNC)  # On macOS fsync stops at the cache of the disk.
    else:
        getattr(os, "fdatasync", os.fsync)(number)


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


def _require_locks() -> None:
    if fcntl is None:
        raise LedgerError(
            "a ledger in a file needs file locks that this system does not have (flock). Use a "
            "ledger in memory, Ledger(budget=...), or Linux or macOS"
        )


def _lock(number: int, deadline: float, *, alone: bool) -> None:
    kind = (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB
    while True:
        try:
            return fcntl.flock(number, kind)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise LedgerError(
                    "the ledger is kept busy by another process. Close that process and try again; "
                    "by this attempt nothing was spent"
                ) from None
            time.sleep(0.001)


def create(path: Path, content: bytes) -> bool:
    """Make a file with this content, nameless (``O_TMPFILE``) or a draft until complete; False where the name is taken.

    Guarantee: The file appears complete and on the disk, or not at all; an existing one is never touched.
    """
    _require_locks()
    try:
        with _folder_opened(path.parent, os.O_RDONLY) as folder:
            made = _create_nameless(path, content, folder)
            made = _create_named(path, content) if made is None else made
            if made:
                os.fsync(folder)
    except OSError as error:
        raise FileError(f"the ledger {path} cannot be written: {error.strerror}") from error
    return made


def sync_folder(folder: Path) -> None:
    """Return when the names in a folder are on the disk, as far as this user may see to it."""
    # A creator that was killed may have left a name that is in memory only.
    with suppress(OSError), _folder_opened(folder, os.O_RDONLY) as number:
        os.fsync(number)


def _create_nameless(path: Path, content: bytes, folder: int) -> bool | None:
    """Create without a temporary name; None where the system cannot."""
    if not hasattr(os, "O_TMPFILE"):
        return None
    try:
        with _folder_opened(path.parent, os.O_TMPFILE | os.O_RDWR) as number:
            _fill(number, content)
            # The folder makes Python call linkat, which follows the link to the nameless file.
            os.link(f"/proc/self/fd/{number}", path, src_dir_fd=folder, follow_symlinks=True)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno in _NO_NAMELESS_FILES:
            return None
        raise
    return True


def _create_named(path: Path, content: bytes) -> bool:
    _remove_remains(path)
    taken: Exception | None = None
    for _ in range(100):
        draft = path.with_name(f".{path.name}.{os.getpid()}-{time.time_ns()}.tmp")
        draft.touch(_MODE, exist_ok=False)
        try:
            # Locked, so that it is not taken for the remains of a process that was killed.
            with locked(draft, alone=True, patience=0.0) as file:
                _fill(file.number, content)
                os.link(draft, path)  # A link, unlike a renaming, fails where the name is taken.
        except FileExistsError:
            return False
        except (FileError, LedgerError, FileNotFoundError) as error:
            taken = error  # Another creation took the draft for remains before it was locked.
        else:
            return True
        finally:
            draft.unlink(missing_ok=True)
    raise FileError(f"the ledger {path} cannot be written: {taken}") from taken


def _remove_remains(path: Path) -> None:
    """Remove drafts whose creators are no more."""
    name = re.compile(rf"\.{re.escape(path.name)}\.[0-9]+-[0-9]+\.tmp", re.ASCII)
    for draft in path.parent.iterdir():
        if name.fullmatch(draft.name):
            # In use, or removed by another: both are fine.
            with suppress(FileError, LedgerError), locked(draft, alone=True, patience=0.0):
                draft.unlink(missing_ok=True)


def _fill(number: int, content: bytes) -> None:
    while content:
        content = content[os.write(number, content) :]
    sync(number)


@contextmanager
def _folder_opened(path: Path, flags: int) -> Iterator[int]:
    number = os.open(path, flags | os.O_CLOEXEC, _MODE)
    try:
        yield number
    finally:
        os.close(number)
