"""Which ledger is charged: the one whose ``with`` block a fit runs in."""

from __future__ import annotations

import os
import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING

from tacit.errors import LedgerError

if TYPE_CHECKING:
    from tacit.ledger.ledger import Ledger

_current: ContextVar[Ledger | None] = ContextVar("tacit_ledger", default=None)
# A new thread starts with an empty context. A fit in it must not go uncharged for that reason, so
# the ledgers whose blocks are open anywhere in the process are known as well.
_open: list[Ledger] = []
_lock = threading.Lock()
VARIABLE = "TACIT_ACTIVE_LEDGER"
"""How processes started within a block know of its ledger."""


def active_ledger() -> Ledger | None:
    """Return the ledger that a fit must charge here and now, or None.

    Guarantee
    ---------
    - Within a ``with`` block it is the ledger of that block, also in threads that fit while it is
      open, and in processes started within it.
    - Where a thread could mean one of several, or a process a ledger in the memory of another, it
      is refused rather than left uncharged.

    Examples
    --------
    >>> active_ledger() is None
    True
    """
    own = _current.get()
    if own is not None:
        return own
    with _lock:
        if len(_open) > 1:
            raise LedgerError(
                "several ledgers are open in this process, and this thread has entered none of "
                "them; enter the one to be charged in this thread: with ledger: ..."
            )
        if _open:
            return _open[0]
    return inherited(os.environ.get(VARIABLE, ""))


def mark() -> str:
    """Say which ledger is active, in words that another process understands; "" for none."""
    ledger = active_ledger()
    return "" if ledger is None else _words(ledger)


def inherited(words: str) -> Ledger | None:
    """Return the ledger that another process named with `mark`, or refuse one in its memory."""
    process, _, path = words.partition(":")
    if not process or process == str(os.getpid()):
        return None
    if not path:
        raise LedgerError(
            "the active ledger is in the memory of another process; give it a path, so that "
            "worker processes can charge it"
        )
    from tacit.ledger.ledger import Ledger

    return Ledger(path)


def enter(ledger: Ledger) -> None:
    """Make a ledger the one that is charged here."""
    if _current.get() is not None:
        raise LedgerError(
            "a ledger is already active here; ledgers are not nested, because a fit is charged to "
            "exactly one. Leave the outer block first"
        )
    _current.set(ledger)
    with _lock:
        _open.append(ledger)
        os.environ[VARIABLE] = _words(ledger)


def leave(ledger: Ledger) -> None:
    """Undo `enter`."""
    _current.set(None)
    with _lock:
        _open[:] = _without(ledger)
        if not _open:
            os.environ.pop(VARIABLE, None)


def _words(ledger: Ledger) -> str:
    return f"{os.getpid()}:{'' if ledger.path is None else ledger.path.resolve()}"


def _without(ledger: Ledger) -> list[Ledger]:
    # One object may be entered in several threads: only one of its places is given up.
    rest = list(_open)
    for place, other in enumerate(rest):
        if other is ledger:
            del rest[place]
            break
    return rest
