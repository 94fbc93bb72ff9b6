"""Whether the same data were fitted before in this process, so that a person can be told."""

from __future__ import annotations

import os
import threading
import weakref
from pathlib import Path


class RefitWarning(UserWarning):
    """The same data were fitted again without a ledger: the guarantees add up unseen."""


MESSAGE = (
    "The same data were fitted before in this process. Each fit has its own guarantee, and "
    "together they cost more than each states. Fit within one ledger to bound and certify the "
    "total: with tacit.Ledger(budget=tacit.Budget(epsilon=..., delta=...)): ..."
)


class Memory:
    """Which data were fitted, by identity: their address in memory or the name of their file.

    Guarantee
    ---------
    - No value of the data is looked at, and no object is kept alive.
    """

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._objects: dict[int, weakref.ref[object]] = {}
        self._lock = threading.RLock()

    def note(self, data: object) -> bool:
        """Remember that data were fitted; return whether they had been before."""
        with self._lock:
            if isinstance(data, str | os.PathLike):
                name = str(Path(os.fsdecode(data)).resolve())
                known = name in self._files
                self._files.add(name)
                return known
            key = id(data)
            reference = self._objects.get(key)
            if reference is not None and reference() is data:
                return True
            try:
                self._objects[key] = weakref.ref(data, lambda gone: self._forget(key, gone))
            except TypeError:
                # A plain list or dictionary: its address alone would soon mean something else.
                return False
            return False

    def _forget(self, key: int, gone: weakref.ref[object]) -> None:
        with self._lock:
            if self._objects.get(key) is gone:
                del self._objects[key]


_fitted = Memory()


def refit_warning(data: object, *, charged: bool) -> str | None:
    """Note a private fit of data; return what to warn of, if there is something.

    Guarantee
    ---------
    - A second fit of the same object or file is warned of, unless it is charged to a ledger.

    Parameters
    ----------
    data
        What the user gave: a table, a matrix, or the path of a file.
    charged
        Whether a ledger was charged for this fit.

    Examples
    --------
    >>> table = {1.0, 2.0}
    >>> refit_warning(table, charged=False) is None
    True
    >>> refit_warning(table, charged=False) is None
    False
    """
    known = _fitted.note(data)
    return MESSAGE if known and not charged else None
