"""The outcome of a record: its response, and its weight and offset where declared.

Private: the batch and what is encoded from it. Public: the declarations in the design.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tacit.design.attached_columns import Offset, Weighting
from tacit.design.design import Design
from tacit.design.response import Binary, Classes, Continuous, Count, Response
from tacit.errors import SettingError
from tacit.rows.encoding.labels import level_codes
from tacit.rows.encoding.transforms import logarithm
from tacit.rows.sources.source import Batch
from tacit.rows.storage.tiles import Flags, Floats

LARGEST_RESPONSE = 1e30
"""Where a response has no bounds yet, it is cut here, so that every stored type can hold it."""


@dataclass(frozen=True)
class OutcomeEncoder:
    """How the cells of a record become its outcome columns.

    - Response: index of its class, 0, 1, …; or (clip(y, lower, upper) - center) / scale; or the
      count, cut at its largest; or 0 where there is none.
    - Weight, if declared: min(cell, maximum) / maximum × weight of the class / the largest such.
    - Offset, if declared: clip(cell, lower, upper), or that of log(cell) for an exposure.

    Guarantee
    ---------
    - A record's numbers depend on that record and the declarations only, bit by bit.
    - A prepared weight lies in [0, 1] and an offset within its bounds, whatever the cells hold.
    - No class, bound or largest value is taken from the records.
    """

    response: Response
    weighting: Weighting | None = None
    offset: Offset | None = None

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
        names = []
        if isinstance(self.response, Continuous | Count):
            names.append(self.response.column)
        if self.weighting is not None and self.weighting.column is not None:
            names.append(self.weighting.column)
        if self.offset is not None:
            names.append(self.offset.column)
        return tuple(dict.fromkeys(names))

    @property
    def labels(self) -> tuple[str, ...]:
        """Columns that are read as labels."""
        return (self.response.column,) if isinstance(self.response, Binary | Classes) else ()

    @property
    def demands(self) -> tuple[str, ...]:
        """What cells must be beyond present and finite, one sentence for each declared column."""
        sentences = []
        if isinstance(self.response, Count):
            sentences.append("Counts must be whole numbers >= 0.")
        if self.weighting is not None and self.weighting.column is not None:
            sentences.append("Weights must be numbers >= 0.")
        if self.offset is not None and self.offset.exposure:
            sentences.append("Exposures must be numbers > 0.")
        return tuple(sentences)

    def encode(self, batch: Batch) -> tuple[Floats, Flags]:
        """Outcome columns (m, count) and validity; the numbers of an invalid record are void."""
        named = self.numbers
        cells = dict(zip(named, batch.numeric(named).T, strict=True)) if named else {}
        numbers = np.empty((batch.length, self.count), dtype=np.float64)
        # A warning by numpy would reveal something of the cells.
        with np.errstate(all="ignore"):
            numbers[:, 0], valid = self._responses(batch, cells)
            if self.weighting is not None:
                numbers[:, 1], fit = _weights(self.weighting, cells, numbers[:, 0], valid)
                valid &= fit
            if self.offset is not None:
                numbers[:, -1], fit = offset_terms(self.offset, cells[self.offset.column])
                valid &= fit
        return numbers, valid

    def _responses(self, batch: Batch, cells: Mapping[str, Floats]) -> tuple[Floats, Flags]:
        response = self.response
        if isinstance(response, Binary | Classes):
            labels = batch.labels(response.column)
            codes = level_codes(labels, response.classes, response.column)
            return codes.astype(np.float64), codes >= 0
        if isinstance(response, Continuous):
            y = cells[response.column]
            return mapped_response(response, y), np.isfinite(y)
        if isinstance(response, Count):
            y = cells[response.column]
            return np.minimum(y, response.upper), np.isfinite(y) & (y >= 0) & (np.floor(y) == y)
        return np.zeros(batch.length), np.ones(batch.length, dtype=np.bool_)


def mapped_response(response: Continuous, y: Floats) -> Floats:
    """Prepared responses: clipped into the bounds and mapped, or cut where there are none yet."""
    mapped = (np.clip(y, response.lower, response.upper) - response.center) / response.scale
    # Rounding may leave a bound's image just outside of [-1, 1].
    limit = LARGEST_RESPONSE if response.is_open else 1.0
    return np.clip(mapped, -limit, limit)


def _weights(
    weighting: Weighting, cells: Mapping[str, Floats], codes: Floats, valid: Flags
) -> tuple[Floats, Flags]:
    weights, fit = np.ones(len(codes)), np.ones(len(codes), dtype=np.bool_)
    if weighting.column is not None:
        cell = cells[weighting.column]
        # Two quotients of at most 1, so that no product of large weights can overflow.
        weights = np.clip(cell, 0.0, weighting.maximum) / weighting.maximum
        fit = np.isfinite(cell) & (cell >= 0)
    if weighting.by_class is not None:
        shares = np.array(weighting.by_class) / max(weighting.by_class)
        weights *= shares[np.where(valid, codes, 0).astype(np.intp)]
    return weights, fit


def offset_terms(offset: Offset, cell: Floats) -> tuple[Floats, Flags]:
    """Terms of the linear predictor within their bounds, and which cells have one."""
    fit, term = np.isfinite(cell), cell
    if offset.exposure:
        fit &= cell > 0
        term = logarithm(np.where(fit, cell, 1.0))
    return np.clip(term, offset.lower, offset.upper), fit
