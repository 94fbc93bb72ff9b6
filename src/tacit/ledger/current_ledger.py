"""Which ledger is charged: the one whose ``with`` block a fit belongs to.

A context that has entered a block belongs to it. A new thread, and a worker process, start with an
empty context, and nothing tells where their jobs were submitted. They are charged where only one
ledger can be meant, and refused where there could be several, or none any more. A program that was
started in a block is refused until it enters one itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tacit.errors import LedgerError, SettingError
from tacit.ledger import with_blocks as blocks
from tacit.ledger import worker_notices as notices
from tacit.ledger.with_blocks import Block

if TYPE_CHECKING:
    from tacit.ledger.ledger import Ledger

WAYS_OUT = (
    "Enter the ledger where the fit runs, in the submitted function (with ledger: ...), or submit "
    "contextvars.copy_context().run to a thread, or create the estimator within the block. To "
    'charge none: with tacit.ledger.uncharged("reason"): ...'
)


def active_ledger() -> Ledger | None:
    """Return the ledger that a fit must charge here and now, or None.

    Guarantee
    ---------
    - Within a ``with`` block it is the ledger of that block, also in copies of its context, such as
      the tasks of asyncio, and after the block has ended there.
    - In a program that was started in a block it is refused, until a block is entered there.
    - In the main thread outside of all blocks it is None.
    - In another thread or a worker process that has entered no block, it is the ledger of the
      process, or of the one that it works for, where only one was ever entered and its block is
      open. It is None where none was ever entered. Otherwise it is refused, because a fit could be
      charged to the wrong ledger or to none.

    Raises
    ------
    LedgerError
        If it cannot be told which ledger is meant.

    Examples
    --------
    >>> active_ledger() is None
    True
    """
    block = blocks.own_block()
    if block is not None:
        return block.ledger
    if blocks.is_started_in_a_block():
        raise LedgerError(
            "this program was started in the block of a ledger, as the environment variable "
            f"{blocks.VARIABLE} says, and has entered no ledger itself. {WAYS_OUT}"
        )
    return None if blocks.at_home() else _only_ledger()


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
    here = blocks.own_block()
    if here is not None and here.ledger is not None:
        raise LedgerError(
            "a ledger is active here, so fits cannot be left uncharged; leave its block first"
        )
    block = Block(None)
    try:
        blocks.begin(block)
        yield
    finally:
        blocks.go_back(block)
        blocks.end(block)


def enter(ledger: Ledger) -> None:
    """Make a ledger the one that is charged here; within its own block also for one request."""
    here, name = blocks.own_block(), blocks.name_of(ledger)
    if here is not None and here.ledger is not None and blocks.is_open(here) and here.name != name:
        raise LedgerError(
            "another ledger is active here; ledgers are not nested, because a fit is charged to "
            "exactly one. Leave the outer block first"
        )
    blocks.begin(Block(ledger, name))


def leave(ledger: Ledger) -> None:
    """Undo `enter`. Another context than the one that entered keeps the ledger that it has."""
    here = blocks.current.get()
    if here is None or here.ledger is not ledger or not blocks.go_back(here):
        here = None
    mine = [block for block in blocks.open_blocks() if block.ledger is ledger]
    if here in mine:
        blocks.end(here)
    elif mine:
        blocks.end(mine[-1])
        # It may have been another one of these: any thread could be in those that are left.
        for block in mine:
            block.thread = blocks.process.home


@contextmanager
def pinned(ledger: Ledger | None) -> Iterator[None]:
    """Let one fit charge this ledger, or none, whatever its thread or process would charge."""
    block = Block(ledger, is_pinned=True)
    block.came_from = blocks.current.set(block)
    try:
        yield
    finally:
        blocks.go_back(block)


def named(name: str) -> Ledger:
    """Return the ledger of a name: the object whose block is open here, or the file again."""
    for block in blocks.open_blocks():
        if block.ledger is not None and block.name == name:
            # The key of a request is for the fits of its own block.
            return block.ledger if block.ledger.key is None else block.ledger.request()
    handle = json.loads(name)
    if not handle.get("path"):
        raise LedgerError(
            "the active ledger is in the memory of another process; give it a path, so that "
            "worker processes can charge it"
        )
    from tacit.ledger.ledger import Ledger

    return Ledger.from_handle(handle)


def _only_ledger() -> Ledger | None:
    """Return the one ledger that a thread or worker could mean, or refuse."""
    here = blocks.entered()
    ledgers, is_open = here.ledgers, here.is_open
    if notices.works_for() is not None:
        parent, others = notices.read()
        ledgers |= parent.ledgers | others.ledgers
        is_open |= parent.is_open
    if not ledgers:
        return None
    if is_open and len(ledgers) == 1:
        return named(*ledgers)
    ended = "the block of the ledger has ended meanwhile"
    raise LedgerError(
        "it cannot be told which ledger this fit belongs to: this thread or process has entered "
        f"none, and {ended if len(ledgers) == 1 else 'several ledgers were entered'} where it was "
        f"started. {WAYS_OUT}"
    )
