"""Which ledger a fit is charged to: its block's, else that of its estimator's mark, else the only one ever entered."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from tacit.errors import LedgerError
from tacit.ledger import with_blocks as blocks

if TYPE_CHECKING:
    from tacit.ledger.ledger import Ledger

MARK = "_ledger"  # The attribute of an estimator that holds its mark: "<epoch> <name of the ledger, or nothing>".
WAYS_OUT = (
    "Enter the ledger where the fit runs, in the submitted function (with ledger: ...), or submit "
    "contextvars.copy_context().run to a thread, or create the estimator within the block. To "
    'charge none: with tacit.ledger.uncharged("reason"): ...'
)
# An epoch is "<nonce>-<number>", and a nonce "<family>-<process>_<time>".
_FORM = re.compile(r"(?P<epoch>(?P<nonce>(?P<family>\w+)-\w+)-\d+) (?P<name>.*)", re.DOTALL)


def active_ledger() -> Ledger | None:
    """Return the ledger that a fit must charge here and now, or None.

    Guarantee: Within a ``with`` block it is the ledger of that block, also in copies of its context, such as the tasks
    of asyncio, and after the block has ended there. In a program that was started in a block it is refused, until a
    block is entered there. In the main thread outside of all blocks it is None. In another thread or a worker process
    that has entered no block, it is the only ledger ever entered in the process, or in the one that it works for, while
    its block is open. It is None where none was ever entered. Otherwise it is refused: the fit could be charged to the
    wrong ledger or to none.
    """
    block = blocks.own_block()
    if block is not None:
        return block.ledger
    if blocks.is_started_in_a_block():
        raise LedgerError(
            "this program was started in the block of a ledger, as the environment variable "
            f"{blocks.VARIABLE} says, and has entered no ledger itself. {WAYS_OUT}"
        )
    return None if _is_main_outside_blocks() else _only_ledger()


def charged_for(estimator: object) -> AbstractContextManager[None]:
    """Charge the fit of an estimator to the ledger it belongs to, or refuse it.

    Guarantee: A block entered where the fit runs comes first. An estimator created within a block is charged as there,
    in any thread, as long as no ledger has been entered or left since. A copy in a worker process, and its clones, are
    charged as where it was pickled, while no ledger has been entered or left since in the process that the worker works
    for. Later, and elsewhere, a copy from the block of a ledger is refused: it can come from a file. Otherwise it is as
    `active_ledger` says.
    """
    return pinned(_ledger_of(estimator))


@contextmanager
def pinned(ledger: Ledger | None) -> Iterator[None]:
    """Let one fit charge this ledger, or none, whatever its thread or process would charge."""
    block = blocks.Block(ledger, is_pinned=True)
    block.came_from = blocks.current.set(block)
    try:
        yield
    finally:
        blocks.go_back(block)


def born(estimator: object) -> None:
    """Note in which block an estimator was created."""
    place = "" if blocks.own_block() is None else _place()
    if place:
        setattr(estimator, MARK, place)


def received(estimator: object) -> None:
    """Forget the mark of an unpickled copy where its place in the same program is known."""
    is_home = _is_main_outside_blocks() and _is_kin(_mark_of(estimator))
    if is_home or blocks.own_block() is not None:
        vars(estimator).pop(MARK, None)
    born(estimator)


def descend(twin: object, original: object) -> None:
    """Let a clone belong where the original does, unless it was made in a block itself."""
    if not _mark_of(twin) and _mark_of(original):
        setattr(twin, MARK, _mark_of(original))


def mark(estimator: object) -> str:
    """Return the mark for a copy of an estimator, "" where its place is unknown. Never raises."""
    return _place() or _mark_of(estimator)


def _mark_of(estimator: object) -> str:
    return str(getattr(estimator, MARK, ""))


def _place() -> str:
    """Return what is charged here as a mark; "" if unknown, or if other ledgers are open too."""
    with blocks.process.lock:
        block = blocks.own_block()
        if block is None and not _is_main_outside_blocks():
            return ""
        ledger = None if block is None else block.ledger
        if ledger is None and not blocks.process.ever:
            return ""
        name = "" if ledger is None else ledger.handle()
        if {name} - {""} != {other.name for other in blocks.open_blocks()}:
            return ""
        return f"{blocks.epoch()} {name}"


def _is_kin(words: str) -> bool:
    # Whether a mark was made by this process or one of its workers.
    form = _FORM.fullmatch(words)
    return form is not None and form["family"] in blocks.process.families


def _ledger_of(estimator: object) -> Ledger | None:
    block, words = blocks.own_block(), _mark_of(estimator)
    if block is not None:
        return block.ledger
    is_home = _is_main_outside_blocks() and _is_kin(words)
    if not words or is_home or blocks.is_started_in_a_block():
        return active_ledger()
    form = _FORM.fullmatch(words)
    if form is not None:
        if _holds(form["epoch"], form["name"]):
            return named(form["name"]) if form["name"] else None
        # An outdated mark says nothing where it was made. Elsewhere it is a copy, submitted in time or from a file.
        if form["nonce"] == blocks.process.nonce or not (form["name"] or _is_kin(words)):
            return active_ledger()
    raise LedgerError(
        "it cannot be told which ledger this fit belongs to: this estimator was pickled within a "
        f"block, in another program or before a ledger was entered or left. {WAYS_OUT}"
    )


def _holds(epoch_of_mark: str, name: str) -> bool:
    """Whether the same ledgers are open where a mark was made, and no other one elsewhere."""
    if epoch_of_mark == blocks.epoch():
        return True
    if blocks.works_for() is None:
        return False
    parent, others = blocks.read(blocks.works_for())
    return parent.epoch == epoch_of_mark and others.ledgers <= {name}


def named(name: str) -> Ledger:
    """Return the ledger of a name: the object whose block is open here, or the file again."""
    for block in blocks.open_blocks():
        if block.ledger is not None and block.name == name:
            # The key of a request is for the fits of its own block.
            return block.ledger if block.ledger.key is None else block.ledger.request()
    handle = json.loads(name)
    if "path" not in handle:
        raise LedgerError("the active ledger is in the memory of another process; give it a path")
    from tacit.ledger.ledger import Ledger

    return Ledger(**handle)


def _only_ledger() -> Ledger | None:
    """Return the one ledger that a thread or worker could mean, or refuse."""
    here = blocks.entered()
    ledgers, any_open = here.ledgers, here.is_open
    if blocks.works_for() is not None:
        parent, others = blocks.read(blocks.works_for())
        ledgers |= parent.ledgers | others.ledgers
        any_open |= parent.is_open
    if not ledgers:
        return None
    if any_open and len(ledgers) == 1:
        return named(*ledgers)
    ended = "the block of the ledger has ended meanwhile"
    raise LedgerError(
        "it cannot be told which ledger this fit belongs to: this thread or process has entered none, and "
        f"{ended if len(ledgers) == 1 else 'several ledgers were entered'} where it was started. {WAYS_OUT}"
    )


def _is_main_outside_blocks() -> bool:
    """Whether this is the main thread of a program, in no block here or where it was started."""
    in_main_thread = blocks.works_for() is None and threading.get_ident() == blocks.process.home
    if not in_main_thread or blocks.is_started_in_a_block():
        return False
    # Code of a block may run in an empty context, so no block of this thread may be open.
    return all(block.thread != blocks.process.home for block in blocks.open_blocks())
