"""Margins of new records, block by block. The records are the caller's own; nothing is released."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.problem.design import Design
from tacit.rows.encode import Encoder
from tacit.rows.opening import open_source
from tacit.rows.source import require_columns

BLOCK_ROWS = 65_536


def margins(
    data: Any, design: Design, coefficients: NDArray[np.float64]
) -> Iterator[NDArray[np.float64]]:
    """Linear predictor of every record; NaN where a needed value is missing or undeclared.

    `coefficients` are on the user's scale, the intercept first.
    """
    source = open_source(data, fewest=0)
    encoder = Encoder.of(design)
    factors = tuple(encoder.levels)
    require_columns(source.names, (*encoder.numeric, *factors))
    intercept = coefficients[0] if design.intercept else 0.0
    slopes = coefficients[int(design.intercept) :]
    for batch in source.batches(BLOCK_ROWS, numeric=encoder.numeric, labels=factors):
        values, valid = encoder.features(batch)
        predictors = values @ slopes + intercept
        yield np.where(valid.reshape(-1, *(1,) * (slopes.ndim - 1)), predictors, np.nan)
