"""The outcome of a record: its response, and its weight and offset where declared.

Private: the batch and what is encoded from it. Public: the declarations in the design. Classes that
were not declared are read from the response; they are assumed public, and the certificate says so.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.design.attached_columns import AnyOffset, Offset, OffsetTerm, Weighting
from tacit.design.design import Design
from tacit.design.response import Binary, Classes, Continuous, Count, Positive, Response
from tacit.errors import DataError, SettingError
from tacit.rows.encoding.cells import REMEMBERED, level_codes, normal_form, quiet
from tacit.rows.encoding.transforms import logarithm
from tacit.rows.sources.source import Batch, Source, names_read, require_columns, require_records
from tacit.rows.storage.tiles import Flags, Floats

_LABELS = (np.generic, Decimal, date, Enum)
"""Types whose labels are classes as they are, like plain ones; others are their text."""
LARGEST_RESPONSE = 1e30
"""Where a response has no bounds yet, it is cut here, so that every stored type can hold it."""


@dataclass(frozen=True)
class OutcomeEncoder:
    """How the cells of a record become its outcome columns.

    - Response: index of its class, 0, 1, …; or (clip(y, lower, upper) - center) / scale; or the
      count, cut at its largest; or a positive number, clipped into its bounds; or 0 where there is none.
    - Weight, if declared: min(cell, maximum) / maximum × weight of the class / the largest such.
    - Offset, if declared: clip(cell, lower, upper), or that of log(cell) for an exposure.

    Guarantee: a record's numbers depend on that record and the declarations only, bit by bit. A prepared weight lies in
    [0, 1] and an offset within its bounds, whatever the cells hold. No class, bound or maximum is read off the records.
    """

    response: Response
    weighting: Weighting | None = None
    offset: AnyOffset | None = None

    @classmethod
    def of(cls, design: Design) -> OutcomeEncoder:
        """What a design declares; weights of classes that do not fit the response are refused."""
        weighting = design.attached.weighting
        by_class = None if weighting is None else weighting.by_class
        if by_class is not None and len(by_class) != len(design.response.classes):
            raise SettingError("Class weights need a response of classes, and one weight for each.")
        return cls(design.response, weighting, design.attached.offset)

    @property
    def count(self) -> int:
        """Number of outcome columns."""
        return 1 + (self.weighting is not None) + (self.offset is not None)

    @property
    def numbers(self) -> tuple[str, ...]:
        """Columns that are read as numbers, each once."""
        counted = isinstance(self.response, Continuous | Count | Positive)
        names = [self.response.column if counted else None]
        names += [] if self.weighting is None else [self.weighting.column]
        names += [] if self.offset is None else self.offset.columns
        return tuple(dict.fromkeys(name for name in names if name is not None))

    @property
    def labels(self) -> tuple[str, ...]:
        """Columns that are read as labels."""
        return (self.response.column,) if isinstance(self.response, Binary | Classes) else ()

    @property
    def demands(self) -> tuple[str, ...]:
        """What cells must be beyond present and finite, one sentence for each declared column."""
        weighting, offset = self.weighting, self.offset
        sentences = {
            "Counts must be numbers >= 0.": isinstance(self.response, Count),
            "Responses of a gamma model must be numbers > 0.": isinstance(self.response, Positive),
            "Weights must be numbers >= 0.": weighting is not None and weighting.column is not None,
            "Exposures must be numbers > 0.": offset is not None and offset.exposure,
        }
        return tuple(sentence for sentence, holds in sentences.items() if holds)

    def encode(self, batch: Batch) -> tuple[Floats, Flags]:
        """Outcome columns (m, count) and validity; the numbers of an invalid record are void."""
        named = self.numbers
        cells = dict(zip(named, batch.numeric(named).T, strict=True)) if named else {}
        numbers = np.empty((batch.length, self.count), dtype=np.float64)
        with quiet():
            numbers[:, 0], valid = self._responses(batch, cells)
            if self.weighting is not None:
                numbers[:, 1] = 1.0
                if self.weighting.by_class is not None:
                    shares = np.array(self.weighting.by_class) / max(self.weighting.by_class)
                    numbers[:, 1] = shares[np.where(valid, numbers[:, 0], 0).astype(np.intp)]
                if self.weighting.column is not None:
                    cell, largest = cells[self.weighting.column], self.weighting.maximum
                    # Two quotients of at most 1, so that no product of large weights can overflow.
                    numbers[:, 1] *= np.clip(cell, 0.0, largest) / largest
                    valid &= np.isfinite(cell) & (cell >= 0)
            if self.offset is not None:
                numbers[:, -1], fit = offset_terms(self.offset, [cells[name] for name in self.offset.columns])
                valid &= fit
        return numbers, valid

    def _responses(self, batch: Batch, cells: Mapping[str, Floats]) -> tuple[Floats, Flags]:
        response = self.response
        if isinstance(response, Binary | Classes):
            codes = level_codes(batch.labels(response.column), response.classes, response.column)
            return codes.astype(np.float64), codes >= 0
        if isinstance(response, Continuous):
            y = cells[response.column]
            return mapped_response(response, y), np.isfinite(y)
        if isinstance(response, Count):
            y = cells[response.column]
            return np.minimum(y, response.upper), np.isfinite(y) & (y >= 0)
        if isinstance(response, Positive):
            y = cells[response.column]
            return np.clip(y, response.lower, response.upper), np.isfinite(y) & (y > 0)
        return np.zeros(batch.length), np.ones(batch.length, dtype=np.bool_)


def mapped_response(response: Continuous, y: Floats) -> Floats:
    """Prepared responses: clipped into the bounds and mapped, or cut where there are none yet."""
    mapped = (np.clip(y, response.lower, response.upper) - response.center) / response.scale
    # Rounding may leave a bound's image just outside of [-1, 1].
    limit = LARGEST_RESPONSE if response.is_open else 1.0
    return np.clip(mapped, -limit, limit)


def offset_terms(offset: AnyOffset, cells: Sequence[Floats]) -> tuple[Floats, Flags]:
    """Terms of the linear predictor within their bounds, and which records have one; `cells` column by column."""
    if isinstance(offset, Offset):
        return _one_offset(offset, cells[0])
    parts = [_one_offset(term, cell) for term, cell in zip(offset.terms, cells, strict=True)]
    # Term by term, in the order of the formula: the same bits wherever a record stands.
    total = functools.reduce(np.add, [it.weight * part for it, (part, _) in zip(offset.terms, parts, strict=True)])
    return np.clip(total, offset.lower, offset.upper), functools.reduce(np.logical_and, [fit for _, fit in parts])


def _one_offset(offset: Offset | OffsetTerm, cell: Floats) -> tuple[Floats, Flags]:
    fit, term = np.isfinite(cell), cell
    if offset.exposure:
        fit &= cell > 0
        term = logarithm(np.where(fit, cell, 1.0))
    return np.clip(term, offset.lower, offset.upper), fit


def read_classes(source: Source, column: str, *, most: int = 1000, fewest: int = 2) -> list[Any]:
    """The labels of a response, smallest first (numbers by value, before text).

    Labels are told apart by their normal form; missing, unwritable and longer ones than 1000 letters are no class.
    More than `most` are taken for numbers or names and refused, as are fewer records than `fewest` (0 if n is private).

    Guarantee: the answer does not depend on the order of the records. No message contains a label or the number of
    labels found, nor, where `fewest` is 0, of records. Whatever a label is, no other error than these is raised.
    """
    require_columns(names_read(source), [column])
    spellings: dict[Any, Any] = {}
    length = 0
    for batch in source.batches(65_536, numeric=(), labels=(column,)):
        length += batch.length
        for label in _distinct(batch.labels(column)):
            form = normal_form(label)
            if form is not None and _writable(form):
                own = label if type(label) in REMEMBERED or issubclass(type(label), _LABELS) else str(form)
                spellings[form] = min(own, spellings.get(form, own), key=_spelling)
            if len(spellings) > most:
                raise DataError(
                    f"The response {column!r} has more than {most} kinds of labels. Declare those "
                    "that count with classes=…; records with another label are then invalid rows. "
                    "If it holds amounts rather than classes, use a regression."
                )
    require_records(length, fewest)
    if len(spellings) < 2:
        fewer = "needs two kinds of labels or more and has fewer"
        raise DataError(f"The response {column!r} {fewer}. Declare them with classes=…")
    return [spellings[form] for form in sorted(spellings, key=lambda f: (isinstance(f, str), f))]


def _distinct(labels: NDArray[Any]) -> Iterable[Any]:
    if labels.dtype.kind in "biuf":
        return np.unique(labels).tolist()  # type: ignore[no-any-return]
    plain = labels.tolist()
    # By type too: 1 and 1.0 are equal, and the first to come must not stand for the other.
    known = {(type(label), label): label for label in plain if type(label) in REMEMBERED}
    return [*known.values(), *(label for label in plain if type(label) not in REMEMBERED)]


def _writable(form: Decimal | str) -> bool:
    text = str(form)
    # Half of a pair of surrogates has no bytes.
    return len(text) <= 1000 and not any("\ud800" <= letter <= "\udfff" for letter in text)


def _spelling(label: object) -> tuple[int, str, str]:
    kind = type(label)
    text = str(label) if kind in REMEMBERED else str(normal_form(label))
    return len(text), text, kind.__name__
