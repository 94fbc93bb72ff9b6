"""Which block an estimator belongs to where its thread or process does not tell.

An estimator that was created within a block belongs to it while nothing else can be meant. An
estimator that is pickled takes a mark along, which says which ledger its copy must charge.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from tacit.errors import LedgerError
from tacit.ledger import active, blocks, notices

if TYPE_CHECKING:
    from tacit.ledger.ledger import Ledger

MARK = "_ledger"
"""The attribute of a copy that holds its mark."""
_births: WeakKeyDictionary[object, blocks.Block] = WeakKeyDictionary()


@dataclass(frozen=True)
class Mark:
    """Which ledger a copy of an estimator must charge, in words that another process understands.

    `ledger` is the name of the ledger, "" for none; `refused` says why it could not be told.
    """

    ledger: str
    refused: str = ""
    token: str = field(default_factory=blocks.token)
    parent: int = field(default_factory=notices.parent_process)
    family: str = field(default_factory=notices.family)
    folder: str = field(default_factory=lambda: str(notices.family_folder()))

    def is_foreign(self) -> bool:
        """Whether it was made neither here nor by a worker of this process."""
        by_child = self.family == notices.family() and self.parent == os.getpid()
        return self.token != blocks.token() and not by_child

    def is_of_kin(self) -> bool:
        """Whether this process is a worker of the one that made the mark, or started in it."""
        if self.family == notices.family():
            return True
        starter = blocks.started_in()
        return starter is not None and starter[0] == Path(self.folder)


def born(estimator: object) -> None:
    """Note in which block an estimator was created."""
    block = blocks.own_block()
    if block is not None and blocks.is_open(block):
        _births[estimator] = block


def received(estimator: object) -> None:
    """Forget the mark of a copy that was made and read in one process, or came back to it."""
    words = getattr(estimator, MARK, "")
    with suppress(LedgerError):
        if words and not _read(words).is_foreign():
            delattr(estimator, MARK)
    born(estimator)


def descend(twin: object, original: object) -> None:
    """Let a clone belong where the original does, unless it was made in a block itself."""
    if blocks.own_block() is None and original in _births:
        _births[twin] = _births[original]
    words = getattr(original, MARK, "")
    if words:
        setattr(twin, MARK, words)


@contextmanager
def charged_for(estimator: object) -> Iterator[None]:
    """Charge the fit of an estimator to the ledger it belongs to, or refuse it.

    Guarantee
    ---------
    - A block entered where the fit runs comes first.
    - A copy from another process charges what its mark says, there and in its clones. The mark of
      a process that has nothing to do with this one is refused, not ignored.
    - An estimator created within a block is charged to its ledger in any thread, as long as the
      block is open and no block of another ledger was open since it was entered.
    - Otherwise it is as `active_ledger` says.
    """
    with active.pinned(_ledger_of(estimator)):
        yield


def mark(estimator: object) -> str:
    """Return the mark for a copy of an estimator, "" where no ledger can be meant. Never raises."""
    words = getattr(estimator, MARK, "")
    block = blocks.own_block()
    if block is None and words:
        return str(words)
    try:
        ledger = _ledger_of(estimator)
        if block is None and ledger is None and not active.surroundings().ledgers:
            return ""
        made = Mark("" if ledger is None else blocks.name_of(ledger))
    except LedgerError as error:
        made = Mark("", refused=str(error))
    return json.dumps(asdict(made))


def _ledger_of(estimator: object) -> Ledger | None:
    block = blocks.own_block()
    if block is not None:
        return block.ledger
    words = getattr(estimator, MARK, "")
    if words:
        given = _read(words)
        if given.is_of_kin():
            return _by_mark(given)
        if given.ledger or given.refused:
            raise LedgerError(
                "this estimator was pickled within the block of a ledger, in a process that did "
                "not start this one. Enter the ledger to be charged here (with ledger: ...), or "
                'say that there is none: with tacit.ledger.uncharged("reason"): ...'
            )
    if not active.at_home():
        birth = _births.get(estimator)
        if birth is not None and birth.alone and blocks.is_open(birth) and _made_here(birth):
            return birth.ledger
    return active.active_ledger()


def _by_mark(given: Mark) -> Ledger | None:
    if given.refused:
        raise LedgerError(given.refused)
    return active.named(given.ledger) if given.ledger else None


def _made_here(birth: blocks.Block) -> bool:
    # In a forked worker the block looks open for ever.
    return birth.process == os.getpid()


def _read(words: Any) -> Mark:
    try:
        value: Any = json.loads(words)
        found = Mark(**value)
        texts = (found.ledger, found.refused, found.token, found.family, found.folder)
        if not all(isinstance(text, str) for text in texts):
            raise ValueError(words)
    except (ValueError, TypeError, RecursionError) as error:
        raise LedgerError(
            "the mark of the ledger in this estimator cannot be read, it was made by another "
            "version; create the estimator again, or enter the ledger here: with ledger: ..."
        ) from error
    return found
