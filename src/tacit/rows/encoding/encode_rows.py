"""Encoding: a batch of records becomes design columns, outcome columns, and validity.

Private: the batch and all three results. Public: the design and the declared levels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.compiling import compiled
from tacit.design.design import Design
from tacit.design.factor import (
    Between,
    Cell,
    Factor,
    Indicator,
    LabelCell,
    Missing,
    Numeric,
    NumericCell,
    Power,
    Spline,
    Transform,
    require_declared,
)
from tacit.errors import DataError, SchemaError
from tacit.rows.encoding.feature_maps import FeatureMapper
from tacit.rows.encoding.labels import NormalForm, level_codes, normal_form
from tacit.rows.encoding.outcome import OutcomeEncoder
from tacit.rows.encoding.transforms import power, spline_basis, transform
from tacit.rows.sources.source import Batch
from tacit.rows.storage.tiles import Flags, Floats, Integers, readonly

LARGEST = np.finfo(np.float64).max
NAMED = 5
"""Columns that the refusal of invalid records names, of those that need numbers."""


@dataclass(frozen=True)
class FeatureReader:
    """What the features of a design ask of a batch, worked out once.

    A design column is the product of its factors. A missing number is replaced by its declared
    constant, and numbers are clipped into their declared bounds; a missing or undeclared label is
    replaced by the level declared for it. A record is invalid where a needed cell is missing,
    infinite or undeclared and nothing replaces it.

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
        numeric: dict[str, None] = {}
        codes: dict[str, dict[NormalForm, int]] = {}
        places: dict[Indicator, int] = {}
        for factor in (factor for column in design.columns for factor in column.factors):
            name = factor.column
            if not isinstance(factor, Numeric):
                require_declared(factor, design.levels, design.cells)
            if isinstance(factor, Indicator):
                if name not in codes:
                    codes[name] = _codes_of_levels(design.levels[name])
                places[factor] = _level_code(codes[name], factor.level, name)
            else:
                numeric[name] = None
        levels = {name: tuple(design.levels[name]) for name in codes}
        return cls(design, tuple(numeric), levels, places, None)

    def read(self, batch: Batch) -> tuple[Floats, Flags]:
        """Design columns and validity of the records of a batch."""
        numbers = batch.numeric(self.numeric)
        valid = np.ones(batch.length, dtype=np.bool_)
        if self.mapper is not None:
            _mark_non_finite(readonly(numbers), valid)
            return self.mapper.features(numbers, valid), valid
        columns = tuple(column.factors for column in self.design.columns)
        rules = [self.design.cells.get(name) for name in self.numeric]
        marked = any(isinstance(factor, Missing) for factors in columns for factor in factors)
        absent = np.isnan(numbers) if marked else None
        if any(isinstance(rule, NumericCell) for rule in rules):
            numbers = _cleaned(numbers, rules, valid)
        else:
            _mark_non_finite(readonly(numbers), valid)
        codes = {
            name: _substituted_codes(batch.labels(name), levels, self.design.cells.get(name), name)
            for name, levels in self.levels.items()
        }
        for code in codes.values():
            valid &= code >= 0
        if columns == tuple((Numeric(name),) for name in self.numeric):
            return numbers, valid
        position = {name: j for j, name in enumerate(self.numeric)}
        values = _FactorValues(numbers, absent, codes, position, self.places, {})
        return values.products(columns), valid


@dataclass(frozen=True)
class _FactorValues:
    """Values of factors in one batch; a spline's basis is computed once for all its functions."""

    numbers: Floats
    absent: Flags | None
    codes: Mapping[str, Integers]
    position: Mapping[str, int]
    places: Mapping[Indicator, int]
    bases: dict[Any, Floats]

    def products(self, columns: Sequence[Sequence[Factor]]) -> Floats:
        values = np.ones((len(self.numbers), len(columns)), dtype=np.float64)
        for j, factors in enumerate(columns):
            value = values[:, j]
            for factor in factors:
                with np.errstate(over="ignore", invalid="ignore"):
                    value *= self._of(factor)
                # A product that overflowed stays finite, lest a later zero make it NaN.
                np.clip(value, -LARGEST, LARGEST, out=value)
        return values

    def _of(self, factor: Factor) -> Floats | Flags:
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
            case Spline(column=column, knots=knots, degree=degree, index=index):
                key = column, knots, degree
                if key not in self.bases:
                    self.bases[key] = spline_basis(cells, knots, degree)
                return self.bases[key][:, index]


def _codes_of_levels(levels: Sequence[str]) -> dict[NormalForm, int]:
    return {normal_form(level): code for code, level in enumerate(levels)}


def _level_code(codes: Mapping[NormalForm, int], level: str, column: str) -> int:
    form = normal_form(level)
    if form not in codes:
        raise SchemaError(f"The design uses level {level!r} of {column!r}, which is not declared.")
    return codes[form]


def _substituted_codes(
    labels: NDArray[Any], levels: Sequence[str], cell: Cell | None, column: str
) -> Integers:
    """Index of each label's level, with declared substitutes; -1 where there is none."""
    codes = level_codes(labels, levels, column)
    if not isinstance(cell, LabelCell):
        return codes
    places = _codes_of_levels(levels)
    missing, other = (
        -1 if level is None else _level_code(places, level, column)
        for level in (cell.missing, cell.other)
    )
    for index in np.flatnonzero(codes < 0).tolist():
        codes[index] = missing if normal_form(labels[index]) is None else other
    return codes


@dataclass(frozen=True)
class RecordEncoder:
    """What a design asks of a batch: features, outcome, and whose the records are.

    Guarantee
    ---------
    - A record's row depends on that record and public facts only.
    - No level or class is taken from the records.
    - Where `strict`, an invalid record is refused.
    """

    design: Design
    reader: FeatureReader
    outcome: OutcomeEncoder
    strict: bool = False

    @classmethod
    def of(cls, design: Design, *, strict: bool = False) -> RecordEncoder:
        """Work out the columns a design needs, and refuse factors that need more than it says."""
        return cls(design, FeatureReader.of(design), OutcomeEncoder.of(design), strict)

    @property
    def numbers(self) -> tuple[str, ...]:
        """Columns whose numbers are needed: features, outcome, and the order of a person's."""
        unit = self.design.attached.unit
        order = () if unit is None or unit.order is None else (unit.order,)
        return tuple(dict.fromkeys((*self.reader.numeric, *self.outcome.numbers, *order)))

    @property
    def labels(self) -> tuple[str, ...]:
        """Columns whose labels are needed: factors, the response if it has classes, the person."""
        unit = self.design.attached.unit
        person = () if unit is None else (unit.column,)
        return tuple(dict.fromkeys((*self.reader.levels, *self.outcome.labels, *person)))

    def encode(self, batch: Batch, named: Flags | None = None) -> tuple[Floats, Floats, Flags]:
        """Design columns, outcome columns and validity; the values of an invalid record are void.

        Records that are not `named`, where that is given, are invalid.
        """
        values, valid = self.reader.read(batch)
        outcome, fit = self.outcome.encode(batch)
        valid &= fit
        if named is not None:
            valid &= named
        self.check(valid)
        return values, outcome, valid

    def check(self, valid: Flags) -> None:
        """Refuse invalid records where this is strict."""
        if self.strict and not valid.all():
            # What is demanded of the cells is public; which demand was not met is not said.
            demands = "".join(f"{sentence} " for sentence in self._demands())
            raise DataError(
                "Some records are invalid: a needed value is missing, infinite or no number, a "
                "label is not declared, or a record has more or fewer fields than the table. "
                f"{demands}"
                'Mend or remove them, or set invalid_rows="zero" to let such records contribute '
                "nothing."
            )

    def _demands(self) -> list[str]:
        demands = [*self.outcome.demands]
        if self.numbers:
            more = len(self.numbers) - NAMED
            names = ", ".join(map(repr, self.numbers[:NAMED])) + (f", {more} more" * (more > 0))
            demands.insert(0, f"Numbers are needed in {names}.")
        unit = self.design.attached.unit
        if unit is not None:
            ranked = "" if unit.order is None else " and have a number that orders it"
            demands.append(f"Every record must say whose it is{ranked}.")
        return demands


def _cleaned(numbers: Floats, rules: Sequence[Cell | None], valid: Flags) -> Floats:
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
    result = np.empty_like(numbers, order="C")
    _clean(readonly(numbers), lower, upper, constant, result, valid)
    return result


@compiled
def _mark_non_finite(numbers: Floats, valid: Flags) -> None:
    rows, count = numbers.shape
    for i in range(rows):
        finite = True
        for j in range(count):
            # The difference is 0 for finite numbers and NaN for the others.
            finite &= numbers[i, j] - numbers[i, j] == 0.0
        valid[i] &= finite


@compiled
def _clean(
    numbers: Floats, lower: Floats, upper: Floats, constant: Floats, result: Floats, valid: Flags
) -> None:
    rows, count = numbers.shape
    for i in range(rows):
        finite = True
        for j in range(count):
            # NaN differs from itself.
            value = constant[j] if numbers[i, j] != numbers[i, j] else numbers[i, j]
            usable = value - value == 0.0
            finite &= usable
            result[i, j] = min(max(value, lower[j]), upper[j]) if usable else lower[j]
        valid[i] &= finite
