"""A Parquet file of 10^7 × 20 on two workers and on one process of two threads: seconds, and memory of each."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import psutil

from benchmarks.parquet import NAMES, make_file, schema

RUNS = 3


def size_of_fit(data: Path | None = None) -> dict[str, Any]:
    """Seconds of `tacit fit` with and without `--workers 2`, in turn, three times after one fit that fills the caches.

    The ratio is the median; the largest process of each is in GB.
    """
    with tempfile.TemporaryDirectory() as folder:
        facts = Path(folder) / "schema.toml"
        facts.write_text(schema(), encoding="utf-8")
        if data is None:
            data = Path(folder) / "table.parquet"
            print("  writing the file", file=sys.stderr)
            make_file(data)
        _fit(data, facts, None)
        pairs = [(_fit(data, facts, None), _fit(data, facts, 2)) for _ in range(RUNS)]
    ratios = [spread[0] / local[0] for local, spread in pairs]
    return {
        "local s": [local[0] for local, _ in pairs],
        "two workers s": [spread[0] for _, spread in pairs],
        "ratios": ratios,
        "ratio": statistics.median(ratios),
        "largest process GB": max(spread[1] for _, spread in pairs),
        "local process GB": max(local[1] for local, _ in pairs),
    }


def _fit(data: Path, facts: Path, workers: int | None) -> tuple[float, float]:
    command = [sys.executable, "-m", "tacit", "fit", str(data), "y ~ " + " + ".join(NAMES)]
    command += ["--schema", str(facts), "--epsilon", "1", "--json"]
    command += [] if workers is None else ["--workers", str(workers)]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "TACIT_THREADS": "2"})
    largest, ended = [0.0], threading.Event()

    def watch() -> None:
        while not ended.wait(0.2):
            try:
                family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
                largest[0] = max([largest[0], *(one.memory_info().rss / 1e9 for one in family)])
            except psutil.Error:
                continue

    watcher = threading.Thread(target=watch)
    watcher.start()
    failed = process.wait() != 0
    ended.set()
    watcher.join()
    if failed:
        raise RuntimeError("the fit failed")
    return time.perf_counter() - start, largest[0]
