"""Lots: by which records take part where a part of a large table is enough.

Every record draws a lot, in secret and whatever it holds; one in four is in the part. Those of a
block stand first, so that to read the part is to read less.

A part by the records' places would not do: a table that is kept in the order of its content shifts
when one record is replaced, and the part would change by many. A lot goes with its record.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tacit.contract.query import PART

VALUES = 256

Draw = Callable[[int], NDArray[np.uint8]]
"""Fresh independent uniform bytes, one a record; from the source of all noise."""


def ordered(lots: NDArray[np.uint8]) -> tuple[NDArray[np.int64], int]:
    """Return the records with those of the part first, and how many these are.

    Examples
    --------
    >>> order, count = ordered(np.array([70, 3, 255, 63], dtype=np.uint8))
    >>> order.tolist(), count
    ([1, 3, 0, 2], 2)
    """
    inside = lots < VALUES // PART
    first = np.flatnonzero(inside)
    return np.concatenate([first, np.flatnonzero(~inside)]), len(first)
