"""One exact clipped gradient pass on 10^6 × 100 float64, against reading and against BLAS."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.record import Figure, interleaved, write
from tacit.contract.query import GradientSum
from tacit.contract.sensitivity import FINEST_BOUND
from tacit.mechanisms.gradient import integer_gradient_sum
from tests.rows.memory_stores import memory_store

ROWS, WIDTH, THREADS = 10**6, 100, 2


@numba.njit(nogil=True)
def read_sum(values: NDArray[np.float64]) -> float:
    """Sum with eight accumulators: what merely reading costs."""
    a = b = c = d = e = f = g = h = 0.0
    for i in range(0, len(values) - 7, 8):
        a += values[i]
        b += values[i + 1]
        c += values[i + 2]
        d += values[i + 3]
        e += values[i + 4]
        f += values[i + 5]
        g += values[i + 6]
        h += values[i + 7]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


def run() -> None:
    """Measure and record."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, WIDTH)) / np.sqrt(WIDTH)
    y = (rng.random(ROWS) < 0.5).astype(np.float64)
    theta = rng.standard_normal(WIDTH)
    table = np.column_stack([X, y])
    wide, narrow = memory_store(table), memory_store(table.astype(np.float32))
    del table
    flat = X.reshape(-1)
    query = GradientSum(theta, clip=1.0)
    pool = ThreadPoolExecutor(THREADS)

    def reading() -> float:
        half = len(flat) // 2
        return sum(pool.map(read_sum, (flat[:half], flat[half:])))

    def two_passes() -> NDArray[np.float64]:
        margins = X @ theta
        slopes = 1.0 / (1.0 + np.exp(-margins)) - y
        norms = np.sqrt(np.einsum("ij,ij->i", X, X))
        return np.asarray(X.T @ np.clip(slopes, -1.0 / norms, 1.0 / norms))

    def unclipped() -> NDArray[np.float64]:
        return np.asarray(X.T @ (1.0 / (1.0 + np.exp(-(X @ theta))) - y))

    exact = integer_gradient_sum(query, FINEST_BOUND, wide) / float(FINEST_BOUND)
    error = float(np.abs(exact - two_passes()).max())
    with threadpool_limits(THREADS, "blas"):
        seconds = interleaved(
            {
                "reading": reading,
                "exact float64": lambda: integer_gradient_sum(query, FINEST_BOUND, wide),
                "exact float32 rows": lambda: integer_gradient_sum(query, FINEST_BOUND, narrow),
                "BLAS, two passes, no clip": unclipped,
                "BLAS, two passes, clipped": two_passes,
            }
        )
    ratio = seconds["exact float64"] / seconds["reading"]
    gain = seconds["BLAS, two passes, no clip"] / seconds["exact float64"]
    write(
        "gradient",
        [
            Figure("exact pass over reading", ratio, "×", "at most 1.5 (aim 1.2)", ratio <= 1.5),
            Figure("two-pass BLAS over exact pass", gain, "×", "at least 2", gain >= 2),
        ],
        {"seconds": seconds, "largest difference from float sums": error},
    )
