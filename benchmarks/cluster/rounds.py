"""What a round costs beyond the sums, and what the coordinator pays for a partition."""

from __future__ import annotations

import statistics
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from pyarrow import parquet

import tacit
from benchmarks.cluster.faults import SCHEMA
from benchmarks.cluster.tables import random_table
from tacit.contract.query import GradientSum
from tacit.engine.table import Table
from tacit.formula.formula import design_from_formula
from tacit.mechanisms.gradient import gradients

EMPTY = 10_000
ROUNDS = 200


def round_overhead() -> dict[str, float]:
    """Milliseconds of a round over two workers beyond those of the same sum in this process."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "table.parquet"
        parquet.write_table(random_table(2000, np.random.default_rng(1)), data, row_group_size=500)
        local, spread = _seconds(data, None, ROUNDS), _seconds(data, 2, ROUNDS)
    return {"local ms": 1e3 * local["wall"], "cluster ms": 1e3 * spread["wall"]}


def partition_cost(count: int = EMPTY) -> dict[str, float]:
    """Microseconds of the coordinator's processor for an empty partition: in a round, and once at the start."""
    rows = random_table(2000, np.random.default_rng(1))
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, groups in (("few", 0), ("many", count)):
            data = Path(folder) / f"{name}.parquet"
            with parquet.ParquetWriter(data, rows.schema) as writer:
                writer.write_table(rows)
                for _ in range(groups):
                    writer.write_table(rows.slice(0, 0))
            found[name] = _seconds(data, 2, 20)
    few, many = found["few"], found["many"]
    return {
        "groups": count,
        "round us": 1e6 * (many["processor"] - few["processor"]) / count,
        "start us": 1e6 * (many["start"] - few["start"]) / count,
    }


def _seconds(data: Path, cluster: int | None, rounds: int) -> dict[str, float]:
    """Seconds of a sum by the clock and of this process, and of this process until the records are there."""
    design = design_from_formula("y ~ x0 + x1 + x2", tacit.Schema.parse(SCHEMA), family="binomial", row_norm=None)
    query = GradientSum(np.zeros(4), 1.0)
    walls, processors = list[float](), list[float]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begun = time.process_time()
        table: Any = Table(data, cluster=cluster)
        table.admit(design, invalid_rows="error", exact=False)
        start = time.process_time() - begun
        with table.taken() as store:
            store.total(gradients, query, 1 << 20)
            for _ in range(rounds):
                wall, processor = time.perf_counter(), time.process_time()
                store.total(gradients, query, 1 << 20)
                walls.append(time.perf_counter() - wall)
                processors.append(time.process_time() - processor)
    return {"wall": statistics.median(walls), "processor": statistics.median(processors), "start": start}
