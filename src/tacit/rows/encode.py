"""Encoding: a batch of records becomes design columns, what stands behind them, and validity.

Private: the batch and all three results. Public: the design and the declared levels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.errors import SchemaError
from tacit.problem.design import Design, Indicator, Numeric
from tacit.rows.behind import Behind
from tacit.rows.labels import level_codes, normal_form
from tacit.rows.source import Batch

Encoded = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]

LARGEST = np.finfo(np.float64).max


@dataclass(frozen=True)
class Encoder:
    """What a design asks of a batch, worked out once.

    Parameters
    ----------
    design
        The public design.
    numeric
        Numeric columns it needs, each once.
    levels
        Declared levels of every factor column it needs.
    behind
        Response, weight and offset of a record.
    """

    design: Design
    numeric: tuple[str, ...]
    levels: Mapping[str, tuple[str, ...]]
    behind: Behind

    @classmethod
    def of(cls, design: Design) -> Encoder:
        """Work out the columns a design needs, and refuse indicators of undeclared levels."""
        factors = [factor for column in design.columns for factor in column.factors]
        numeric = _distinct(factor.column for factor in factors if isinstance(factor, Numeric))
        needed: dict[str, tuple[str, ...]] = {}
        for factor in factors:
            if isinstance(factor, Indicator):
                # Indicators leave out the reference level; without the declared levels a label
                # that was never declared could not be told from it.
                if factor.column not in design.levels:
                    raise SchemaError(f"The levels of {factor.column!r} are not declared.")
                needed[factor.column] = tuple(design.levels[factor.column])
                _position(needed[factor.column], factor)
        return cls(design, numeric, needed, Behind.of(design))

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
        numbers = batch.numeric(self.numeric)
        valid = np.ones(batch.length, dtype=np.bool_)
        _mark_non_finite(_readonly(numbers), valid)
        codes = {
            name: level_codes(batch.labels(name), levels, name)
            for name, levels in self.levels.items()
        }
        for code in codes.values():
            valid &= code >= 0
        return self._values(numbers, codes), valid

    def encode(self, batch: Batch) -> Encoded:
        """Design columns, what stands behind them, and validity of the records of a batch."""
        values, valid = self.features(batch)
        behind, fit = self.behind.encode(batch)
        valid &= fit
        return values, behind, valid

    def _values(
        self, numbers: NDArray[np.float64], codes: Mapping[str, NDArray[np.int64]]
    ) -> NDArray[np.float64]:
        columns = self.design.columns
        if tuple(column.factors for column in columns) == tuple(
            (Numeric(name),) for name in self.numeric
        ):
            return numbers
        position = {name: j for j, name in enumerate(self.numeric)}
        values = np.ones((len(numbers), len(columns)), dtype=np.float64)
        for j, column in enumerate(columns):
            value = values[:, j]
            for factor in column.factors:
                if isinstance(factor, Numeric):
                    with np.errstate(over="ignore", invalid="ignore"):
                        value *= numbers[:, position[factor.column]]
                    # A product that overflowed stays finite, lest a later zero make it NaN.
                    np.clip(value, -LARGEST, LARGEST, out=value)
                else:
                    level = _position(self.levels[factor.column], factor)
                    value *= codes[factor.column] == level
        return values


def encode(batch: Batch, design: Design) -> Encoded:
    """Design columns (m, p), what stands behind them, and validity of the records of a batch.

    A design column is the product of its factors: v = Π numeric · Π [label = level]. Behind them
    stand response, weight and offset, as `Behind` says. A record is invalid where a needed number
    is missing or infinite, a label is missing or not declared, a count is no whole number from 0,
    a weight negative or an exposure not positive; its values then mean nothing.

    Guarantee
    ---------
    - A record's row depends on that record and public facts only.
    - No level or class is taken from the records.

    Examples
    --------
    >>> from tacit.problem.design import matrix_design
    >>> from tacit.problem.response import Binary
    >>> from tacit.rows.opening import open_source
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


def _position(levels: Sequence[str], factor: Indicator) -> int:
    forms = [normal_form(level) for level in levels]
    wanted = normal_form(factor.level)
    if wanted not in forms:
        raise SchemaError(
            f"The design uses level {factor.level!r} of {factor.column!r}, which is not declared."
        )
    return forms.index(wanted)


def _readonly(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    # One type for the compiler, whether or not the caller's array may be written to.
    view = numbers.view()
    view.flags.writeable = False
    return view


@njit(cache=True, nogil=True)
def _mark_non_finite(numbers: NDArray[np.float64], valid: NDArray[np.bool_]) -> None:
    rows, count = numbers.shape
    for i in range(rows):
        finite = True
        for j in range(count):
            # The difference is 0 for finite numbers and NaN for the others.
            finite &= numbers[i, j] - numbers[i, j] == 0.0
        valid[i] &= finite
