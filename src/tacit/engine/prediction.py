"""What is not protected: names and types of a table, and margins of new records, which are the caller's own."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.design.design import Design
from tacit.design.factor import NumericCell
from tacit.errors import DataError
from tacit.rows.admission.clip_and_scale import Preparer
from tacit.rows.encoding.cells import level_codes
from tacit.rows.encoding.encode_rows import FeatureReader
from tacit.rows.encoding.outcome import OutcomeEncoder, offset_terms
from tacit.rows.encoding.transforms import shrink_rows
from tacit.rows.sources.opening import describe, open_columns, open_source, proposed
from tacit.rows.sources.source import Batch, Source, require_columns
from tacit.rows.storage.tiles import LANES, map_tiles, public_matrix, tile_count, to_rows, to_tiles

__all__ = [
    "Outside",
    "column_names",
    "describe",
    "design_offsets",
    "design_rows",
    "mapped_rows",
    "margins",
    "offsets",
    "prepared_rows",
    "prepared_table",
    "proposed",
    "public_table",
    "responses",
]

BLOCK_ROWS = 65_536


def public_table(columns: Mapping[str, Sequence[Any]]) -> Any:
    """A table of public values, which a fit can predict."""
    # Loaded where it is used: most fits need no Arrow.
    from tacit.rows.sources.arrow import table_of

    return table_of(columns)


@dataclass
class Outside:
    """Cells of new rows that a fit has not seen the like of: beyond declared bounds, or of no declared level."""

    design: Design
    beyond: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)

    def count(self, reader: FeatureReader, batch: Batch) -> None:
        """Add the cells of some records."""
        for name, cells in zip(reader.numeric, batch.numeric(reader.numeric).T, strict=True):
            rule = self.design.cells.get(name)
            if isinstance(rule, NumericCell):
                self.beyond[name] += int(np.sum((cells < rule.lower) | (cells > rule.upper)))
        for name, levels in reader.levels.items():
            if name not in self.design.cells:
                self.unknown[name] += int(np.sum(level_codes(batch.labels(name), levels, name) < 0))

    def warn(self) -> None:
        """Say what the predictions of such rows are."""
        found = [
            f"{count} beyond the declared bounds of {name}, taken for the nearest bound"
            for name, count in self.beyond.items()
            if count
        ]
        found += [
            f"{count} with no declared level of {name}, predicted as NaN"
            for name, count in self.unknown.items()
            if count
        ]
        if found:
            warnings.warn(f"New rows are outside what the fit knows: {'; '.join(found)}.", UserWarning, stacklevel=3)


def margins(
    data: Any,
    design: Design,
    coefficients: NDArray[np.float64],
    *,
    shifted: bool = False,
    outside: Outside | None = None,
) -> Iterator[NDArray[np.float64]]:
    """Linear predictor of every record; NaN where a needed value is missing or undeclared.

    `coefficients` are on the user's scale, the intercept first. Where `shifted`, the records' offset is added.
    """
    intercept, slopes = (coefficients[0], coefficients[1:]) if design.intercept else (0.0, coefficients)
    wide = -1, *(1,) * (slopes.ndim - 1)
    for values, term, valid in _blocks(data, design, shifted=shifted, outside=outside):
        predictors = values @ slopes + intercept + term.reshape(wide)
        yield np.where(valid.reshape(wide), predictors, np.nan)


def offsets(data: Any, design: Design) -> Iterator[NDArray[np.float64]]:
    """Offset of every record, 0 where the design has none; NaN where it is missing."""
    for _, term, valid in _blocks(data, design, shifted=True):
        yield np.where(valid, term, np.nan)


def responses(data: Any, design: Design) -> Iterator[NDArray[np.float64]]:
    """Prepared response of every record of a public table; NaN where it is missing or undeclared."""
    source = data if isinstance(data, Source) else open_source(data, fewest=0, reading=design.reading)
    encoder = OutcomeEncoder.of(design)
    require_columns(source.names, (*encoder.numbers, *encoder.labels))
    for batch in source.batches(BLOCK_ROWS, numeric=encoder.numbers, labels=encoder.labels):
        outcome, valid = encoder.encode(batch)
        yield np.where(valid, outcome[:, 0], np.nan)


def design_rows(columns: Mapping[str, NDArray[Any]], design: Design) -> NDArray[np.float64]:
    """Prepared rows, intercept last, of simulated records by column: mapped, clipped and shrunk as those of a fit."""
    prepared = prepared_rows(open_columns(columns), design)
    return np.column_stack([prepared, np.ones(len(prepared))]) if design.intercept else prepared


def design_offsets(columns: Mapping[str, NDArray[Any]], design: Design) -> NDArray[np.float64]:
    """Offsets of simulated records, as a fit has them; 0 where a cell is outside what is declared."""
    return np.asarray(np.nan_to_num(np.concatenate([np.empty(0), *offsets(open_columns(columns), design)])))


def prepared_rows(source: Source, design: Design) -> NDArray[np.float64]:
    """Prepared features of every record, as a fit has them; NaN where a needed value is missing or no number.

    Guarantee: a row is a function of its own record and the design, to the last bit.
    """
    width = len(design.columns)
    preparer = replace(Preparer.of(design), intercept=False)
    found = [np.empty((0, width))]
    for values, _, valid in _blocks(source, design, shifted=False):
        tiles = np.empty((tile_count(len(valid)), width, LANES))
        preparer.prepare(np.ascontiguousarray(values), np.empty((len(valid), 0)), valid, tiles)
        rows = to_rows(tiles, len(valid))
        rows[~valid] = np.nan
        found.append(rows)
    return np.concatenate(found)


def column_names(data: Any) -> tuple[str, ...]:
    """Names of the columns of a table; no record is read, and none is refused."""
    return open_source(data, fewest=1, counted=False).names


def prepared_table(data: Any, columns: int, design_of: Callable[[Sequence[str]], Design]) -> NDArray[np.float64]:
    """Return the prepared features of every record, by the design that the names of so many columns have.

    Guarantee: as for `prepared_rows`. No content of a record raises.
    """
    source = open_source(data, fewest=1, counted=False)
    require_features(len(source.names), columns)
    return prepared_rows(source, design_of(source.names))


def require_features(found: int, expected: int) -> None:
    """Refuse another number of columns than a fit has seen."""
    if found != expected:
        raise DataError(f"X has {found} features, but transform is expecting {expected} features as input.")


def mapped_rows(
    data: Any, design: Design, mean: NDArray[np.float64], matrix: NDArray[np.float64], norm: float
) -> NDArray[np.float64]:
    """Return M (u - mean) of the prepared features u of every record, shrunk to a norm; NaN of an invalid record.

    Guarantee: a row is a function of its own record and of the other arguments, to the last bit: not of its place, or
    of other records. No content of a record raises.
    """
    source = open_source(data, fewest=1, counted=False)
    require_features(len(source.names), len(design.inputs or design.columns))
    images, width = matrix.shape
    # A product of squares; images beyond those asked for take of nothing.
    square = np.zeros((width, width))
    square[:, :images] = matrix.T
    rows = prepared_rows(source, design) - mean
    mapped = to_rows(map_tiles(to_tiles(rows), public_matrix(square, width)), len(rows))[:, :images].copy()
    shrink_rows(mapped, norm)
    return mapped


def _blocks(
    data: Any, design: Design, *, shifted: bool, outside: Outside | None = None
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]]:
    """Features, offset and validity of some records at a time."""
    source = data if isinstance(data, Source) else open_source(data, fewest=0, reading=design.reading)
    reader = FeatureReader.of(design)
    offset = design.attached.offset if shifted else None
    attached = () if offset is None else offset.columns
    numeric, factors = tuple(dict.fromkeys((*reader.numeric, *attached))), tuple(reader.levels)
    require_columns(source.names, (*numeric, *factors))
    for batch in source.batches(BLOCK_ROWS, numeric=numeric, labels=factors):
        values, valid = reader.read(batch)
        if outside is not None:
            outside.count(reader, batch)
        term = np.zeros(batch.length)
        if offset is not None:
            term, known = offset_terms(offset, list(batch.numeric(attached).T))
            valid &= known
        yield values, term, valid
