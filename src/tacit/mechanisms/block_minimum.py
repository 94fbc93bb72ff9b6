"""Estimates of one block by code of our own: minimisers, and least squares. Private: the rows.

Both take a number of steps that depends on the block's size alone. What they return needs no bound and no accuracy:
the aggregate bounds it. Proof: proofs/mechanisms/block_minimum.md.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from tacit.contract.block_query import BlockMinimum
from tacit.kernel_compilation import compiled
from tacit.losses.dispatch import curvatures, shape_of, slopes

ITERATIONS = 12
"""Newton steps of a block: a fixed number, so that none is told by the time."""
LONGEST_STEP = 2.0
"""Norm that a Newton step is shortened to: where hardly any record has a curvature, a full one would be too long."""

Floats = NDArray[np.float64]


@numba.njit(nogil=True, error_model="numpy")
def _solve(H: Floats, g: Floats) -> None:
    """Write H⁻¹ g into g, by a Cholesky factor in the place of H."""
    width = g.shape[0]
    for j in range(width):
        for k in range(j):
            H[j, j] -= H[j, k] * H[j, k]
        H[j, j] = np.sqrt(max(H[j, j], 1e-300))
        for i in range(j + 1, width):
            for k in range(j):
                H[i, j] -= H[i, k] * H[j, k]
            H[i, j] /= H[j, j]
    for j in range(width):
        for k in range(j):
            g[j] -= H[j, k] * g[k]
        g[j] /= H[j, j]
    for j in range(width - 1, -1, -1):
        for k in range(j + 1, width):
            g[j] -= H[k, j] * g[k]
        g[j] /= H[j, j]


@numba.njit(nogil=True, error_model="numpy")
def _add_rows(rows: Floats, weights: Floats, derivatives: tuple[Floats, Floats], H: Floats, g: Floats) -> None:
    """Add the weighted gradients and the lower halves of the curvatures of all rows."""
    slope, curve = derivatives
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            z = weights[i] * rows[i, j]
            g[j] += z * slope[i]
            for k in range(j + 1):
                H[j, k] += z * curve[i] * rows[i, k]


@compiled
def newton_steps(
    rows: Floats, labels: Floats, weights: Floats, kind: Any, ridge: float, theta: Floats, iterations: int
) -> None:
    """Take damped Newton steps from theta, in place."""
    code, shape = kind
    count, width = rows.shape
    margin, slope, curve = np.empty(count), np.empty(count), np.empty(count)
    H, g = np.empty((width, width)), np.empty(width)
    for _ in range(iterations):
        for i in range(count):
            margin[i] = 0.0
            for j in range(width):
                margin[i] += rows[i, j] * theta[j]
        slopes(code, shape, margin, labels, slope)
        curvatures(code, shape, margin, labels, curve)
        g[:] = ridge * theta
        H[:] = ridge * np.eye(width)
        _add_rows(rows, weights, (slope, curve), H, g)
        _solve(H, g)
        length = 0.0
        for j in range(width):
            length += g[j] * g[j]
        damping = min(1.0, LONGEST_STEP / max(np.sqrt(length), 1e-300))
        for j in range(width):
            theta[j] -= damping * g[j]


def block_minimum(function: BlockMinimum, rows: Floats, units: NDArray[np.int64]) -> Floats:
    """Coefficients of a block of prepared rows, the response after them; a unit's rows share its weight of 1."""
    counts = np.unique(units, return_inverse=True, return_counts=True)
    weights = 1.0 / counts[2][counts[1]]
    theta = np.zeros(function.width)
    X = np.ascontiguousarray(rows[:, : function.width])
    labels = np.ascontiguousarray(rows[:, function.width])
    kind = int(function.loss.code), shape_of(function.loss)
    newton_steps(X, labels, weights, kind, float(function.ridge), theta, ITERATIONS)
    return theta


def least_squares(rows: Floats, width: int) -> Floats:
    """Least squares of the response on the columns before it, the shortest solution where there are several.

    Guarantee: no rows can raise; where the decomposition fails, the result is NaN, and so the block's is the default.
    """
    try:
        return np.asarray(np.linalg.lstsq(rows[:, :width], rows[:, width], rcond=None)[0], dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.full(width, np.nan)
