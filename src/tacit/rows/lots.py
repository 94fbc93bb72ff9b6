"""Lots: by which records take part where a part of a large table is enough.

Every record draws one of eight lots, in secret and whatever it holds. Records of a block stand in
the order of their lots, so those below any value come first, and to read a part is to read less.

A part by the records' places would not do: a table that is kept in the order of its content shifts
when one record is replaced, and the part would change by many. A lot goes with its record.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

VALUES = 8
"""Lots are 0 to 7: more would only scatter the records of a block more widely."""

Draw = Callable[[int], NDArray[np.uint8]]
"""Fresh independent lots, uniform on 0 … 7, one a record; from the source of all noise."""


def ordered(lots: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return records in the order of their lots, and how many have each lot or a lower one.

    Examples
    --------
    >>> order, below = ordered(np.array([3, 0, 3, 7], dtype=np.uint8))
    >>> order.tolist(), below[[0, 2, 3, 7]].tolist()
    ([1, 0, 2, 3], [1, 1, 3, 4])
    """
    order = np.argsort(lots, kind="stable")
    return np.asarray(order, dtype=np.int64), np.cumsum(np.bincount(lots, minlength=VALUES))
