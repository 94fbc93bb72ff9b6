"""Encoding: a batch of records becomes design columns, what stands behind them, and validity.

Private: the batch and all three results. Public: the design and the declared levels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.design.design import Design
from tacit.rows.encoding.factors import FeatureReader
from tacit.rows.encoding.outcome import Behind
from tacit.rows.sources.source import Batch

Encoded = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]


@dataclass(frozen=True)
class Encoder:
    """What a design asks of a batch, worked out once.

    Parameters
    ----------
    design
        The public design.
    reader
        Its features.
    behind
        Response, weight and offset of a record.
    """

    design: Design
    reader: FeatureReader
    behind: Behind

    @classmethod
    def of(cls, design: Design) -> Encoder:
        """Work out the columns a design needs, and refuse factors that need more than it says."""
        return cls(design, FeatureReader.of(design), Behind.of(design))

    @property
    def numeric(self) -> tuple[str, ...]:
        """Columns whose numbers the features need, each once."""
        return self.reader.numeric

    @property
    def levels(self) -> Mapping[str, tuple[str, ...]]:
        """Declared levels of every factor column the features need."""
        return self.reader.levels

    @property
    def numbers(self) -> tuple[str, ...]:
        """Columns whose numbers are needed: the features', then those behind them."""
        return _distinct((*self.numeric, *self.behind.numbers))

    @property
    def labels(self) -> tuple[str, ...]:
        """Columns whose labels are needed: the factors, then the response if it has classes."""
        return _distinct((*self.levels, *self.behind.labels))

    def features(self, batch: Batch) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Design columns and validity of the records of a batch, the response left aside."""
        return self.reader.read(batch)

    def encode(self, batch: Batch) -> Encoded:
        """Design columns, what stands behind them, and validity of the records of a batch."""
        values, valid = self.features(batch)
        behind, fit = self.behind.encode(batch)
        valid &= fit
        return values, behind, valid


def encode(batch: Batch, design: Design) -> Encoded:
    """Design columns (m, p), what stands behind them, and validity of the records of a batch.

    A design column is the product of its factors, as `FeatureReader` says. Behind them stand
    response, weight and offset, as `Behind` says. A record is invalid where a needed number is
    missing or infinite or a label missing or not declared, with nothing to stand for it, a count
    is no whole number from 0, a weight negative or an exposure not positive; its values then mean
    nothing.

    Guarantee
    ---------
    - A record's row depends on that record and public facts only.
    - No level or class is taken from the records.

    Examples
    --------
    >>> from tacit.design.design import matrix_design
    >>> from tacit.design.response import Binary
    >>> from tacit.rows.sources.opening import open_source
    >>> source = open_source([[1.0], [float("nan")]], response=["no", "yes"])
    >>> design = matrix_design(
    ...     source.names, Binary("y", ("no", "yes")), bounds=(0, 1), row_norm=None, intercept=True
    ... )
    >>> batch = next(source.batches(10, numeric=("x0",), labels=("y",)))
    >>> [part.tolist() for part in encode(batch, design)]
    [[[1.0], [nan]], [[0.0], [1.0]], [True, False]]
    """
    return Encoder.of(design).encode(batch)


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
