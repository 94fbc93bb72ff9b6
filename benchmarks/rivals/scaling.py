"""The scale on which the rivals work: rows of norm at most 1, responses in [-1, 1]."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.table import Matrix, Table, Vector


def unit_rows(X: Matrix, row_norm: float, dtype: type[np.floating] = np.float64) -> Matrix:
    """Rows over their public bound, shrunk to norm 1 where one is longer."""
    scaled: Matrix = np.asarray(X, dtype=dtype) / dtype(row_norm)
    norms = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
    too_long = norms > 1.0
    scaled[too_long] /= norms[too_long, None]
    return scaled


def unit_response(table: Table) -> NDArray[np.float64]:
    """Responses mapped from their public bounds to [-1, 1]."""
    lower, upper = table.y_bounds
    y = np.clip(np.asarray(table.y_train, dtype=np.float64), lower, upper)
    return np.asarray(2.0 * (y - lower) / (upper - lower) - 1.0)


def back(table: Table, predictions: Vector) -> Vector:
    """Predictions on the scale of the response, clipped to its public bounds."""
    lower, upper = table.y_bounds
    return np.asarray(lower + (np.clip(predictions, -1.0, 1.0) + 1.0) * (upper - lower) / 2.0)
