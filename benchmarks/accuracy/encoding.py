"""From columns to rows in [-1, 1], with bounds and levels written by hand and never learnt."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.accuracy.table import Matrix


class Encoder:
    """Collects columns; `rows` returns them with the constant last and the public norm bound."""

    def __init__(self) -> None:
        self._columns: list[NDArray[np.float32]] = []
        self._squared_norm = 1.0

    def number(self, values: ArrayLike, lower: float, upper: float, *, log: bool = False) -> Encoder:
        """Clip to the bounds and map to [-1, 1]; a missing value stands on the lower bound."""
        column = np.asarray(values, dtype=np.float64)
        column = np.clip(np.where(np.isnan(column), lower, column), lower, upper)
        if log:
            column, lower, upper = np.log1p(column), np.log1p(lower), np.log1p(upper)
        scaled = 2.0 * (column - lower) / (upper - lower) - 1.0
        return self._add(scaled[:, None])

    def category(self, values: ArrayLike, levels: Sequence[object]) -> Encoder:
        """One indicator per listed level; any other value has none."""
        words = np.char.strip(np.asarray(values).astype(str))
        return self._add(np.stack([words == str(level) for level in levels], axis=1))

    def rows(self) -> tuple[Matrix, float]:
        """Encoded rows, and the bound that any row obeys."""
        constant = np.ones((len(self._columns[0]), 1), dtype=np.float32)
        return np.hstack([*self._columns, constant]), float(np.sqrt(self._squared_norm))

    def _add(self, columns: NDArray[np.generic]) -> Encoder:
        # A number lies in [-1, 1], and of a row's indicators at most one is 1.
        self._columns.append(columns.astype(np.float32))
        self._squared_norm += 1.0
        return self
