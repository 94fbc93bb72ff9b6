"""Factors of a batch: codes of labels, and products of factors that are design columns.

Private: the cells and every result. Public: the design and its levels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.design.factor import (
    Between,
    Cell,
    Factor,
    Indicator,
    LabelCell,
    Missing,
    Numeric,
    Power,
    Spline,
    Transform,
)
from tacit.errors import SchemaError
from tacit.rows.encoding.labels import NormalForm, level_codes, normal_form
from tacit.rows.encoding.transforms import power, spline_basis, transform
from tacit.rows.storage.tiles import Flags, Floats, Integers

LARGEST = np.finfo(np.float64).max


@dataclass(frozen=True)
class FactorValues:
    """Values of factors in one batch; a spline's basis is computed once for all its functions."""

    numbers: Floats
    absent: Flags | None
    codes: Mapping[str, Integers]
    position: Mapping[str, int]
    places: Mapping[Indicator, int]
    bases: dict[Any, Floats] = field(default_factory=dict)

    def products(self, columns: Sequence[Sequence[Factor]]) -> Floats:
        """The product of the factors of each column."""
        values = np.ones((len(self.numbers), len(columns)), dtype=np.float64)
        for j, factors in enumerate(columns):
            value = values[:, j]
            for factor in factors:
                with np.errstate(over="ignore", invalid="ignore"):
                    value *= self.of(factor)
                # A product that overflowed stays finite, lest a later zero make it NaN.
                np.clip(value, -LARGEST, LARGEST, out=value)
        return values

    def of(self, factor: Factor) -> Floats | Flags:
        """Value of one factor in every record."""
        if isinstance(factor, Indicator):
            return np.equal(self.codes[factor.column], self.places[factor])
        place = self.position[factor.column]
        if isinstance(factor, Missing):
            if self.absent is None:
                raise SchemaError(f"The missing cells of {factor.column!r} were not marked.")
            return self.absent[:, place]
        return self._of_number(factor, self.numbers[:, place])

    def _of_number(
        self, factor: Numeric | Power | Transform | Between | Spline, cells: Floats
    ) -> Floats | Flags:
        match factor:
            case Numeric():
                return cells
            case Power(exponent=exponent):
                return power(cells, exponent)
            case Transform(function=function):
                return transform(function, cells)
            case Between(low=low, high=high):
                return (low < cells) & (cells <= high)
            case Spline(index=index):
                return self._basis(factor, cells)[:, index]

    def _basis(self, spline: Spline, cells: Floats) -> Floats:
        key = (spline.column, spline.knots, spline.degree)
        if key not in self.bases:
            self.bases[key] = spline_basis(cells, spline.knots, spline.degree)
        return self.bases[key]


def codes_of_levels(levels: Sequence[str]) -> dict[NormalForm, int]:
    """Code of each declared level, by its normal form."""
    return {normal_form(level): code for code, level in enumerate(levels)}


def level_place(codes: Mapping[NormalForm, int], level: str, column: str) -> int:
    """Code of a level that the design uses; one that is not declared is refused."""
    form = normal_form(level)
    if form not in codes:
        raise SchemaError(f"The design uses level {level!r} of {column!r}, which is not declared.")
    return codes[form]


def substituted_codes(
    labels: NDArray[Any], levels: Sequence[str], cell: Cell | None, column: str
) -> Integers:
    """Index of each label's level, with declared substitutes; -1 where there is none."""
    codes = level_codes(labels, levels, column)
    if not isinstance(cell, LabelCell):
        return codes
    places = codes_of_levels(levels)
    missing, other = (
        -1 if level is None else level_place(places, level, column)
        for level in (cell.missing, cell.other)
    )
    for index in np.flatnonzero(codes < 0).tolist():
        codes[index] = missing if normal_form(labels[index]) is None else other
    return codes
