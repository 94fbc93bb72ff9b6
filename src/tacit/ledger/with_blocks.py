"""The ``with`` blocks of ledgers and of `uncharged`: which are open, and what workers are told.

A worker may be older than the block whose jobs it runs. So each process that enters a ledger keeps a small file, its
notice: which ledgers were entered in it so far, and whether one is open now. A worker believes the notice of the
process that it works for. Other notices can only make its fits refused.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from multiprocessing.util import Finalize
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import LedgerError, SettingError

if TYPE_CHECKING:
    from tacit.ledger.ledger import Ledger

VARIABLE = "TACIT_ACTIVE_LEDGER"  # The environment variable that is set while a block is open.
_OUTER = "the ledger of the program that started this one"


def family() -> str:
    """Name the tree of processes that `multiprocessing` started, this one among them."""
    # The key is secret and new for every family: a folder of this name cannot be foreseen.
    return hashlib.sha256(b"tacit ledger notices" + multiprocessing.current_process().authkey).hexdigest()[:32]


def new_nonce() -> str:
    """Name this process; with the time, because process numbers are used again."""
    return f"{family()}-{os.getpid()}_{time.time_ns()}"


@dataclass(eq=False)
class Block:
    """One ``with`` block, of a ledger or, where that is None, of `uncharged`; if pinned, of one fit that is decided."""

    ledger: Ledger | None
    name: str = ""
    is_pinned: bool = False
    thread: int | None = field(default_factory=threading.get_ident)
    process: int = field(default_factory=os.getpid)
    came_from: Token[Block | None] | None = None


@dataclass
class Process:
    """What this process knows of its blocks; changed under its lock only."""

    # Reentrant, because a signal handler or the end of a generator may leave a block.
    lock: threading.RLock = field(default_factory=threading.RLock)
    # The main thread of the program; None in a child that was forked from another thread.
    home: int | None = field(default_factory=lambda: threading.main_thread().ident)
    # All names its family has had: the key of `multiprocessing` can be set at any time.
    families: set[str] = field(default_factory=lambda: {family()})
    # Names of ledgers that were ever entered; two are enough to know that there were several.
    ever: set[str] = field(default_factory=set)
    blocks: list[Block] = field(default_factory=list)
    # The epoch is the nonce and the number of changes of the set of open ledgers.
    nonce: str = field(default_factory=new_nonce)
    changes: int = 0
    open_names: frozenset[str] = frozenset()
    # The environment variable before the first open block, and all values it was given here.
    outer: str | None = None
    tokens: set[str] = field(default_factory=set)


process = Process()
current: ContextVar[Block | None] = ContextVar("tacit_ledger", default=None)


@dataclass(frozen=True)
class Notice:
    """The names of ledgers entered so far, whether one is open, and the epoch of the process."""

    ledgers: frozenset[str] = frozenset()
    is_open: bool = False
    epoch: str = ""


@contextmanager
def uncharged(reason: str) -> Iterator[None]:
    """Charge no ledger in this block, in a thread or process where one could be meant.

    Where this context has a ledger, it is refused: a fit within a ledger's block is not free.

    Examples
    --------
    >>> from tacit.ledger import active_ledger
    >>> with uncharged("simulated records"):
    ...     active_ledger() is None
    True
    """
    if not isinstance(reason, str) or not reason.strip():
        raise SettingError('uncharged needs a reason, for example uncharged("simulated records")')
    here = own_block()
    if here is not None and here.ledger is not None:
        raise LedgerError("a ledger is active here, so fits cannot be left uncharged; leave its block first")
    block = Block(None)
    try:
        _begin(block)
        yield
    finally:
        go_back(block)
        _end(block)


def enter(ledger: Ledger) -> None:
    """Make a ledger the one that is charged here; within its own block also for one request."""
    here, name = own_block(), ledger.handle()
    if here is not None and here.ledger is not None and here in process.blocks and here.name != name:
        raise LedgerError(
            "another ledger is active here; ledgers are not nested, because a fit is charged to "
            "exactly one. Leave the outer block first"
        )
    _begin(Block(ledger, name))


def leave(ledger: Ledger) -> None:
    """Undo `enter`. Another context than the one that entered keeps the ledger that it has."""
    here = current.get()
    if here is None or here.ledger is not ledger or not go_back(here):
        here = None
    mine = [block for block in open_blocks() if block.ledger is ledger]
    if here in mine:
        _end(here)
    elif mine:
        _end(mine[-1])
        # It may have been another one of these: any thread could be in those that are left.
        for block in mine:
            block.thread = process.home


def _begin(block: Block) -> None:
    """Enter a block in this context; nothing has changed where it fails."""
    with process.lock:
        former = set(process.ever)
        if block.ledger is not None and not open_blocks():
            process.outer = os.environ.get(VARIABLE)
            # What was submitted before could belong to the program that started this one.
            process.ever |= {_OUTER} if is_started_in_a_block() else set()
        if block.ledger is not None and len(process.ever) <= 1:
            process.ever.add(block.name)
        try:
            block.came_from = current.set(block)
            process.blocks.append(block)
            _publish(block)
        except BaseException:
            go_back(block)
            process.blocks[:] = [other for other in process.blocks if other is not block]
            process.ever = former
            _set_variable()
            raise


def _end(block: Block) -> None:
    with process.lock:
        if block in process.blocks:
            process.blocks.remove(block)
            # A block must be left also with a full disk. Workers then refuse their fits.
            with suppress(LedgerError):
                _publish(block)


def _publish(changed: Block) -> None:
    """Tell workers, and programs to be started, what is open."""
    if changed.ledger is not None:
        _set_variable()
        process.families.add(family())
        post(entered(), process.families)


def _set_variable() -> None:
    if open_blocks():
        os.environ[VARIABLE] = f"{family()}-{os.getpid()}"
        process.tokens.add(os.environ[VARIABLE])
    elif process.outer is None:
        os.environ.pop(VARIABLE, None)
    else:
        os.environ[VARIABLE] = process.outer


def _after_fork_in_child() -> None:
    # The forking thread is now called the main one, but where its job was submitted is as unknown as before.
    if threading.get_ident() != process.home:
        process.home = None
    process.nonce = new_nonce()
    process.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    # The lock is another one after a fork, so it is looked up each time.
    os.register_at_fork(
        before=lambda: process.lock.acquire(),  # noqa: PLW0108
        after_in_parent=lambda: process.lock.release(),  # noqa: PLW0108
        after_in_child=_after_fork_in_child,
    )


def works_for() -> int | None:
    """Return the number of the process that this is a worker of; not, as the system has it, that of a fork server."""
    parent = multiprocessing.parent_process()
    return None if parent is None else parent.pid


def own_block() -> Block | None:
    """Return the block that this context has entered, or was copied in."""
    block = current.get()
    # `uncharged` ends with its block, also in contexts that were copied within it.
    if block is None or (block.ledger is None and not block.is_pinned and block not in process.blocks):
        return None
    # A worker that was forked within a block is given jobs from other places, too.
    if block.process != os.getpid() and works_for() is not None:
        return None
    # So is a thread of a pool, where Python lets threads inherit the context that started them.
    inherits = getattr(sys.flags, "thread_inherit_context", False)
    return None if inherits and block.thread != threading.get_ident() else block


def open_blocks() -> list[Block]:
    """Return the open blocks of ledgers; in a worker, not those that it was forked in."""
    with process.lock:
        found = [block for block in process.blocks if block.ledger is not None]
        return [block for block in found if works_for() is None or block.process == os.getpid()]


def go_back(block: Block) -> bool:
    """Give this context back what it had before a block; False where it is in another one."""
    # Blocks of generators may end in any order: what was entered since must stay.
    if block.came_from is None or current.get() is not block:
        return False
    try:
        current.reset(block.came_from)
    except (ValueError, RuntimeError):
        return False
    return True


def is_started_in_a_block() -> bool:
    """Whether the environment variable says that another program started this one in a block."""
    words, employer = os.environ.get(VARIABLE), works_for()
    if words is None or words in process.tokens:
        return False
    # A worker of this program has the variable of the process that it works for.
    return employer is None or words != f"{family()}-{employer}"


def entered() -> Notice:
    """Return which ledgers were ever entered in this process, and whether one is open."""
    with process.lock:
        return Notice(frozenset(process.ever), bool(open_blocks()), epoch())


def epoch() -> str:
    """Name the period in which the same ledgers are open in this process as are now."""
    with process.lock:
        names = frozenset(block.name for block in open_blocks())
        if names != process.open_names:
            process.changes += 1
            process.open_names = names
        return f"{process.nonce}-{process.changes}"


def folder_of(family: str) -> Path:
    """Return where a family keeps its notices; it need not exist."""
    return Path(tempfile.gettempdir()) / f"tacit-{family}"


def post(notice: Notice, families: Iterable[str]) -> None:
    """Replace the notice of this process, under all names of its family; if that fails, workers refuse their fits."""
    files = [folder_of(name) / f"{os.getpid()}.json" for name in families]
    try:
        for file in files:
            _write(notice, file)
    except OSError as error:
        for file in files:
            # This needs no space on the disk.
            with suppress(OSError):
                _require_own(file.parent)
                os.truncate(file, 0)
        raise LedgerError(
            "no notice can be left for worker processes in the folder for temporary files; make it "
            "writable, or set TMPDIR to another folder"
        ) from error


def read(employer: int | None) -> tuple[Notice, Notice]:
    """Return the notice of the process that this one works for, and those of all others in one."""
    folder, parent, others = folder_of(family()), Notice(), Notice()
    try:
        _require_own(folder)
        for file in sorted(folder.glob("*.json")):
            # A process that ends meanwhile withdraws its notice.
            with suppress(FileNotFoundError):
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
    found = folder.lstat()
    writable = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if os.name == "posix" and (not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or writable):
        raise PermissionError(f"{folder} belongs to somebody else")


def _write(notice: Notice, file: Path) -> None:
    if not file.exists():
        # Below 0: after the children of `multiprocessing` have been joined.
        Finalize(None, _withdraw, args=(file,), exitpriority=-100)
    file.parent.mkdir(mode=0o700, exist_ok=True)
    _require_own(file.parent)
    # Two names are enough to say that there were several.
    document = {"ledgers": sorted(notice.ledgers)[:2], "open": notice.is_open, "epoch": notice.epoch}
    draft = file.with_suffix(".draft")
    draft.write_text(json.dumps(document), encoding="utf-8")
    draft.replace(file)


def _parsed(text: str) -> Notice:
    value = json.loads(text)
    words = [*value["ledgers"], value["epoch"]]
    if not isinstance(value["open"], bool) or not all(isinstance(word, str) for word in words):
        raise ValueError(text)
    return Notice(frozenset(value["ledgers"]), value["open"], value["epoch"])


def _withdraw(mine: Path) -> None:
    """Remove the notices of this process and of those that were killed, and an empty folder."""
    with suppress(OSError):
        _require_own(mine.parent)
        for file in mine.parent.iterdir():
            if file.stem == mine.stem or not _runs(file.stem):
                file.unlink(missing_ok=True)
        # Not by a worker: others of the family may just be writing their first notice.
        if works_for() is None:
            mine.parent.rmdir()


def _runs(process: str) -> bool:
    try:
        # Elsewhere this signal would end the process.
        if os.name == "posix":
            os.kill(int(process), 0)
    except (ProcessLookupError, ValueError):
        return False
    except OSError:
        pass
    return True
