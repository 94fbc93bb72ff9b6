"""What processes tell each other about ledgers: one small file for each process that entered one.

A worker process is often older or younger than the block whose jobs it runs, so what it was told
when it started is not enough. Each process that enters a ledger keeps a notice: which ledgers were
entered in it so far, and whether one is open now. A process finds the notices of its family, the
processes that share the authentication key of `multiprocessing`, and those in the folder that the
environment variable of its parent names.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import multiprocessing
import os
import stat
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from multiprocessing.util import Finalize
from operator import or_
from pathlib import Path
from typing import Any

from tacit.errors import LedgerError

VARIABLE = "TACIT_ACTIVE_LEDGER"
"""The environment variable that names the folder of notices to processes started in a block."""
_ATTEMPTS = 3
# Finalizers below 0 run after the children of `multiprocessing` have been joined.
_AFTER_CHILDREN = -100


@dataclass(frozen=True)
class Notice:
    """The names of ledgers entered so far, and whether one of them is open.

    Two names say as much as any number of them: that there is more than one.
    """

    ledgers: frozenset[str] = frozenset()
    is_open: bool = False
    epoch: str = ""
    """The epoch of the process, see `tacit.ledger.blocks.epoch`; "" of several processes."""

    def __or__(self, other: Notice) -> Notice:
        """What two processes know together."""
        return Notice(self.ledgers | other.ledgers, self.is_open or other.is_open)

    def document(self) -> str:
        """As JSON."""
        ledgers = sorted(self.ledgers)[:2]
        return json.dumps({"ledgers": ledgers, "open": self.is_open, "epoch": self.epoch})


def is_worker() -> bool:
    """Whether `multiprocessing`, or a pool built on it such as joblib's, started this process."""
    return multiprocessing.parent_process() is not None


def parent_process() -> int:
    """Return the number of the process that this one works for."""
    # The parent of a process of a fork server is the server, for which nobody works.
    parent = multiprocessing.parent_process()
    return os.getppid() if parent is None or parent.pid is None else parent.pid


def family() -> str:
    """Name this process and all that `multiprocessing` started from it or from which it came."""
    # The key is secret and new for every family: a folder of this name cannot be foreseen.
    key = multiprocessing.current_process().authkey
    return hashlib.sha256(b"tacit ledger notices" + key).hexdigest()[:32]


def token() -> str:
    """Name this process so that no other says the same, before a fork or after `exec` neither."""
    # A program that takes the place of another by `exec` has the same number and another key.
    return f"{family()}-{os.getpid()}"


def nonce() -> str:
    """Name this process also where the number of an earlier one is used again."""
    return f"{os.getpid()}-{time.time_ns()}"


def family_folder() -> Path:
    """Return where the family keeps its notices; it need not exist."""
    return _folder_of(family())


def post(notice: Notice, families: Iterable[str] = ()) -> None:
    """Replace the notice of this process; it is withdrawn when the process ends.

    `families` are the names that the family had before, because older workers look there.

    Raises
    ------
    LedgerError
        If no file can be written, because workers would then not be charged.
    """
    try:
        former = [_folder_of(name) for name in families if name != family()]
        for folder in (family_folder(), *former):
            _write(notice, folder)
    except OSError as error:
        raise LedgerError(
            "no notice can be left for worker processes in the folder for temporary files, so "
            "their fits would not be charged; make it writable, or set TMPDIR to another folder"
        ) from error


def posted(folder: Path, starter: int | None = None) -> Notice | None:
    """Return what all notices of a folder say together; None where there is no folder.

    That of a killed process counts if it was in a block, or is the starter of this one.
    """
    found = _read(folder, starter)
    return None if found is None else reduce(or_, found, Notice())


def is_epoch(folder: Path, epoch: str, ledger: str) -> bool:
    """Whether this is the epoch of a process, and all others entered that ledger or none."""
    found = _read(folder) or []
    others = [notice for notice in found if notice.epoch != epoch]
    return len(others) < len(found) and all(other.ledgers <= {ledger} for other in others)


def is_posted(folder: Path, process: int) -> bool:
    """Whether a process has posted a notice and not withdrawn it."""
    return _file(folder, process).exists()


def spoil(families: Iterable[str] = ()) -> None:
    """Make the notice of this process unreadable, which needs no space on the disk."""
    for folder in (family_folder(), *map(_folder_of, families)):
        with contextlib.suppress(OSError):
            os.truncate(_file(folder, os.getpid()), 0)


def pointer(token: str) -> str:
    """Return the value of the environment variable within a block of this process."""
    return json.dumps({"token": token, "pid": os.getpid(), "folder": str(family_folder())})


def pointed(words: str, own: frozenset[str]) -> tuple[Path, int] | None:
    """Return folder and number of the process that wrote the words; None if it was this one.

    That is told by its tokens, because after `exec` the number is the same.
    """
    try:
        value: Any = json.loads(words)
        token, folder, process = value["token"], Path(value["folder"]), value["pid"]
        if not isinstance(token, str) or type(process) is not int or not folder.is_absolute():
            raise ValueError(words)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise LedgerError(
            f"the environment variable {VARIABLE} says that a ledger is active, in words that this "
            "version cannot read. Remove the variable, or enter the ledger here: with ledger: ..."
        ) from error
    return None if token in own else (folder, process)


def _read(folder: Path, starter: int | None = None) -> list[Notice] | None:
    found, starters = [], {str(starter), str(parent_process())}
    try:
        _require_own(folder)
        for file in sorted(folder.iterdir()):
            # A process that ends meanwhile withdraws its notice.
            with contextlib.suppress(FileNotFoundError):
                if file.suffix == ".json":
                    notice = _parsed(file.read_text(encoding="utf-8"))
                    # A process that was killed in a block may have left jobs behind, and one that
                    # started this one, also those of earlier blocks.
                    if notice.is_open or file.stem in starters or _runs(file.stem):
                        found.append(notice)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable() from error
    return found


def _require_own(folder: Path) -> None:
    """Refuse a folder that somebody else made, or could write to."""
    if os.name == "posix":
        found = folder.lstat()
        writable = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or writable:
            raise PermissionError(f"{folder} belongs to somebody else")


def _write(notice: Notice, folder: Path) -> None:
    mine = _file(folder, os.getpid())
    if not mine.exists():
        Finalize(None, _withdraw, args=(folder,), exitpriority=_AFTER_CHILDREN)
    for _ in range(_ATTEMPTS):
        folder.mkdir(mode=0o700, exist_ok=True)
        # Another process of the family may just be removing the empty folder.
        with contextlib.suppress(FileNotFoundError):
            _require_own(folder)
            draft = mine.with_suffix(".draft")
            draft.write_text(notice.document(), encoding="utf-8")
            draft.replace(mine)
            return
    raise FileNotFoundError(str(folder))


def _folder_of(family: str) -> Path:
    return Path(tempfile.gettempdir()) / f"tacit-{family}"


def _file(folder: Path, process: int) -> Path:
    return folder / f"{process}.json"


def _parsed(text: str) -> Notice:
    try:
        value: Any = json.loads(text)
        names, is_open, epoch = value["ledgers"], value["open"], value["epoch"]
        if not isinstance(is_open, bool) or not all(isinstance(s, str) for s in [*names, epoch]):
            raise ValueError(text)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise _unreadable() from error
    return Notice(frozenset(names), is_open, epoch)


def _unreadable() -> LedgerError:
    return LedgerError(
        "the notice that another process left about its ledger cannot be read; enter the ledger to "
        "be charged here: with ledger: ..."
    )


def _withdraw(folder: Path) -> None:
    """Remove the notices of this process and of those that were killed, and an empty folder."""
    with contextlib.suppress(OSError):
        _require_own(folder)
        for file in folder.iterdir():
            if file.stem == str(os.getpid()) or not _runs(file.stem):
                file.unlink(missing_ok=True)
        folder.rmdir()


def _runs(process: str) -> bool:
    # Elsewhere this signal would end the process.
    if os.name != "posix":
        return True
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError):
        return False
    except OSError:
        return True
    return True
