"""A black box on invented rows, before any record is read: whether it runs at all in a process of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.contract.block_query import BlackBox
from tacit.errors import SettingError
from tacit.mechanisms.block_process import BlockProcesses

Floats = NDArray[np.float64]


def rehearse(function: BlackBox, X: Floats, y: Floats) -> None:
    """Refuse a program that does not return its numbers for rows that were made up. Nothing is read or spent."""
    impossible = replace(function, default=(np.inf,) * function.size, rows_needed=1)
    with BlockProcesses(impossible) as processes:
        found = processes.answer(X, y)
    if not np.isfinite(found).all():
        raise SettingError(
            f"The estimator did not return {function.size} finite numbers within {function.seconds:g} seconds and "
            f"{function.memory / 2**30:g} GB for invented rows, in a process of its own. Try it on rows of this shape "
            "first. Nothing was spent."
        )
