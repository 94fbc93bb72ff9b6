"""Which block an estimator belongs to where its thread or process does not tell.

An estimator keeps in which block it was created, and its copy where it was pickled: in which epoch
of which process, and which ledger was charged there. A later fit in the same epoch was submitted
while the same ledgers were open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tacit.errors import LedgerError
from tacit.ledger import current_ledger as active
from tacit.ledger import with_blocks as blocks
from tacit.ledger import worker_notices as notices

if TYPE_CHECKING:
    from tacit.ledger.ledger import Ledger

MARK = "_ledger"
"""The attribute that holds the mark: an epoch, a space, the name of the ledger or nothing."""
# The name of a family and another word make the nonce of a process, with a number its epoch.
_FORM = re.compile(r"(?P<epoch>(?P<nonce>(?P<family>\w+)-\w+)-\d+) (?P<name>.*)", re.DOTALL)


def born(estimator: object) -> None:
    """Note in which block an estimator was created."""
    place = "" if blocks.own_block() is None else _place()
    if place:
        setattr(estimator, MARK, place)


def received(estimator: object) -> None:
    """Forget the mark of a copy that is read where a place in the same program is known."""
    if blocks.own_block() is not None or (blocks.at_home() and _is_kin(_mark_of(estimator))):
        vars(estimator).pop(MARK, None)
    born(estimator)


def descend(twin: object, original: object) -> None:
    """Let a clone belong where the original does, unless it was made in a block itself."""
    if not _mark_of(twin) and _mark_of(original):
        setattr(twin, MARK, _mark_of(original))


def mark(estimator: object) -> str:
    """Return the mark for a copy of an estimator, "" where its place is unknown. Never raises."""
    return _place() or _mark_of(estimator)


@contextmanager
def charged_for(estimator: object) -> Iterator[None]:
    """Charge the fit of an estimator to the ledger it belongs to, or refuse it.

    Guarantee
    ---------
    - A block entered where the fit runs comes first.
    - An estimator created within a block is charged as there, in any thread, as long as no ledger
      has been entered or left since.
    - A copy in a worker process is charged as where it was pickled, it and its clones, while no
      ledger has been entered or left since in the process that the worker works for. Later, and
      elsewhere, a copy from the block of a ledger is refused: it can be kept in a file.
    - Otherwise it is as `active_ledger` says.
    """
    with active.pinned(_ledger_of(estimator)):
        yield


def _mark_of(estimator: object) -> str:
    return str(getattr(estimator, MARK, ""))


def _place() -> str:
    """Return what is charged here; "" where it is unknown, or could be another ledger beside."""
    with blocks.process.lock:
        block = blocks.own_block()
        if block is None and not blocks.at_home():
            return ""
        ledger = None if block is None else block.ledger
        # Nobody needs to be told where there is no ledger.
        if ledger is None and not blocks.process.ever:
            return ""
        name = "" if ledger is None else blocks.name_of(ledger)
        if {name} - {""} != {other.name for other in blocks.open_blocks()}:
            return ""
        return f"{blocks.epoch()} {name}"


def _is_kin(words: str) -> bool:
    """Whether a mark was made by this process or one of its workers."""
    form = _FORM.fullmatch(words)
    return form is not None and form["family"] in blocks.process.families


def _ledger_of(estimator: object) -> Ledger | None:
    block, words = blocks.own_block(), _mark_of(estimator)
    if block is not None:
        return block.ledger
    if not words or blocks.is_started_in_a_block() or (blocks.at_home() and _is_kin(words)):
        return active.active_ledger()
    form = _FORM.fullmatch(words)
    if form is not None and _holds(form["epoch"], form["name"]):
        return active.named(form["name"]) if form["name"] else None
    # In the process that made it, a mark that holds no more says nothing. Elsewhere it is that of a
    # copy, which could have been submitted then or kept in a file.
    if form is not None and form["nonce"] == blocks.process.nonce:
        return active.active_ledger()
    if form is not None and not form["name"] and not _is_kin(words):
        return active.active_ledger()
    raise LedgerError(
        "it cannot be told which ledger this fit belongs to: this estimator was pickled within the "
        "block of a ledger, in another program or before a ledger was entered or left. "
        f"{active.WAYS_OUT}"
    )


def _holds(epoch: str, name: str) -> bool:
    """Whether the same ledgers are open still where a mark was made, and no other was elsewhere."""
    if epoch == blocks.epoch():
        return True
    if notices.works_for() is None:
        return False
    parent, others = notices.read()
    return parent.epoch == epoch and others.ledgers <= {name}
