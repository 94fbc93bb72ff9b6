"""What a process tells its worker processes about ledgers, in one small file.

A worker may be older than the block whose jobs it runs. So each process that enters a ledger keeps
a file: which ledgers were entered in it so far, and whether one is open now. A worker believes the
file of the process that it works for. Files of other processes can only make its fits refused.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import multiprocessing
import os
import stat
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

from tacit.errors import LedgerError

# Finalizers below 0 run after the children of `multiprocessing` have been joined.
_AFTER_CHILDREN = -100


@dataclass(frozen=True)
class Notice:
    """The names of ledgers entered so far, whether one is open, and the epoch of the process."""

    ledgers: frozenset[str] = frozenset()
    is_open: bool = False
    epoch: str = ""

    def document(self) -> str:
        """As JSON. Two names are enough to say that there were several."""
        ledgers = sorted(self.ledgers)[:2]
        return json.dumps({"ledgers": ledgers, "open": self.is_open, "epoch": self.epoch})


def family() -> str:
    """Name the tree of processes that `multiprocessing` started, this one among them."""
    # The key is secret and new for every family: a folder of this name cannot be foreseen.
    key = multiprocessing.current_process().authkey
    return hashlib.sha256(b"tacit ledger notices" + key).hexdigest()[:32]


def folder_of(family: str) -> Path:
    """Return where a family keeps its notices; it need not exist."""
    return Path(tempfile.gettempdir()) / f"tacit-{family}"


def post(notice: Notice, families: Iterable[str]) -> None:
    """Replace the notice of this process; it is withdrawn when the process ends.

    `families` are all names that the family has had: older workers look there. If a notice cannot
    be written, a former one is emptied, so that workers refuse their fits.
    """
    files = [folder_of(name) / f"{os.getpid()}.json" for name in families]
    try:
        for file in files:
            _write(notice, file)
    except OSError as error:
        for file in files:
            # This needs no space on the disk.
            with contextlib.suppress(OSError):
                _require_own(file.parent)
                os.truncate(file, 0)
        raise LedgerError(
            "no notice can be left for worker processes in the folder for temporary files, so "
            "their fits would not be charged; make it writable, or set TMPDIR to another folder"
        ) from error


def read(employer: int | None) -> tuple[Notice, Notice]:
    """Return the notice of the process that this one works for, and those of all others in one."""
    folder, parent, others = folder_of(family()), Notice(), Notice()
    try:
        _require_own(folder)
        for file in sorted(folder.glob("*.json")):
            # A process that ends meanwhile withdraws its notice.
            with contextlib.suppress(FileNotFoundError):
                notice = _parsed(file.read_text(encoding="utf-8"))
                if file.stem == str(employer):
                    parent = notice
                elif notice.is_open or _runs(file.stem):
                    others = Notice(others.ledgers | notice.ledgers)
    except FileNotFoundError:
        pass
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise LedgerError(
            "the notice that another process left about its ledger cannot be read; enter the "
            "ledger to be charged here: with ledger: ..."
        ) from error
    return parent, others


def _require_own(folder: Path) -> None:
    """Refuse a folder that somebody else made, or could write to."""
    if os.name == "posix":
        found = folder.lstat()
        writable = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or writable:
            raise PermissionError(f"{folder} belongs to somebody else")


def _write(notice: Notice, file: Path) -> None:
    if not file.exists():
        Finalize(None, _withdraw, args=(file,), exitpriority=_AFTER_CHILDREN)
    file.parent.mkdir(mode=0o700, exist_ok=True)
    _require_own(file.parent)
    draft = file.with_suffix(".draft")
    draft.write_text(notice.document(), encoding="utf-8")
    draft.replace(file)


def _parsed(text: str) -> Notice:
    value: Any = json.loads(text)
    notice = Notice(frozenset(value["ledgers"]), value["open"], value["epoch"])
    words = [*notice.ledgers, notice.epoch]
    if not isinstance(notice.is_open, bool) or not all(isinstance(word, str) for word in words):
        raise ValueError(text)
    return notice


def _withdraw(mine: Path) -> None:
    """Remove the notices of this process and of those that were killed, and an empty folder."""
    with contextlib.suppress(OSError):
        _require_own(mine.parent)
        for file in mine.parent.iterdir():
            if file.stem == mine.stem or not _runs(file.stem):
                file.unlink(missing_ok=True)
        # Not by a worker: others of the family may just be writing their first notice.
        if multiprocessing.parent_process() is None:
            mine.parent.rmdir()


def _runs(process: str) -> bool:
    # Elsewhere this signal would end the process.
    if os.name != "posix":
        return True
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError):
        return False
    except OSError:
        pass
    return True
