"""Which ledger is charged: the one whose ``with`` block a fit belongs to.

A context that has entered a block belongs to it. A new thread, and a worker process, start with an
empty context, and nothing tells where their jobs were submitted. They are charged where only one
ledger can be meant, and refused where there could be several, or none any more.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from tacit.errors import LedgerError, SettingError
from tacit.ledger import notices
from tacit.ledger.notices import VARIABLE, Notice

if TYPE_CHECKING:
    from tacit.ledger.ledger import Ledger

SEVERAL = 2
"""So many ledgers are too many to tell which is meant; further ones need not be remembered."""
_UNREADABLE = "unreadable"


@dataclass(eq=False)
class Block:
    """One ``with`` block, of a ledger or, where that is None, of `uncharged`."""

    ledger: Ledger | None
    name: str = ""
    thread: int = field(default_factory=threading.get_ident)
    process: int = field(default_factory=os.getpid)
    alone: bool = True
    """No block of another ledger was open at any time since this one was entered."""
    came_from: Token[Block | None] | None = None


@dataclass
class _Process:
    """What this process knows of its blocks; changed under its lock only."""

    # Reentrant, because a signal handler or the end of a generator may leave a block.
    lock: threading.RLock = field(default_factory=threading.RLock)
    # Where a program runs that has no threads; None in a child forked from another thread.
    home: int | None = field(default_factory=lambda: threading.main_thread().ident)
    tokens: tuple[str, ...] = field(default_factory=lambda: (secrets.token_hex(16),))
    names: WeakKeyDictionary[Ledger, str] = field(default_factory=WeakKeyDictionary)
    ever: set[str] = field(default_factory=set)
    blocks: list[Block] = field(default_factory=list)
    outer: str | None = None
    posted: Notice = field(default_factory=Notice)


_process = _Process()
_current: ContextVar[Block | None] = ContextVar("tacit_ledger", default=None)


def active_ledger() -> Ledger | None:
    """Return the ledger that a fit must charge here and now, or None.

    Guarantee
    ---------
    - Within a ``with`` block it is the ledger of that block, also in copies of its context, such as
      the tasks of asyncio, and after the block has ended there.
    - In the main thread outside of all blocks it is None, or the ledger in whose block another
      process started this one.
    - In another thread or a worker process that has entered no block, it is the ledger of the
      process, where only one was ever entered and its block is open. It is None where none was
      ever entered. Otherwise it is refused, because a fit could be charged to the wrong ledger or
      to none.

    Raises
    ------
    LedgerError
        If it cannot be told which ledger is meant.

    Examples
    --------
    >>> active_ledger() is None
    True
    """
    block = own_block()
    if block is not None:
        return block.ledger
    return _only(_outer() if at_home() else surroundings())


@contextmanager
def uncharged(reason: str) -> Iterator[None]:
    """Charge no ledger in this block, in a thread or process where one could be meant.

    Guarantee
    ---------
    - Where this context has a ledger, it is refused: a fit within a ledger's block is not free.

    Parameters
    ----------
    reason
        Why these fits belong to no ledger, for whoever reads the code.

    Raises
    ------
    LedgerError
        If a ledger is active in this context.

    Examples
    --------
    >>> with uncharged("simulated records"):
    ...     active_ledger() is None
    True
    """
    if not isinstance(reason, str) or not reason.strip():
        raise SettingError('uncharged needs a reason, for example uncharged("simulated records")')
    here = own_block()
    if here is not None and here.ledger is not None:
        raise LedgerError(
            "a ledger is active here, so fits cannot be left uncharged; leave its block first"
        )
    block = Block(None)
    _open(block)
    try:
        yield
    finally:
        _go_back(block)
        _close(block)


def enter(ledger: Ledger) -> None:
    """Make a ledger the one that is charged here."""
    here = own_block()
    if here is not None and here.ledger is not None and is_open(here):
        raise LedgerError(
            "a ledger is already active here; ledgers are not nested, because a fit is charged to "
            "exactly one. Leave the outer block first"
        )
    _open(Block(ledger, name_of(ledger)))


def leave(ledger: Ledger) -> None:
    """Undo `enter`. Another context than the one that entered keeps the ledger that it has."""
    here = _current.get()
    if here is None or here.ledger is not ledger or not _go_back(here):
        here = None
    with _process.lock:
        mine = [block for block in _process.blocks if block.ledger is ledger]
        if mine:
            _close(here if here in mine else mine[-1])


@contextmanager
def pinned(ledger: Ledger | None) -> Iterator[None]:
    """Let one fit charge this ledger, or none, whatever its thread or process would charge."""
    block = Block(ledger)
    block.came_from = _current.set(block)
    try:
        yield
    finally:
        _go_back(block)


def own_block() -> Block | None:
    """Return the block that this context has entered, or was copied in."""
    block = _current.get()
    if block is None:
        return None
    # A worker that was forked within a block is given jobs from other places, too.
    if block.process != os.getpid() and notices.is_worker():
        return None
    # So is a thread of a pool, where Python lets threads inherit the context that started them.
    if block.thread != threading.get_ident() and _threads_inherit():
        return None
    return block


def at_home() -> bool:
    """Whether this is the main thread of a program, with no block open in it."""
    if notices.is_worker() or threading.get_ident() != _process.home:
        return False
    # A block of this thread may be open in another context: then this could be a part of it that
    # was run in an empty context.
    return all(
        block.ledger is None or block.thread != _process.home for block in _blocks_of_process()
    )


def surroundings() -> Notice:
    """Return the ledgers that a thread or worker process without a block could belong to."""
    with _process.lock:
        opened = any(block.ledger is not None for block in _blocks_of_process())
        found = Notice(frozenset(_process.ever), opened) | _outer()
    if notices.is_worker():
        found |= notices.posted(notices.family_folder(), notices.parent_process()) or Notice()
    return found


def started_in() -> tuple[Path, int] | None:
    """Return the folder of notices and the number of the process in whose block this one began."""
    with _process.lock:
        words = _process.outer if _ledgers_open() else os.environ.get(VARIABLE)
    return notices.pointed(words, frozenset(_process.tokens)) if words else None


def is_open(block: Block) -> bool:
    """Whether a block was entered in this process and has not ended."""
    with _process.lock:
        return block in _process.blocks


def token() -> str:
    """Return the random name of this process, new after a fork."""
    return _process.tokens[-1]


def name_of(ledger: Ledger) -> str:
    """Name a ledger: one in a file by its handle, one in memory for as long as it lives."""
    if ledger.path is not None:
        return json.dumps(ledger.handle(), sort_keys=True)
    with _process.lock:
        return _process.names.setdefault(ledger, json.dumps({"memory": secrets.token_hex(16)}))


def named(name: str) -> Ledger:
    """Return the ledger of a name: the object whose block is open here, or the file again."""
    with _process.lock:
        for block in _process.blocks:
            if block.ledger is not None and block.name == name:
                return block.ledger
    handle = {} if name == _UNREADABLE else json.loads(name)
    if not handle.get("path"):
        raise LedgerError(
            "the active ledger is in the memory of another process; give it a path, so that "
            "worker processes can charge it"
        )
    from tacit.ledger.ledger import Ledger

    return Ledger.from_handle(handle)


def _only(notice: Notice) -> Ledger | None:
    """Return the one ledger that is meant, or refuse where there are several or it has ended."""
    if not notice.ledgers:
        return None
    if notice.is_open and len(notice.ledgers) == 1:
        return named(*notice.ledgers)
    ended = "the block of the ledger has ended meanwhile"
    raise LedgerError(
        "it cannot be told which ledger this fit belongs to: this thread or process has entered "
        f"none, and {ended if len(notice.ledgers) == 1 else 'several ledgers were entered'} where "
        "it was started. Enter the ledger where the fit runs, in the submitted function (with "
        "ledger: ...), or submit contextvars.copy_context().run to a thread, or create the "
        'estimator within the block. To charge none: with tacit.ledger.uncharged("reason"): ...'
    )


def _outer() -> Notice:
    """What the process that started this one says about the block it was started in."""
    starter = started_in()
    if starter is None:
        return Notice()
    # Its folder goes when it ends; the block has then ended as well.
    return notices.posted(*starter) or Notice(frozenset({_UNREADABLE}))


def _blocks_of_process() -> list[Block]:
    """The blocks open in this process; not those that a worker was forked in."""
    with _process.lock:
        if not notices.is_worker():
            return list(_process.blocks)
        return [block for block in _process.blocks if block.process == os.getpid()]


def _ledgers_open() -> bool:
    return any(block.ledger is not None for block in _process.blocks)


def _open(block: Block) -> None:
    with _process.lock:
        if block.ledger is not None:
            if not _ledgers_open():
                _process.outer = os.environ.get(VARIABLE)
                _process.ever |= _outer_names()
            if len(_process.ever) < SEVERAL:
                _process.ever.add(block.name)
        for other in _process.blocks:
            _note_overlap(block, other)
        _process.blocks.append(block)
        try:
            _publish()
        except BaseException:
            _process.blocks.remove(block)
            _restore()
            raise
    block.came_from = _current.set(block)


def _close(block: Block) -> None:
    with _process.lock:
        if block not in _process.blocks:
            return
        _process.blocks.remove(block)
        try:
            _publish()
        except LedgerError:
            # A block must be left also with a full disk. Workers then refuse their fits.
            notices.spoil()
            _process.posted = Notice()


def _go_back(block: Block) -> bool:
    """Give this context back what it had before a block; False where another context entered it."""
    try:
        if block.came_from is not None:
            _current.reset(block.came_from)
    except (ValueError, RuntimeError):
        return False
    return block.came_from is not None


def _note_overlap(block: Block, other: Block) -> None:
    # A block of `uncharged` beside one of a ledger: what is created in the former could be
    # submitted in the latter. The other way round it would be charged, which is safe.
    if block.name != other.name:
        block.alone &= other.ledger is None
        other.alone &= block.ledger is None


def _outer_names() -> frozenset[str]:
    try:
        return _outer().ledgers
    except LedgerError:
        return frozenset({_UNREADABLE})


def _publish() -> None:
    """Tell workers, and processes to be started, what is open."""
    if not _process.ever:
        return
    notice = Notice(frozenset(_process.ever), _ledgers_open())
    if notice.is_open:
        os.environ[VARIABLE] = notices.pointer(token())
    else:
        _restore()
    if notice != _process.posted:
        notices.post(notice)
        _process.posted = notice


def _restore() -> None:
    if _process.outer is None:
        os.environ.pop(VARIABLE, None)
    else:
        os.environ[VARIABLE] = _process.outer


def _threads_inherit() -> bool:
    return bool(getattr(sys.flags, "thread_inherit_context", False))


def _before_fork() -> None:
    _process.lock.acquire()


def _after_fork_in_parent() -> None:
    _process.lock.release()


def _after_fork_in_child() -> None:
    # The forking thread is the only one, and is called the main one from now on. It stays what it
    # was: if nobody knew where its job was submitted, nobody knows it here.
    if threading.get_ident() != _process.home:
        _process.home = None
    _process.tokens += (secrets.token_hex(16),)
    _process.posted = Notice()
    _process.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )
