"""A Parquet file of 10^7 × 20: seconds and peak resident memory of one `tacit fit`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.record import Figure, write

ROWS, WIDTH, GROUP = 10**7, 20, 2 * 10**5
NAMES = [f"x{j}" for j in range(WIDTH)]


def make_file(path: Path, rows: int = ROWS) -> None:
    """Write the table group by group."""
    rng = np.random.default_rng(2)
    slopes = rng.standard_normal(WIDTH) / 4
    writer = None
    for _ in range(rows // GROUP):
        X = rng.standard_normal((GROUP, WIDTH))
        y = (rng.random(GROUP) < 1 / (1 + np.exp(-(X @ slopes)))).astype(np.int8)
        columns = {name: X[:, j] for j, name in enumerate(NAMES)} | {"y": y}
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def schema() -> str:
    """Public facts about the table."""
    columns = "".join(f'[columns.{name}]\ntype = "numeric"\nlower = -6\nupper = 6\n' for name in NAMES)
    return columns + '[columns.y]\ntype = "binary"\n'


def run() -> None:
    """Measure and record."""
    with tempfile.TemporaryDirectory() as folder:
        data, facts = Path(folder) / "table.parquet", Path(folder) / "schema.toml"
        print("  writing the file", file=sys.stderr)
        make_file(data)
        facts.write_text(schema(), encoding="utf-8")
        command = [sys.executable, "-m", "tacit", "fit", str(data), "y ~ " + " + ".join(NAMES)]
        command += ["--schema", str(facts), "--epsilon", "1", "--json"]
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
    if status != 0:
        raise RuntimeError("the fit failed")
    peak = usage.ru_maxrss / 1e6  # kibibytes to (nearly) gigabytes
    terms = json.loads(output)["terms"]
    write(
        "parquet",
        [
            Figure("fit of 10^7 × 20", seconds, "s", "under 300", seconds < 300),
            Figure("peak resident memory", peak, "GB", "under 1", peak < 1),
        ],
        {"terms": len(terms), "processor seconds": usage.ru_utime + usage.ru_stime},
    )
