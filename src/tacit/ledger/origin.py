"""Which block an estimator belongs to where its thread or process does not tell.

An estimator keeps in which block it was created, and its copy where it was pickled: which ledger
was charged there, and in which epoch of its process. A later fit in the same epoch was submitted
while the same ledgers were open. In another epoch a copy is refused, because it can be kept in a
file and used anywhere.
"""

from __future__ import annotations

import json
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
_births: WeakKeyDictionary[object, Mark] = WeakKeyDictionary()


@dataclass(frozen=True)
class Mark:
    """Which ledger was charged at a place and time, in words that another process understands.

    `ledger` is the name of the ledger, "" for none.
    """

    ledger: str
    epoch: str
    family: str = field(default_factory=notices.family)
    folder: str = field(default_factory=lambda: str(notices.family_folder()))

    def is_of_kin(self) -> bool:
        """Whether this process is a worker of the one that made the mark, or started in it."""
        if self.family in blocks.process.families:
            return True
        starter = blocks.started_in()
        return starter is not None and starter[0] == Path(self.folder)

    def holds(self) -> bool:
        """Whether the same ledgers are open still where it was made, and no other was elsewhere."""
        if self.epoch == blocks.epoch():
            return True
        return notices.is_epoch(Path(self.folder), self.epoch, self.ledger)


def born(estimator: object) -> None:
    """Note in which block an estimator was created."""
    place = None if blocks.own_block() is None else _place()
    if place is not None:
        _births[estimator] = place


def received(estimator: object) -> None:
    """Forget the mark of a copy that is read where a place in the same program is known."""
    words = getattr(estimator, MARK, "")
    with suppress(LedgerError):
        known = blocks.own_block() is not None or active.at_home()
        if words and known and _read(words).family in blocks.process.families:
            delattr(estimator, MARK)
    born(estimator)


def descend(twin: object, original: object) -> None:
    """Let a clone belong where the original does, unless it was made in a block itself."""
    if twin not in _births and original in _births:
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
    - A copy from another process charges what was charged where it was pickled, there and in its
      clones, while no ledger has been entered or left since in the process that made it. Later it
      is refused, and so is the copy of a process that has nothing to do with this one.
    - An estimator created within a block is charged as there, in any thread, as long as no ledger
      has been entered or left since.
    - Otherwise it is as `active_ledger` says.
    """
    with active.pinned(_ledger_of(estimator)):
        yield


def mark(estimator: object) -> str:
    """Return the mark for a copy of an estimator, "" where its place is unknown. Never raises."""
    words = getattr(estimator, MARK, "")
    if blocks.own_block() is None and words:
        return str(words)
    with suppress(LedgerError):
        place = _place() or _births.get(estimator)
        if place is not None and (place.ledger or active.surroundings().ledgers):
            return json.dumps(asdict(place))
    return ""


def _place() -> Mark | None:
    """Return what is charged here; None where it is unknown, or could be another ledger beside."""
    with blocks.process.lock:
        block = blocks.own_block()
        if block is None and not active.at_home():
            return None
        ledger = None if block is None else block.ledger
        name = "" if ledger is None else blocks.name_of(ledger)
        if {name} - {""} != {other.name for other in blocks.open_blocks()}:
            return None
        return Mark(name, blocks.epoch())


def _ledger_of(estimator: object) -> Ledger | None:
    block = blocks.own_block()
    if block is not None:
        return block.ledger
    words = getattr(estimator, MARK, "")
    at_home = active.at_home()
    if words:
        given = _read(words)
        if not given.is_of_kin():
            _refuse_stranger(given)
        elif not (at_home and given.family in blocks.process.families):
            return _by_mark(given)
    birth = _births.get(estimator)
    if birth is not None and not at_home and birth.epoch == blocks.epoch():
        return _by_mark(birth)
    return active.active_ledger()


def _by_mark(given: Mark) -> Ledger | None:
    if not given.holds():
        raise LedgerError(
            "it cannot be told which ledger this fit belongs to: since this estimator was pickled, "
            "several ledgers were entered, or the block of one has ended. Enter the ledger to be "
            "charged here (with ledger: ...), or say that there is none: with "
            'tacit.ledger.uncharged("reason"): ...'
        )
    return active.named(given.ledger) if given.ledger else None


def _refuse_stranger(given: Mark) -> None:
    if given.ledger:
        raise LedgerError(
            "this estimator was pickled within the block of a ledger, in a process that did "
            "not start this one. Enter the ledger to be charged here (with ledger: ...), or "
            'say that there is none: with tacit.ledger.uncharged("reason"): ...'
        )


def _read(words: Any) -> Mark:
    try:
        value: Any = json.loads(words)
        found = Mark(**value)
        if not all(isinstance(text, str) for text in asdict(found).values()):
            raise ValueError(words)
    except (ValueError, TypeError, RecursionError) as error:
        raise LedgerError(
            "the mark of the ledger in this estimator cannot be read, it was made by another "
            "version; create the estimator again, or enter the ledger here: with ledger: ..."
        ) from error
    return found
