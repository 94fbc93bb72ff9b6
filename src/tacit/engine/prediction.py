"""What is not protected: names and types of a table, and margins of new records, which are the caller's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.design.design import Design
from tacit.rows.encoding.encode_rows import FeatureReader
from tacit.rows.encoding.outcome import offset_terms
from tacit.rows.sources.opening import describe, open_columns, open_source
from tacit.rows.sources.source import Source, require_columns

__all__ = ["describe", "design_rows", "margins", "offsets", "prepared_rows"]

BLOCK_ROWS = 65_536


def margins(
    data: Any, design: Design, coefficients: NDArray[np.float64], *, shifted: bool = False
) -> Iterator[NDArray[np.float64]]:
    """Linear predictor of every record; NaN where a needed value is missing or undeclared.

    `coefficients` are on the user's scale, the intercept first. Where `shifted`, the records' offset is added.
    """
    intercept, slopes = (coefficients[0], coefficients[1:]) if design.intercept else (0.0, coefficients)
    wide = -1, *(1,) * (slopes.ndim - 1)
    for values, term, valid in _blocks(data, design, shifted=shifted):
        predictors = values @ slopes + intercept + term.reshape(wide)
        yield np.where(valid.reshape(wide), predictors, np.nan)


def offsets(data: Any, design: Design) -> Iterator[NDArray[np.float64]]:
    """Offset of every record, 0 where the design has none; NaN where it is missing."""
    for _, term, valid in _blocks(data, design, shifted=True):
        yield np.where(valid, term, np.nan)


def design_rows(columns: Mapping[str, NDArray[Any]], design: Design) -> NDArray[np.float64]:
    """Prepared rows, intercept last, of simulated records by column: mapped, clipped and shrunk as those of a fit."""
    prepared = prepared_rows(open_columns(columns), design)
    return np.column_stack([prepared, np.ones(len(prepared))]) if design.intercept else prepared


def prepared_rows(data: Any, design: Design) -> NDArray[np.float64]:
    """Prepared features of every record; NaN where a needed value is missing or no number."""
    source = data if isinstance(data, Source) else open_source(data, fewest=1)
    blocks = [np.where(valid[:, None], values, np.nan) for values, _, valid in _blocks(source, design, shifted=False)]
    own = design.columns
    values = np.clip(np.concatenate(blocks), [column.lower for column in own], [column.upper for column in own])
    prepared = (values - [column.center for column in own]) / [column.scale for column in own]
    lengths = np.maximum(np.linalg.norm(prepared, axis=1, keepdims=True), np.finfo(float).tiny)
    return np.asarray(prepared * np.minimum(1.0, design.feature_norm / lengths))


def _blocks(
    data: Any, design: Design, *, shifted: bool
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]]:
    """Features, offset and validity of some records at a time."""
    source = data if isinstance(data, Source) else open_source(data, fewest=0)
    reader = FeatureReader.of(design)
    offset = design.attached.offset if shifted else None
    attached = () if offset is None else (offset.column,)
    numeric, factors = tuple(dict.fromkeys((*reader.numeric, *attached))), tuple(reader.levels)
    require_columns(source.names, (*numeric, *factors))
    for batch in source.batches(BLOCK_ROWS, numeric=numeric, labels=factors):
        values, valid = reader.read(batch)
        term = np.zeros(batch.length)
        if offset is not None:
            term, known = offset_terms(offset, batch.numeric(attached)[:, 0])
            valid &= known
        yield values, term, valid
