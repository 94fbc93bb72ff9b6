"""Which ledger a fit is charged to.

1. A context that has entered a ``with`` block, or was copied within one, charges that ledger.
2. Otherwise an estimator's mark decides: it names the ledger that was charged where the estimator
   was created or pickled, and holds while the same ledgers are open there.
3. Otherwise a thread or a worker process charges the only ledger that was ever entered, if its
   block is open. The fit is refused if there were several, or if the block has ended.
4. The main thread outside of all blocks charges none.

A program that was started within a block is refused until it enters a block itself.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tacit.errors import LedgerError
from tacit.ledger import worker_notices as notices
from tacit.ledger.worker_notices import Notice

if TYPE_CHECKING:
    from tacit.ledger.ledger import Ledger

VARIABLE = "TACIT_ACTIVE_LEDGER"
"""The environment variable that is set while a block is open."""
MARK = "_ledger"
"""The attribute of an estimator that holds its mark: "<epoch> <name of the ledger, or nothing>"."""
WAYS_OUT = (
    "Enter the ledger where the fit runs, in the submitted function (with ledger: ...), or submit "
    "contextvars.copy_context().run to a thread, or create the estimator within the block. To "
    'charge none: with tacit.ledger.uncharged("reason"): ...'
)
# An epoch is "<nonce>-<number>", and a nonce "<family>-<process>_<time>".
_FORM = re.compile(r"(?P<epoch>(?P<nonce>(?P<family>\w+)-\w+)-\d+) (?P<name>.*)", re.DOTALL)


def new_nonce() -> str:
    """Name this process; with the time, because process numbers are used again."""
    return f"{notices.family()}-{os.getpid()}_{time.time_ns()}"


@dataclass(eq=False)
class Block:
    """One ``with`` block, of a ledger or, where that is None, of `uncharged`."""

    ledger: Ledger | None
    name: str = ""
    is_pinned: bool = False
    """Whether it belongs to one fit whose ledger has been decided."""
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
    families: set[str] = field(default_factory=lambda: {notices.family()})
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


def active_ledger() -> Ledger | None:
    """Return the ledger that a fit must charge here and now, or None.

    Guarantee
    ---------
    - Within a ``with`` block it is the ledger of that block, also in copies of its context, such as
      the tasks of asyncio, and after the block has ended there.
    - In a program that was started in a block it is refused, until a block is entered there.
    - In the main thread outside of all blocks it is None.
    - In another thread or a worker process that has entered no block, it is the only ledger ever
      entered in the process, or in the one that it works for, while its block is open. It is None
      where none was ever entered. Otherwise it is refused: the fit could be charged to the wrong
      ledger or to none.
    """
    block = own_block()
    if block is not None:
        return block.ledger
    if is_started_in_a_block():
        raise LedgerError(
            "this program was started in the block of a ledger, as the environment variable "
            f"{VARIABLE} says, and has entered no ledger itself. {WAYS_OUT}"
        )
    return None if _is_main_outside_blocks() else _only_ledger()


def charged_for(estimator: object) -> AbstractContextManager[None]:
    """Charge the fit of an estimator to the ledger it belongs to, or refuse it.

    Guarantee
    ---------
    - A block entered where the fit runs comes first.
    - An estimator created within a block is charged as there, in any thread, as long as no ledger
      has been entered or left since.
    - A copy in a worker process, and its clones, are charged as where it was pickled, while no
      ledger has been entered or left since in the process that the worker works for. Later, and
      elsewhere, a copy from the block of a ledger is refused: it can come from a file.
    - Otherwise it is as `active_ledger` says.
    """
    return pinned(_ledger_of(estimator))


@contextmanager
def pinned(ledger: Ledger | None) -> Iterator[None]:
    """Let one fit charge this ledger, or none, whatever its thread or process would charge."""
    block = Block(ledger, is_pinned=True)
    block.came_from = current.set(block)
    try:
        yield
    finally:
        go_back(block)


def born(estimator: object) -> None:
    """Note in which block an estimator was created."""
    place = "" if own_block() is None else _place()
    if place:
        setattr(estimator, MARK, place)


def received(estimator: object) -> None:
    """Forget the mark of an unpickled copy where its place in the same program is known."""
    if own_block() is not None or (_is_main_outside_blocks() and _is_kin(_mark_of(estimator))):
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
    with process.lock:
        block = own_block()
        if block is None and not _is_main_outside_blocks():
            return ""
        ledger = None if block is None else block.ledger
        if ledger is None and not process.ever:
            return ""
        name = "" if ledger is None else name_of(ledger)
        if {name} - {""} != {other.name for other in open_blocks()}:
            return ""
        return f"{epoch()} {name}"


def _is_kin(words: str) -> bool:
    # Whether a mark was made by this process or one of its workers.
    form = _FORM.fullmatch(words)
    return form is not None and form["family"] in process.families


def _ledger_of(estimator: object) -> Ledger | None:
    block, words = own_block(), _mark_of(estimator)
    if block is not None:
        return block.ledger
    if not words or is_started_in_a_block() or (_is_main_outside_blocks() and _is_kin(words)):
        return active_ledger()
    form = _FORM.fullmatch(words)
    if form is not None:
        if _holds(form["epoch"], form["name"]):
            return named(form["name"]) if form["name"] else None
        # An outdated mark says nothing in the process that made it. Elsewhere the estimator is a
        # copy, which could have been submitted while the mark held, or kept in a file.
        if form["nonce"] == process.nonce or not (form["name"] or _is_kin(words)):
            return active_ledger()
    raise LedgerError(
        "it cannot be told which ledger this fit belongs to: this estimator was pickled within the "
        "block of a ledger, in another program or before a ledger was entered or left. "
        f"{WAYS_OUT}"
    )


def _holds(epoch_of_mark: str, name: str) -> bool:
    """Whether the same ledgers are open where a mark was made, and no other one elsewhere."""
    if epoch_of_mark == epoch():
        return True
    if works_for() is None:
        return False
    parent, others = notices.read(works_for())
    return parent.epoch == epoch_of_mark and others.ledgers <= {name}


def works_for() -> int | None:
    """Return the number of the process whose worker this one is; None where it is nobody's.

    Workers are those of `multiprocessing`, and of pools built on it such as joblib's.
    """
    # Not that of the operating system: that would be the server, for a worker of a fork server.
    parent = multiprocessing.parent_process()
    return None if parent is None else parent.pid


def own_block() -> Block | None:
    """Return the block that this context has entered, or was copied in."""
    block = current.get()
    # `uncharged` ends with its block, also in contexts that were copied within it.
    if block is None or (block.ledger is None and not block.is_pinned and not is_open(block)):
        return None
    # A worker that was forked within a block is given jobs from other places, too.
    if block.process != os.getpid() and works_for() is not None:
        return None
    # So is a thread of a pool, where Python lets threads inherit the context that started them.
    if block.thread != threading.get_ident() and _threads_inherit():
        return None
    return block


def open_blocks() -> list[Block]:
    """Return the open blocks of ledgers; in a worker, not those that it was forked in."""
    with process.lock:
        found = [block for block in process.blocks if block.ledger is not None]
        if works_for() is None:
            return found
        return [block for block in found if block.process == os.getpid()]


def is_open(block: Block) -> bool:
    """Whether a block of this process has not ended."""
    with process.lock:
        return block in process.blocks


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
    return employer is None or words != f"{notices.family()}-{employer}"


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


def name_of(ledger: Ledger) -> str:
    """Name a ledger and its analyst: objects of one name charge the same."""
    return json.dumps(ledger.handle(), sort_keys=True)


def named(name: str) -> Ledger:
    """Return the ledger of a name: the object whose block is open here, or the file again."""
    for block in open_blocks():
        if block.ledger is not None and block.name == name:
            # The key of a request is for the fits of its own block.
            return block.ledger if block.ledger.key is None else block.ledger.request()
    handle = json.loads(name)
    if "path" not in handle:
        raise LedgerError(
            "the active ledger is in the memory of another process; give it a path, so that "
            "worker processes can charge it"
        )
    from tacit.ledger.ledger import Ledger

    return Ledger(**handle)


def _only_ledger() -> Ledger | None:
    """Return the one ledger that a thread or worker could mean, or refuse."""
    here = entered()
    ledgers, any_open = here.ledgers, here.is_open
    if works_for() is not None:
        parent, others = notices.read(works_for())
        ledgers |= parent.ledgers | others.ledgers
        any_open |= parent.is_open
    if not ledgers:
        return None
    if any_open and len(ledgers) == 1:
        return named(*ledgers)
    ended = "the block of the ledger has ended meanwhile"
    raise LedgerError(
        "it cannot be told which ledger this fit belongs to: this thread or process has entered "
        f"none, and {ended if len(ledgers) == 1 else 'several ledgers were entered'} where it was "
        f"started. {WAYS_OUT}"
    )


def _is_main_outside_blocks() -> bool:
    """Whether this is the main thread of a program, in no block here or where it was started."""
    in_main_thread = works_for() is None and threading.get_ident() == process.home
    if not in_main_thread or is_started_in_a_block():
        return False
    # Code of a block may run in an empty context, so no block of this thread may be open.
    return all(block.thread != process.home for block in open_blocks())


def _threads_inherit() -> bool:
    return bool(getattr(sys.flags, "thread_inherit_context", False))
