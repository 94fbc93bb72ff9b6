"""Create a file that is complete or not there, and that never replaces another one.

On Linux and most local file systems the file has no name until it is complete (``O_TMPFILE``), so
a killed process leaves nothing. Elsewhere it is first written as ``.<name>.<process>-<time>.tmp``;
the next creation of the same ledger removes what a killed process left of that kind.
"""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tacit.errors import FileError, LedgerError
from tacit.ledger.locked_file import locked, require_locks, sync

_MODE = 0o666
_ATTEMPTS = 100
_NO_NAMELESS_FILES = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT)


def create(path: Path, content: bytes) -> bool:
    """Make a file with this content; False where the name is taken.

    Guarantee
    ---------
    - The file appears complete and on the disk, or not at all; an existing one is never touched.
    """
    require_locks()
    try:
        with _opened(path.parent, os.O_RDONLY) as folder:
            made = _create_nameless(path, content, folder)
            if made is None:
                made = _create_named(path, content)
            if made:
                os.fsync(folder)
    except OSError as error:
        raise FileError(f"the ledger {path} cannot be written: {error.strerror}") from error
    return made


def sync_folder(folder: Path) -> None:
    """Return when the names in a folder are on the disk, as far as this user may see to it."""
    # A creator that was killed may have left a name that is in memory only.
    with suppress(OSError), _opened(folder, os.O_RDONLY) as number:
        os.fsync(number)


def _create_nameless(path: Path, content: bytes, folder: int) -> bool | None:
    """Create without a temporary name; None where the system cannot."""
    if not hasattr(os, "O_TMPFILE"):
        return None
    try:
        with _opened(path.parent, os.O_TMPFILE | os.O_RDWR) as number:
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
    for _ in range(_ATTEMPTS):
        draft = path.with_name(f".{path.name}.{os.getpid()}-{time.time_ns()}.tmp")
        draft.touch(_MODE, exist_ok=False)
        try:
            # Locked, so that it is not taken for the remains of a process that was killed.
            with locked(draft, alone=True, patience=0.0) as file:
                _fill(file.number, content)
                # A link, unlike a renaming, fails where the name is taken.
                os.link(draft, path)
        except FileExistsError:
            return False
        except (FileError, LedgerError, FileNotFoundError) as error:
            # Another creation took the draft for remains before it was locked.
            taken = error
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
def _opened(path: Path, flags: int) -> Iterator[int]:
    number = os.open(path, flags | os.O_CLOEXEC, _MODE)
    try:
        yield number
    finally:
        os.close(number)
