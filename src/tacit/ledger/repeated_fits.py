"""Whether the same data were fitted before, so that a person can be warned."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import weakref
from datetime import UTC, datetime
from pathlib import Path

REMEMBER = "TACIT_REMEMBER_FITS"  # Environment variable: at "0" the command line keeps nothing about earlier fits.


class RefitWarning(UserWarning):
    """The same data were fitted again without a ledger: the guarantees add up unseen."""


def file_names(data: object) -> list[str]:
    """The names of a file, or of a list of files, as they were given; none of a table in memory."""
    given = list(data) if isinstance(data, list | tuple) else [data]
    names = [os.fsdecode(name) for name in given if isinstance(name, str | os.PathLike)]
    return names if len(names) == len(given) else []


class Memory:
    """Which data were fitted, by address or name of the file; no value is read, and no object is kept alive."""

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._objects: weakref.WeakValueDictionary[int, object] = weakref.WeakValueDictionary()
        self._lock = threading.RLock()

    def note(self, data: object) -> bool:
        """Remember that data were fitted; return whether they had been before."""
        with self._lock:
            if names := {str(Path(name).resolve()) for name in file_names(data)}:
                known = bool(names & self._files)
                self._files |= names
                return known
            known = self._objects.get(id(data)) is data
            # A plain list or dictionary cannot be watched, and its address is used again.
            with contextlib.suppress(TypeError):
                self._objects[id(data)] = data
            return known


_fitted = Memory()


def refit_warning(data: object, *, charged: bool) -> str | None:
    """Note a private fit; warn of a second one of the same object or file, unless it is charged to a ledger."""
    if not _fitted.note(data) or charged:
        return None
    return (
        "The same data were fitted before in this process. Each fit has its own guarantee, and "
        "together they cost more than each states. Fit within one ledger to bound and certify the "
        "total: with tacit.Ledger(budget=tacit.Budget(epsilon=..., delta=...)): ..."
    )


def note_file_fit(file: str | os.PathLike[str]) -> int:
    """Note a fit of a file for later processes; return how many were noted before.

    In ``$XDG_STATE_HOME/tacit/fits``, a file named after the hash of its path gets the date. Guarantee: The table is
    not opened: what is stored is public, namely that a file was fitted, and when. Nothing is stored, and 0 returned,
    where the environment variable ``TACIT_REMEMBER_FITS`` is 0 or the folder cannot be written; a fit never fails
    because of it. Of several processes at once, no two are told the same number.
    """
    if os.environ.get(REMEMBER) == "0":
        return 0
    # RuntimeError: an account without a home.
    with contextlib.suppress(OSError, RuntimeError, ValueError):
        name = os.fsencode(Path(os.fsdecode(file)).resolve())
        given = Path(os.environ.get("XDG_STATE_HOME", ""))
        # The specification says that a path that is not absolute is to be ignored.
        state = given if given.is_absolute() else Path.home() / ".local" / "state"
        folder = state / "tacit" / "fits"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        line = f"{datetime.now(UTC):%Y-%m-%d}\n".encode()
        with (folder / hashlib.sha256(name).hexdigest()).open("ab", buffering=0) as stream:
            stream.write(line)
            # After appending, the position is the end of this writer's own line.
            return stream.tell() // len(line) - 1
    return 0
