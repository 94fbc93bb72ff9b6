"""Encoding: a batch of records becomes design columns, outcome columns, and validity.

Private: the batch and all three results. Public: the design and the declared levels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.compiling import compiled
from tacit.design.design import Design
from tacit.design.factor import Cell, Indicator, Missing, Numeric, NumericCell, require_declared
from tacit.errors import DataError
from tacit.rows.encoding.factors import (
    LARGEST,
    FactorValues,
    codes_of_levels,
    level_place,
    substituted_codes,
)
from tacit.rows.encoding.feature_maps import FeatureMapper
from tacit.rows.encoding.labels import NormalForm
from tacit.rows.encoding.outcome import OutcomeEncoder
from tacit.rows.sources.source import Batch
from tacit.rows.storage.tiles import Flags, Floats, readonly

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
        levels: dict[str, tuple[str, ...]] = {}
        codes: dict[str, dict[NormalForm, int]] = {}
        places: dict[Indicator, int] = {}
        for factor in (factor for column in design.columns for factor in column.factors):
            if isinstance(factor, Numeric):
                numeric[factor.column] = None
                continue
            require_declared(factor, design.levels, design.cells)
            if isinstance(factor, Indicator):
                if factor.column not in levels:
                    levels[factor.column] = tuple(design.levels[factor.column])
                    codes[factor.column] = codes_of_levels(levels[factor.column])
                places[factor] = level_place(codes[factor.column], factor.level, factor.column)
            else:
                numeric[factor.column] = None
        return cls(design, tuple(numeric), levels, places, None)

    def read(self, batch: Batch) -> tuple[Floats, Flags]:
        """Design columns and validity of the records of a batch."""
        numbers = batch.numeric(self.numeric)
        valid = np.ones(batch.length, dtype=np.bool_)
        if self.mapper is not None:
            _mark_non_finite(readonly(numbers), valid)
            return self.mapper.features(numbers, valid), valid
        rules = [self.design.cells.get(name) for name in self.numeric]
        absent = np.isnan(numbers) if self._marks_missing else None
        if any(isinstance(rule, NumericCell) for rule in rules):
            numbers = _cleaned(numbers, rules, valid)
        else:
            _mark_non_finite(readonly(numbers), valid)
        codes = {
            name: substituted_codes(batch.labels(name), levels, self.design.cells.get(name), name)
            for name, levels in self.levels.items()
        }
        for code in codes.values():
            valid &= code >= 0
        columns = tuple(column.factors for column in self.design.columns)
        if columns == tuple((Numeric(name),) for name in self.numeric):
            return numbers, valid
        position = {name: j for j, name in enumerate(self.numeric)}
        return FactorValues(numbers, absent, codes, position, self.places).products(columns), valid

    @property
    def _marks_missing(self) -> bool:
        columns = self.design.columns
        return any(isinstance(factor, Missing) for column in columns for factor in column.factors)


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
        outcome = OutcomeEncoder.of(design)
        return cls(design, FeatureReader.of(design), outcome, strict)

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
            demands = "".join(f"{sentence} " for sentence in self._demands)
            raise DataError(
                "Some records are invalid: a needed value is missing, infinite or no number, a "
                "label is not declared, or a record has more or fewer fields than the table. "
                f"{demands}"
                'Mend or remove them, or set invalid_rows="zero" to let such records contribute '
                "nothing."
            )

    @property
    def _demands(self) -> tuple[str, ...]:
        demands = [*self.outcome.demands]
        if self.numbers:
            more = len(self.numbers) - NAMED
            names = ", ".join(map(repr, self.numbers[:NAMED])) + (f", {more} more" * (more > 0))
            demands.insert(0, f"Numbers are needed in {names}.")
        unit = self.design.attached.unit
        if unit is not None:
            ranked = "" if unit.order is None else " and have a number that orders it"
            demands.append(f"Every record must say whose it is{ranked}.")
        return tuple(demands)


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
