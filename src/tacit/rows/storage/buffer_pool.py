"""Room for the records of a fit, kept for the next one: fresh memory can cost more than the fit.

Private: what is written there. A store wipes its records when it gives them up, and who fills a
room wipes it where that fails.
"""

from __future__ import annotations

import contextlib
import math
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

SMALLEST, LARGEST = 16 << 20, 256 << 20
"""Bytes of a room that is worth keeping, and of one that may be kept."""

_kept: list[NDArray[np.uint8]] = []
_lock = threading.Lock()
_UNUSED = 2
"""References to a room in which nobody has an array: the list's and that of the question."""


def room_for(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """An array of any content, in the room of the fit before where that is free and large enough.

    Guarantee
    ---------
    - No two arrays share a room while either is in use.
    - At most one room is kept, of at most 256 MiB.
    - Nobody waits for a room, in a forked process neither.
    """
    size = math.prod(shape) * dtype.itemsize
    if not _lock.acquire(blocking=False):
        # Someone else chooses, or did when this process was forked: there is other memory.
        return np.empty(shape, dtype=dtype)
    try:
        if _kept and _kept[0].nbytes >= size and sys.getrefcount(_kept[0]) == _UNUSED:
            room = _kept[0]
        else:
            room = np.empty(size, dtype=np.uint8)
            if SMALLEST <= size <= LARGEST:
                _kept[:] = [room]
        # Made under the lock: from here on the room is in use, as its references tell.
        return room[:size].view(dtype).reshape(shape)
    finally:
        _lock.release()


@contextlib.contextmanager
def wiped_on_failure(places: Sequence[NDArray[Any]]) -> Iterator[None]:
    """Wipe arrays that are being written where that fails, or is interrupted.

    Guarantee
    ---------
    - What was written before a failure is in no room that is kept.
    """
    try:
        yield
    except BaseException:
        for place in places:
            place.fill(0)
        raise
