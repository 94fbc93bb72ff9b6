"""The ``with`` blocks of this process: which are open, and which ledgers were ever entered."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from tacit.errors import LedgerError
from tacit.ledger import notices
from tacit.ledger.notices import VARIABLE, Notice

if TYPE_CHECKING:
    from tacit.ledger.ledger import Ledger

UNKNOWN = json.dumps({})
"""The name of a ledger of which nothing is known any more."""
_SEVERAL = 2


@dataclass(eq=False)
class Block:
    """One ``with`` block, of a ledger or, where that is None, of `uncharged`."""

    ledger: Ledger | None
    name: str = ""
    thread: int | None = field(default_factory=threading.get_ident)
    process: int = field(default_factory=os.getpid)
    came_from: Token[Block | None] | None = None
    is_pinned: bool = False
    """It is that of one fit, whose ledger has been found."""


@dataclass
class Process:
    """What this process knows of its blocks; changed under its lock only."""

    # Reentrant, because a signal handler or the end of a generator may leave a block.
    lock: threading.RLock = field(default_factory=threading.RLock)
    # The main thread of the program; None in a child that was forked from another thread.
    home: int | None = field(default_factory=lambda: threading.main_thread().ident)
    # The tokens of the processes that this one was forked from, and its own.
    tokens: tuple[str, ...] = field(default_factory=lambda: (notices.token(),))
    # The names of its family so far: the key of `multiprocessing` can be set at any time.
    families: set[str] = field(default_factory=lambda: {notices.family()})
    # Of the ledgers in memory, whose places could be those of earlier ones.
    names: WeakKeyDictionary[object, str] = field(default_factory=WeakKeyDictionary)
    numbers: Iterator[int] = field(default_factory=count)
    # Two names are enough to know that there were several.
    ever: set[str] = field(default_factory=set)
    blocks: list[Block] = field(default_factory=list)
    # Another word whenever other ledgers are open than before, see `epoch`.
    nonce: str = field(default_factory=notices.nonce)
    changes: int = 0
    open_names: frozenset[str] = frozenset()
    # The environment variable as it was before the first of the open blocks.
    outer: str | None = None
    posted: Notice = field(default_factory=Notice)


process = Process()
current: ContextVar[Block | None] = ContextVar("tacit_ledger", default=None)


def own_block() -> Block | None:
    """Return the block that this context has entered, or was copied in."""
    block = current.get()
    # What was run uncharged is over with its block, wherever its context was copied to.
    if block is None or (block.ledger is None and not block.is_pinned and not is_open(block)):
        return None
    # A worker that was forked within a block is given jobs from other places, too.
    if block.process != os.getpid() and notices.is_worker():
        return None
    # So is a thread of a pool, where Python lets threads inherit the context that started them.
    if block.thread != threading.get_ident() and _threads_inherit():
        return None
    return block


def open_blocks() -> list[Block]:
    """Return the open blocks of ledgers; in a worker, not those that it was forked in."""
    with process.lock:
        worker, number = notices.is_worker(), os.getpid()
        return [
            block
            for block in process.blocks
            if block.ledger is not None and (not worker or block.process == number)
        ]


def is_open(block: Block) -> bool:
    """Whether a block of this process has not ended."""
    with process.lock:
        return block in process.blocks


def entered() -> Notice:
    """Return which ledgers were ever entered in this process, and whether one is open."""
    with process.lock:
        return Notice(frozenset(process.ever), bool(open_blocks()), epoch())


def epoch() -> str:
    """Name the time in which the same ledgers were open in this process as are now.

    Whatever was made and is used in one epoch was submitted in it, too.
    """
    with process.lock:
        names = frozenset(block.name for block in open_blocks())
        if names != process.open_names:
            process.changes += 1
            process.open_names = names
        return f"{process.nonce}-{process.changes}"


def started_in() -> tuple[Path, int] | None:
    """Return the folder of notices and the number of the process in whose block this one began."""
    with process.lock:
        words = process.outer if open_blocks() else os.environ.get(VARIABLE)
        return notices.pointed(words, frozenset(process.tokens)) if words else None


def outer() -> Notice:
    """Return what the process that started this one says about the block it was started in."""
    starter = started_in()
    if starter is None:
        return Notice()
    found = notices.posted(*starter)
    # Looked for after the others were read: a process that has ended withdrew its notice, and what
    # its family still says is not about the block that this process was started in.
    if found is None or not notices.is_posted(*starter):
        return Notice(frozenset({UNKNOWN}))
    return found


def token() -> str:
    """Return the token of this process, another after a fork."""
    return process.tokens[-1]


def name_of(ledger: Ledger) -> str:
    """Name a ledger, and who charges it: objects of one name charge the same."""
    handle = dict(ledger.handle())
    where, memory = ledger.identity
    if where == "memory":
        with process.lock:
            if memory not in process.names:
                process.names[memory] = f"{token()}-{next(process.numbers)}"
            handle["memory"] = process.names[memory]
    return json.dumps(handle, sort_keys=True)


def begin(block: Block) -> None:
    """Enter a block in this context; nothing has changed where it fails."""
    with process.lock:
        former = set(process.ever)
        if block.ledger is not None:
            if not open_blocks():
                process.outer = os.environ.get(VARIABLE)
                process.ever |= _outer_names()
            if len(process.ever) < _SEVERAL:
                process.ever.add(block.name)
        try:
            block.came_from = current.set(block)
            process.blocks.append(block)
            _publish()
        except BaseException:
            go_back(block)
            if block in process.blocks:
                process.blocks.remove(block)
            process.ever = former
            _set_variable()
            raise


def end(block: Block) -> None:
    """Close a block, for all contexts that are in it."""
    with process.lock:
        if block not in process.blocks:
            return
        process.blocks.remove(block)
        try:
            _publish()
        except LedgerError:
            # A block must be left also with a full disk. Workers then refuse their fits.
            notices.spoil(process.families)
            process.posted = Notice()


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


def _outer_names() -> frozenset[str]:
    try:
        return outer().ledgers
    except LedgerError:
        return frozenset({UNKNOWN})


def _publish() -> None:
    """Tell workers, and processes to be started, what is open."""
    notice = entered()
    if notice.ledgers:
        _set_variable()
        process.families.add(notices.family())
    if notice.ledgers and notice != process.posted:
        notices.post(notice, process.families)
        process.posted = notice


def _set_variable() -> None:
    words = notices.pointer(token()) if open_blocks() else process.outer
    if words is None:
        os.environ.pop(VARIABLE, None)
    else:
        os.environ[VARIABLE] = words


def _threads_inherit() -> bool:
    return bool(getattr(sys.flags, "thread_inherit_context", False))


def _before_fork() -> None:
    process.lock.acquire()


def _after_fork_in_parent() -> None:
    process.lock.release()


def _after_fork_in_child() -> None:
    # The forking thread is the only one, and is called the main one from now on. It stays what it
    # was: if nobody knew where its job was submitted, nobody knows it here.
    if threading.get_ident() != process.home:
        process.home = None
    process.tokens += (notices.token(),)
    process.posted = Notice()
    process.nonce = notices.nonce()
    process.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )
