"""Encoding: a batch of records becomes design columns, outcome columns, and validity.

Private: the batch and all three results. Public: the design and the declared levels.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.design import factor as factors
from tacit.design.design import Design
from tacit.design.factor import Computed, Factor, Indicator, LabelCell, LevelCode, Missing, Numeric, NumericCell
from tacit.errors import InvalidRecordsError, SchemaError
from tacit.kernel_compilation import compiled
from tacit.rows.encoding.cells import NormalForm, level_codes, normal_form, quiet
from tacit.rows.encoding.expressions import evaluated
from tacit.rows.encoding.outcome import OutcomeEncoder
from tacit.rows.encoding.transforms import FeatureMapper, power, spline_basis, transform
from tacit.rows.sources.source import Batch, Source
from tacit.rows.storage.record_store import THREADS
from tacit.rows.storage.tiles import Flags, Floats, Integers, readonly

Encoded = tuple[Floats, Floats, Flags]
"""Design columns, outcome columns and validity of some records."""
LARGEST = np.finfo(np.float64).max


@dataclass(frozen=True)
class FeatureReader:
    """What the features of a design ask of a batch, worked out once.

    A design column is the product of its factors. Declared substitutes replace missing numbers and labels that are
    none, and numbers are clipped into their bounds. A record with a bad cell that is not replaced is invalid.

    Guarantee: a record's features depend on that record and the design only, bit by bit; all else is declared.
    """

    design: Design
    numeric: tuple[str, ...]
    levels: Mapping[str, tuple[str, ...]]
    places: Mapping[Indicator, int]
    """Code of the level that an indicator marks."""
    rules: Floats | None
    """Lower bounds, upper bounds and constants for missing numbers, where any column has some."""
    mapper: FeatureMapper | None

    @classmethod
    def of(cls, design: Design) -> FeatureReader:
        """Work out the columns a design needs."""
        if design.feature_map is not None:
            names = tuple(column.name for column in design.inputs)
            return cls(design, names, {}, {}, None, FeatureMapper.of(design))
        numeric: dict[str, None] = {}
        codes: dict[str, dict[NormalForm, int]] = {}
        places: dict[Indicator, int] = {}
        for factor in (factor for column in design.columns for factor in column.factors):
            for name in factors.columns_of(factor):
                # A column has levels or numbers, whoever reads it.
                if isinstance(factor, Indicator | LevelCode) or (
                    isinstance(factor, Computed) and name in design.levels
                ):
                    if name not in codes:
                        codes[name] = {normal_form(level): code for code, level in enumerate(design.levels[name])}
                    if isinstance(factor, Indicator):
                        places[factor] = _level_code(codes[name], factor.level, name)
                else:
                    numeric[name] = None
        declared = {name: tuple(design.levels[name]) for name in codes}
        bare = NumericCell(-LARGEST, LARGEST)
        cells = [design.cells.get(name) for name in numeric]
        ruled = [cell if isinstance(cell, NumericCell) else bare for cell in cells]
        table = [(c.lower, c.upper, np.nan if c.missing is None else c.missing) for c in ruled]
        rules = None if ruled == [bare] * len(ruled) else np.ascontiguousarray(np.array(table).T)
        return cls(design, tuple(numeric), declared, places, rules, None)

    def read(self, batch: Batch) -> tuple[Floats, Flags]:
        """Design columns and validity of the records of a batch."""
        numbers = batch.numeric(self.numeric)
        valid = np.ones(batch.length, dtype=np.bool_)
        if self.mapper is not None:
            _mark_non_finite(readonly(numbers), valid)
            return self.mapper.features(numbers, valid), valid
        columns = tuple(column.factors for column in self.design.columns)
        marked = any(isinstance(factor, Missing) for own in columns for factor in own)
        absent = np.isnan(numbers) if marked else np.empty((0, 0), dtype=np.bool_)
        if self.rules is None:
            _mark_non_finite(readonly(numbers), valid)
        else:
            raw, numbers = readonly(numbers), np.empty_like(numbers, order="C")
            _clean(raw, self.rules, numbers, valid)
        codes = self._codes(batch, valid)
        if columns == tuple((Numeric(name),) for name in self.numeric):
            return numbers, valid
        position = {name: j for j, name in enumerate(self.numeric)}
        bases: dict[Any, Floats] = {}

        def value_of(factor: Factor) -> Floats | Flags:
            if isinstance(factor, Indicator | LevelCode):
                own = codes[factor.column]
                return np.equal(own, self.places[factor]) if isinstance(factor, Indicator) else own.astype(np.float64)
            if isinstance(factor, Computed):
                return _computed(
                    factor, [numbers[:, position[it]] if it in position else codes[it] for it in factor.columns]
                )
            place = position[factor.column]
            if isinstance(factor, Missing):
                return absent[:, place]
            return _value_of_number(factor, numbers[:, place], bases)

        products = np.ones((len(numbers), len(columns)), dtype=np.float64)
        for j, own in enumerate(columns):
            product = products[:, j]
            for factor in own:
                with quiet():
                    product *= value_of(factor)
                # A product that overflowed stays finite, lest a later zero make it NaN.
                np.clip(product, -LARGEST, LARGEST, out=product)
        return products, valid

    def _codes(self, batch: Batch, valid: Flags) -> dict[str, Integers]:
        """Index of each record's level, by column; a record without one is marked invalid."""
        codes: dict[str, Integers] = {}
        for name, levels in self.levels.items():
            codes[name] = _substituted_codes(batch.labels(name), levels, self.design.cells.get(name), name)
            valid &= codes[name] >= 0
        return codes


def _computed(factor: Computed, cells: Sequence[NDArray[Any]]) -> Floats:
    """Values of an expression of some columns, within its interval; what is no number is the lower end."""
    values = evaluated(factor.expression, np.array(cells, dtype=np.float64).T[:, :, None])[:, 0]
    return np.asarray(np.fmin(np.fmax(values, factor.lower), factor.upper))


def _value_of_number(
    factor: Numeric | factors.Power | factors.Transform | factors.Between | factors.Spline | factors.SplineSum,
    cells: Floats,
    bases: dict[Any, Floats],
) -> Floats | Flags:
    """Values of a factor in a batch; a spline's basis is computed once for all its functions."""
    match factor:
        case Numeric():
            return cells
        case factors.Power(exponent=exponent):
            return power(cells, exponent)
        case factors.Transform(function=function):
            return transform(function, cells)
        case factors.Between(low=low, high=high):
            return (low < cells) & (cells <= high)
        case factors.Spline(column=column, knots=knots, degree=degree, index=index):
            key = column, knots, degree
            if key not in bases:
                bases[key] = spline_basis(cells, knots, degree)
            return bases[key][:, index]
        case factors.SplineSum(column=column, knots=knots, degree=degree, weights=weights):
            key = column, knots, degree
            if key not in bases:
                bases[key] = spline_basis(cells, knots, degree)
            # Term by term, in the order of the basis: the same bits wherever a record stands.
            return functools.reduce(np.add, [weight * bases[key][:, k] for k, weight in enumerate(weights)])


def _level_code(codes: Mapping[NormalForm, int], level: str, column: str) -> int:
    if (form := normal_form(level)) not in codes:
        raise SchemaError(f"The design uses level {level!r} of {column!r}, which is not declared.")
    return codes[form]


def _substituted_codes(labels: NDArray[Any], levels: Sequence[str], cell: factors.Cell | None, column: str) -> Integers:
    """Index of each label's level, with declared substitutes; -1 where there is none."""
    codes = level_codes(labels, levels, column)
    if not isinstance(cell, LabelCell):
        return codes
    places = {normal_form(level): code for code, level in enumerate(levels)}
    given = cell.missing, cell.other
    missing, other = (-1 if level is None else _level_code(places, level, column) for level in given)
    for index in np.flatnonzero(codes < 0).tolist():
        codes[index] = missing if normal_form(labels[index]) is None else other
    return codes


FILE_ADVICE = (
    'If the table spells numbers, letters, dates or missing cells in its own way, declare decimal = "," or '
    'an encoding under [file], type = "date" with a format, or missing_codes in the schema; '
    "percent signs and marks of thousands are not read."
)
TABLE_ADVICE = (
    "Of a pandas table, .isna() finds missing cells and pandas.to_numeric(…, errors='coerce') makes missing ones of "
    'text. With a schema, type = "date" declares dates and missing_codes what stands for a missing cell.'
)
# Partly in scikit-learn's words.
ARRAY_ADVICE = (
    "In an array of objects each cell is converted by itself: the argument must be a string that spells a number, "
    "or a real number. Complex data not supported: give real parts, or absolute values."
)


@dataclass(frozen=True)
class RecordEncoder:
    """What a design asks of a batch: features, outcome, and whose the records are.

    Guarantee: a record's row depends on that record and public facts only. Where `strict`, an invalid one is refused.
    """

    design: Design
    reader: FeatureReader
    outcome: OutcomeEncoder
    strict: bool = False
    advice: str = FILE_ADVICE
    """What else the refusal says: by the kind of the table alone."""

    @classmethod
    def of(cls, design: Design, *, strict: bool = False) -> RecordEncoder:
        """Work out the columns a design needs."""
        return cls(design, FeatureReader.of(design), OutcomeEncoder.of(design), strict)

    @property
    def numbers(self) -> tuple[str, ...]:
        """Columns whose numbers are needed: features, outcome, and the order of a person's."""
        unit = self.design.attached.unit
        order = (unit.order,) if unit is not None and unit.order is not None else ()
        return tuple(dict.fromkeys((*self.reader.numeric, *self.outcome.numbers, *order)))

    @property
    def labels(self) -> tuple[str, ...]:
        """Columns whose labels are needed: factors, the response if it has classes, the person."""
        unit = self.design.attached.unit
        person = () if unit is None else (unit.column,)
        return tuple(dict.fromkeys((*self.reader.levels, *self.outcome.labels, *person)))

    def read(self, source: Source, rows: int, make: Callable[[int, Batch], Any]) -> Iterator[Any]:
        """What is made of one numbered batch after the other, by threads; of a file a few batches at a time."""
        batches = source.batches(rows, numeric=self.numbers, labels=self.labels)
        with ThreadPoolExecutor(THREADS) as pool:
            if source.resident:
                yield from pool.map(make, count(), batches)
                return
            # The next batch is decoded while others are made; memory holds no more than these.
            waiting: deque[Future[Any]] = deque()
            for number, batch in enumerate(batches):
                waiting.append(pool.submit(make, number, batch))
                if len(waiting) > THREADS:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def encode(self, batch: Batch, named: Flags | None = None) -> Encoded:
        """What a batch holds; values of an invalid record are void, and one not `named` is one."""
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
            demands = [*self.outcome.demands]
            if self.numbers:
                more = len(self.numbers) - 5
                names = ", ".join(map(repr, self.numbers[:5])) + (f", {more} more" * (more > 0))
                demands.insert(0, f"Numbers are needed in {names}.")
            unit = self.design.attached.unit
            if unit is not None:
                ranked = "" if unit.order is None else " and have a number that orders it"
                demands.append(f"Every record must say whose it is{ranked}.")
            raise InvalidRecordsError(
                "Some records are invalid: a needed value is missing, infinite or no number, a label is not declared, "
                f"or a record has more or fewer fields than the table. {''.join(f'{text} ' for text in demands)}"
                f'{self.advice} Mend or remove them, or set invalid_rows="zero" to let such records contribute nothing.'
            )


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
def _clean(numbers: Floats, rules: Floats, result: Floats, valid: Flags) -> None:
    rows, count = numbers.shape
    lower, upper, constant = rules[0], rules[1], rules[2]
    for i in range(rows):
        finite = True
        for j in range(count):
            value = constant[j] if numbers[i, j] != numbers[i, j] else numbers[i, j]
            usable = value - value == 0.0
            finite &= usable
            result[i, j] = min(max(value, lower[j]), upper[j]) if usable else lower[j]
        valid[i] &= finite
