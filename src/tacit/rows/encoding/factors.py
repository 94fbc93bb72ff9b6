"""Reading features: cells become factors, and products of factors the columns of a design.

Private: the batch and every result. Public: the design.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.compiling import compiled
from tacit.design.cell_rules import Cell, LabelCell, NumericCell
from tacit.design.design import Design
from tacit.design.factor import (
    Between,
    Factor,
    Indicator,
    Missing,
    Numeric,
    Power,
    Spline,
    Transform,
    require_declared,
)
from tacit.errors import SchemaError
from tacit.rows.encoding.feature_maps import FeatureMapper
from tacit.rows.encoding.labels import NormalForm, level_codes, normal_form
from tacit.rows.encoding.splines import spline_basis
from tacit.rows.encoding.transforms import power, transform
from tacit.rows.sources.source import Batch

Cells = NDArray[np.float64]
Codes = NDArray[np.int64]
Valid = NDArray[np.bool_]

LARGEST = np.finfo(np.float64).max


@dataclass(frozen=True)
class FeatureReader:
    """What the features of a design ask of a batch, worked out once.

    A number is replaced by its declared constant where it is missing, and clipped into its declared
    bounds; a missing or undeclared label is replaced by the level declared for it. A record is
    invalid where a needed cell is missing, infinite or undeclared and nothing stands for it.

    Guarantee
    ---------
    - A record's features depend on that record and the design only, bit by bit.
    - No level, bound, knot or constant is taken from the records.
    """

    design: Design
    numeric: tuple[str, ...]
    levels: Mapping[str, tuple[str, ...]]
    places: Mapping[Indicator, int]
    """Code of the level that an indicator marks."""
    mapper: FeatureMapper | None

    @classmethod
    def of(cls, design: Design) -> FeatureReader:
        """Work out the columns a design needs, and refuse factors that need more than it says."""
        if design.feature_map is not None:
            names = tuple(column.name for column in design.inputs)
            return cls(design, names, {}, {}, FeatureMapper.of(design))
        factors = [factor for column in design.columns for factor in column.factors]
        numeric: dict[str, None] = {}
        needed: dict[str, tuple[str, ...]] = {}
        codes: dict[str, dict[NormalForm, int]] = {}
        places: dict[Indicator, int] = {}
        for factor in factors:
            require_declared(factor, design.levels, design.cells)
            if isinstance(factor, Indicator):
                if factor.column not in needed:
                    needed[factor.column] = tuple(design.levels[factor.column])
                    codes[factor.column] = _codes_of_levels(needed[factor.column])
                places[factor] = _place(codes[factor.column], factor.level, factor.column)
            else:
                numeric[factor.column] = None
        return cls(design, tuple(numeric), needed, places, None)

    def read(self, batch: Batch) -> tuple[Cells, Valid]:
        """Design columns and validity of the records of a batch."""
        numbers = batch.numeric(self.numeric)
        valid = np.ones(batch.length, dtype=np.bool_)
        if self.mapper is not None:
            _mark_non_finite(_readonly(numbers), valid)
            return self.mapper.features(numbers, valid), valid
        rules = [self.design.cells.get(name) for name in self.numeric]
        absent = np.isnan(numbers) if self._marks_missing else None
        if any(isinstance(rule, NumericCell) for rule in rules):
            numbers = _cleaned(numbers, rules, valid)
        else:
            _mark_non_finite(_readonly(numbers), valid)
        codes = {
            name: _codes(batch.labels(name), levels, self.design.cells.get(name), name)
            for name, levels in self.levels.items()
        }
        for code in codes.values():
            valid &= code >= 0
        return self._products(numbers, absent, codes), valid

    @property
    def _marks_missing(self) -> bool:
        columns = self.design.columns
        return any(isinstance(factor, Missing) for column in columns for factor in column.factors)

    def _products(self, numbers: Cells, absent: Valid | None, codes: Mapping[str, Codes]) -> Cells:
        columns = self.design.columns
        if tuple(column.factors for column in columns) == tuple(
            (Numeric(name),) for name in self.numeric
        ):
            return numbers
        position = {name: j for j, name in enumerate(self.numeric)}
        factors = _Factors(numbers, absent, codes, position, self.places)
        values = np.ones((len(numbers), len(columns)), dtype=np.float64)
        for j, column in enumerate(columns):
            value = values[:, j]
            for factor in column.factors:
                with np.errstate(over="ignore", invalid="ignore"):
                    value *= factors.of(factor)
                # A product that overflowed stays finite, lest a later zero make it NaN.
                np.clip(value, -LARGEST, LARGEST, out=value)
        return values


@dataclass(frozen=True)
class _Factors:
    """Values of factors in one batch; a spline's basis is computed once for all its functions."""

    numbers: Cells
    absent: Valid | None
    codes: Mapping[str, Codes]
    position: Mapping[str, int]
    places: Mapping[Indicator, int]
    bases: dict[Any, Cells] = field(default_factory=dict)

    def of(self, factor: Factor) -> Cells | Valid:
        if isinstance(factor, Indicator):
            return np.equal(self.codes[factor.column], self.places[factor])
        place = self.position[factor.column]
        if isinstance(factor, Missing):
            if self.absent is None:
                raise SchemaError(f"The missing cells of {factor.column!r} were not marked.")
            return self.absent[:, place]
        return self._of_number(factor, self.numbers[:, place])

    def _of_number(
        self, factor: Numeric | Power | Transform | Between | Spline, cells: Cells
    ) -> Cells | Valid:
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

    def _basis(self, spline: Spline, cells: Cells) -> Cells:
        key = (spline.column, spline.knots, spline.degree)
        if key not in self.bases:
            self.bases[key] = spline_basis(cells, spline.knots, spline.degree)
        return self.bases[key]


def _codes_of_levels(levels: Sequence[str]) -> dict[NormalForm, int]:
    return {normal_form(level): code for code, level in enumerate(levels)}


def _place(codes: Mapping[NormalForm, int], level: str, column: str) -> int:
    form = normal_form(level)
    if form not in codes:
        raise SchemaError(f"The design uses level {level!r} of {column!r}, which is not declared.")
    return codes[form]


def _codes(labels: NDArray[Any], levels: Sequence[str], cell: Cell | None, column: str) -> Codes:
    """Index of each label's level, with declared substitutes; -1 where there is none."""
    codes = level_codes(labels, levels, column)
    if not isinstance(cell, LabelCell):
        return codes
    places = _codes_of_levels(levels)
    missing, other = (
        -1 if level is None else _place(places, level, column)
        for level in (cell.missing, cell.other)
    )
    for index in np.flatnonzero(codes < 0).tolist():
        codes[index] = missing if normal_form(labels[index]) is None else other
    return codes


def _cleaned(numbers: Cells, rules: Sequence[Cell | None], valid: Valid) -> Cells:
    """Numbers with their constants for missing ones, clipped; invalid records are marked."""
    table = np.array(
        [
            (rule.lower, rule.upper, np.nan if rule.missing is None else rule.missing)
            if isinstance(rule, NumericCell)
            else (-LARGEST, LARGEST, np.nan)
            for rule in rules
        ]
    )
    lower, upper, constant = np.ascontiguousarray(table.T)
    cleaned = np.empty_like(numbers, order="C")
    _clean(_readonly(numbers), lower, upper, constant, cleaned, valid)
    return cleaned


def _readonly(numbers: Cells) -> Cells:
    # One type for the compiler, whether or not the caller's array may be written to.
    view = numbers.view()
    view.flags.writeable = False
    return view


@compiled
def _mark_non_finite(numbers: Cells, valid: Valid) -> None:
    rows, count = numbers.shape
    for i in range(rows):
        finite = True
        for j in range(count):
            # The difference is 0 for finite numbers and NaN for the others.
            finite &= numbers[i, j] - numbers[i, j] == 0.0
        valid[i] &= finite


@compiled
def _clean(
    numbers: Cells,
    lower: Cells,
    upper: Cells,
    constant: Cells,
    cleaned: Cells,
    valid: Valid,
) -> None:
    rows, count = numbers.shape
    for i in range(rows):
        finite = True
        for j in range(count):
            # NaN differs from itself.
            value = constant[j] if numbers[i, j] != numbers[i, j] else numbers[i, j]
            usable = value - value == 0.0
            finite &= usable
            cleaned[i, j] = min(max(value, lower[j]), upper[j]) if usable else lower[j]
        valid[i] &= finite
