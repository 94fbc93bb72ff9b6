"""A numpy matrix as a source.

Private: the values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.rows.encoding.cells import to_float64
from tacit.rows.encoding.labels import plain_labels


@dataclass(frozen=True)
class MatrixSource:
    """A two-dimensional array of numbers in any order and strides, or of cells of any type."""

    values: NDArray[Any] = field(repr=False)
    names: tuple[str, ...]
    response: str | None = None
    resident: bool = True
    typed_by: str | None = "numpy"

    @property
    def length(self) -> int:
        """Number of records."""
        return len(self.values)

    def batches(
        self, rows: int, *, numeric: Sequence[str], labels: Sequence[str]
    ) -> Iterator[MatrixBatch]:
        """Consecutive slices; nothing is copied before it is asked for."""
        del numeric, labels
        for start in range(0, self.length, rows):
            yield MatrixBatch(self, start, min(start + rows, self.length))


@dataclass(frozen=True)
class MatrixBatch:
    """Records start … stop - 1 of a matrix."""

    source: MatrixSource = field(repr=False)
    start: int
    stop: int

    @property
    def length(self) -> int:
        """Number of records."""
        return self.stop - self.start

    def numeric(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Columns as float64; a view where the matrix is that already."""
        block = self.source.values[self.start : self.stop]
        if tuple(names) != self.source.names:
            position = {name: index for index, name in enumerate(self.source.names)}
            block = block[:, [position[name] for name in names]]
        if block.dtype.kind not in "biuf":
            columns = [to_float64(block[:, j], name) for j, name in enumerate(names)]
            return np.ascontiguousarray(np.array(columns).reshape(len(names), len(block)).T)
        # A warning of numpy's would tell of the cells, of a signalling NaN for one.
        with np.errstate(all="ignore"):
            return np.require(block, dtype=np.float64, requirements=["C", "A"])

    def labels(self, name: str) -> NDArray[Any]:
        """Values of a column."""
        return plain_labels(
            self.source.values[self.start : self.stop, self.source.names.index(name)]
        )
