"""Exact products of wide rows against float BLAS and against reading: softmax gradients, and second moments at d = 500.

Seconds are those of the processor, of all threads: other work on the machine changes them little.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.record import Figure, write
from tacit.contract.channel_map import ChannelMap, GroupMap
from tacit.contract.grouped_query import MappedGradient
from tacit.contract.query import GradientSum, SecondMoments
from tacit.losses import classification
from tacit.mechanisms.gradient import integer_gradient_sum
from tacit.mechanisms.moments import integer_second_moments
from tacit.mechanisms.softmax_products import integer_gradients
from tacit.rows.storage.grouped_rows import ROW_NORM, MappedRows, blocks_of
from tests.rows.memory_stores import memory_store

RECORDS, WIDTH, CLASSES = 20_000, 3921, 10
ROWS, COLUMNS = 50_000, 500
MAP = ChannelMap((GroupMap(np.zeros((1, 1)), np.ones((1, 1))),), absolute=False)
REPEATS = 5


def processor_seconds(functions: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Median processor seconds of each function over interleaved runs, after one warm-up of each."""
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for run_number in range(REPEATS + 1):
        for name, function in functions.items():
            start = time.process_time()
            function()
            if run_number:
                seconds[name].append(time.process_time() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def run() -> None:
    """Measure and record."""
    rng = np.random.default_rng(0)
    gradient, moments = _softmax(rng), _moments(rng)
    over_blas = gradient["exact products"] / gradient["float BLAS"]
    over_reading = gradient["exact products"] / gradient["reading"]
    ratio = moments["exact"] / moments["float BLAS"]
    write(
        "wide_products",
        [
            Figure("second moments at d = 500 over float BLAS", ratio, "×", "at most 1.5", ratio <= 1.5),
            Figure("softmax gradient over float32 BLAS", over_blas, "×", "at most 1.5", over_blas <= 1.5),
            Figure("softmax gradient over reading", over_reading, "×", "at most 6", over_reading <= 6),
        ],
        {"softmax, 20,000 × 3,921, 10 classes": gradient, "second moments, 50,000 × 500": moments},
    )


def _softmax(rng: np.random.Generator) -> dict[str, float]:
    values = rng.standard_normal((RECORDS, WIDTH), dtype=np.float32)
    values *= 0.99 / np.sqrt((values**2).sum(axis=1, keepdims=True))
    labels = rng.integers(0, CLASSES, RECORDS)
    whole = np.rint(values * ROW_NORM)
    largest = np.array([(whole[block].astype(float) ** 2).sum(axis=0).max() for block in blocks_of(RECORDS)])
    rows, theta = MappedRows(whole, labels.astype(np.int16), largest), rng.normal(size=(WIDTH, CLASSES))
    hits = np.eye(CLASSES, dtype=np.float32)[labels]
    narrow = theta.astype(np.float32)

    def blas() -> NDArray[np.float32]:
        """Plain float32, clipped, block by block."""
        total = np.zeros((CLASSES, WIDTH), dtype=np.float32)
        for block in blocks_of(RECORDS):
            margins = values[block] @ narrow
            chance = np.exp(margins - margins.max(axis=1, keepdims=True))
            residual = chance / chance.sum(axis=1, keepdims=True) - hits[block]
            residual *= np.minimum(1.0, 0.05 / np.sqrt((residual**2).sum(axis=1, keepdims=True)))
            total += residual.T @ values[block]
        return total

    query = MappedGradient(theta, 0.05, MAP)
    table = memory_store(np.column_stack([values, labels]).astype(np.float32))
    slow = GradientSum(theta, 0.05, loss=classification.SOFTMAX)
    with threadpool_limits(1, "blas"):
        return processor_seconds(
            {
                "reading": whole.sum,
                "float BLAS": blas,
                "exact products": lambda: integer_gradients(query, rows),
                "exact, entry by entry": lambda: integer_gradient_sum(slow, 2**36, table),
            }
        )


def _moments(rng: np.random.Generator) -> dict[str, float]:
    values = rng.standard_normal((ROWS, COLUMNS)) / np.sqrt(COLUMNS)
    table = memory_store(np.column_stack([values, np.zeros(ROWS)]).astype(np.float32))
    with threadpool_limits(1, "blas"):
        return processor_seconds(
            {
                "float BLAS": lambda: values.T @ values,
                "exact": lambda: integer_second_moments(SecondMoments(2.0), 2**36, table),
            }
        )
