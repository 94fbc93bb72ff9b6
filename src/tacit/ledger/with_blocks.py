"""The ``with`` blocks of this process: which are open, and which ledgers were ever entered."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from tacit.errors import LedgerError
from tacit.ledger import worker_notices as notices
from tacit.ledger.worker_notices import Notice

if TYPE_CHECKING:
    from tacit.ledger.ledger import Ledger

VARIABLE = "TACIT_ACTIVE_LEDGER"
"""The environment variable that says, to programs started in a block, that one was open."""
_OUTER = "the ledger of the program that started this one"
_SEVERAL = 2


def _nonce() -> str:
    # With the time, because the number can be that of an earlier process.
    return f"{notices.family()}-{os.getpid()}_{time.time_ns()}"


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
    # The names of its family so far: the key of `multiprocessing` can be set at any time.
    families: set[str] = field(default_factory=lambda: {notices.family()})
    # Of the ledgers in memory, whose places could be those of earlier ones.
    names: WeakKeyDictionary[object, str] = field(default_factory=WeakKeyDictionary)
    numbers: Iterator[int] = field(default_factory=count)
    # Two names are enough to know that there were several.
    ever: set[str] = field(default_factory=set)
    blocks: list[Block] = field(default_factory=list)
    # Another word whenever other ledgers are open than before, see `epoch`.
    nonce: str = field(default_factory=_nonce)
    changes: int = 0
    open_names: frozenset[str] = frozenset()
    # The environment variable before the first of the open blocks, and what it was set to so far.
    outer: str | None = None
    tokens: set[str] = field(default_factory=set)


process = Process()
current: ContextVar[Block | None] = ContextVar("tacit_ledger", default=None)


def own_block() -> Block | None:
    """Return the block that this context has entered, or was copied in."""
    block = current.get()
    # What was run uncharged is over with its block, wherever its context was copied to.
    if block is None or (block.ledger is None and not block.is_pinned and not is_open(block)):
        return None
    # A worker that was forked within a block is given jobs from other places, too.
    if block.process != os.getpid() and notices.works_for() is not None:
        return None
    # So is a thread of a pool, where Python lets threads inherit the context that started them.
    if block.thread != threading.get_ident() and _threads_inherit():
        return None
    return block


def open_blocks() -> list[Block]:
    """Return the open blocks of ledgers; in a worker, not those that it was forked in."""
    with process.lock:
        all_of_them, number = notices.works_for() is None, os.getpid()
        return [
            block
            for block in process.blocks
            if block.ledger is not None and (all_of_them or block.process == number)
        ]


def is_open(block: Block) -> bool:
    """Whether a block of this process has not ended."""
    with process.lock:
        return block in process.blocks


def at_home() -> bool:
    """Whether this is the main thread of a program, in no block here or where it was started."""
    if notices.works_for() is not None or threading.get_ident() != process.home:
        return False
    if is_started_in_a_block():
        return False
    # A block of this thread may be open in another context: then this could be a part of it that
    # was run in an empty context.
    return all(block.thread != process.home for block in open_blocks())


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


def is_started_in_a_block() -> bool:
    """Whether the environment variable says that another program started this one in a block."""
    words, employer = os.environ.get(VARIABLE), notices.works_for()
    if words is None or words in process.tokens:
        return False
    # A worker of this program has the variable of the process that it works for.
    return employer is None or words != f"{notices.family()}-{employer}"


def name_of(ledger: Ledger) -> str:
    """Name a ledger, and who charges it: objects of one name charge the same."""
    handle = dict(ledger.handle())
    where, memory = ledger.identity
    if where == "memory":
        with process.lock:
            new = f"{process.nonce}-{next(process.numbers)}"
            handle["memory"] = process.names.setdefault(memory, new)
    return json.dumps(handle, sort_keys=True)


def begin(block: Block) -> None:
    """Enter a block in this context; nothing has changed where it fails."""
    with process.lock:
        former = set(process.ever)
        if block.ledger is not None and not open_blocks():
            process.outer = os.environ.get(VARIABLE)
            # What was submitted before could belong there.
            process.ever |= {_OUTER} if is_started_in_a_block() else set()
        if block.ledger is not None and len(process.ever) < _SEVERAL:
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


def end(block: Block) -> None:
    """Close a block, for all contexts that are in it."""
    with process.lock:
        if block in process.blocks:
            process.blocks.remove(block)
            # A block must be left also with a full disk. Workers then refuse their fits.
            with suppress(LedgerError):
                _publish(block)


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


def _publish(changed: Block) -> None:
    """Tell workers, and programs to be started, what is open."""
    if changed.ledger is not None:
        _set_variable()
        process.families.add(notices.family())
        notices.post(entered(), process.families)


def _set_variable() -> None:
    if open_blocks():
        os.environ[VARIABLE] = f"{notices.family()}-{os.getpid()}"
        process.tokens.add(os.environ[VARIABLE])
    elif process.outer is None:
        os.environ.pop(VARIABLE, None)
    else:
        os.environ[VARIABLE] = process.outer


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
    process.nonce = _nonce()
    process.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )
