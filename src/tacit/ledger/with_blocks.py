"""Entering and leaving the ``with`` blocks of ledgers, and of `uncharged`."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from tacit.errors import LedgerError, SettingError
from tacit.ledger import current_ledger as state
from tacit.ledger import worker_notices as notices
from tacit.ledger.current_ledger import VARIABLE, Block, go_back, is_open, open_blocks, own_block

if TYPE_CHECKING:
    from tacit.ledger.ledger import Ledger

_OUTER = "the ledger of the program that started this one"
_SEVERAL = 2


@contextmanager
def uncharged(reason: str) -> Iterator[None]:
    """Charge no ledger in this block, in a thread or process where one could be meant.

    Guarantee
    ---------
    - Where this context has a ledger, it is refused: a fit within a ledger's block is not free.

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
        raise LedgerError(
            "a ledger is active here, so fits cannot be left uncharged; leave its block first"
        )
    block = Block(None)
    try:
        _begin(block)
        yield
    finally:
        go_back(block)
        _end(block)


def enter(ledger: Ledger) -> None:
    """Make a ledger the one that is charged here; within its own block also for one request."""
    here, name = own_block(), state.name_of(ledger)
    if here is not None and here.ledger is not None and is_open(here) and here.name != name:
        raise LedgerError(
            "another ledger is active here; ledgers are not nested, because a fit is charged to "
            "exactly one. Leave the outer block first"
        )
    _begin(Block(ledger, name))


def leave(ledger: Ledger) -> None:
    """Undo `enter`. Another context than the one that entered keeps the ledger that it has."""
    here = state.current.get()
    if here is None or here.ledger is not ledger or not go_back(here):
        here = None
    mine = [block for block in open_blocks() if block.ledger is ledger]
    if here in mine:
        _end(here)
    elif mine:
        _end(mine[-1])
        # It may have been another one of these: any thread could be in those that are left.
        for block in mine:
            block.thread = state.process.home


def _begin(block: Block) -> None:
    """Enter a block in this context; nothing has changed where it fails."""
    process = state.process
    with process.lock:
        former = set(process.ever)
        if block.ledger is not None and not open_blocks():
            process.outer = os.environ.get(VARIABLE)
            # What was submitted before could belong to the program that started this one.
            process.ever |= {_OUTER} if state.is_started_in_a_block() else set()
        if block.ledger is not None and len(process.ever) < _SEVERAL:
            process.ever.add(block.name)
        try:
            block.came_from = state.current.set(block)
            process.blocks.append(block)
            _publish(block)
        except BaseException:
            go_back(block)
            process.blocks[:] = [other for other in process.blocks if other is not block]
            process.ever = former
            _set_variable()
            raise


def _end(block: Block) -> None:
    with state.process.lock:
        if block in state.process.blocks:
            state.process.blocks.remove(block)
            # A block must be left also with a full disk. Workers then refuse their fits.
            with suppress(LedgerError):
                _publish(block)


def _publish(changed: Block) -> None:
    """Tell workers, and programs to be started, what is open."""
    if changed.ledger is not None:
        _set_variable()
        state.process.families.add(notices.family())
        notices.post(state.entered(), state.process.families)


def _set_variable() -> None:
    process = state.process
    if open_blocks():
        os.environ[VARIABLE] = f"{notices.family()}-{os.getpid()}"
        process.tokens.add(os.environ[VARIABLE])
    elif process.outer is None:
        os.environ.pop(VARIABLE, None)
    else:
        os.environ[VARIABLE] = process.outer


def _before_fork() -> None:
    state.process.lock.acquire()


def _after_fork_in_parent() -> None:
    state.process.lock.release()


def _after_fork_in_child() -> None:
    # The forking thread is now called the main one. If nobody knew where its job was submitted,
    # nobody knows it here either.
    process = state.process
    if threading.get_ident() != process.home:
        process.home = None
    process.nonce = state.new_nonce()
    process.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )
