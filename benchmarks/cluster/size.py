"""A Parquet file of 10^7 × 20 on two workers and on one process of two threads: seconds, and memory of each."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil

from benchmarks.parquet import NAMES, make_file, schema


def size_of_fit(data: Path | None = None) -> dict[str, float]:
    """Seconds of `tacit fit` with and without `--workers 2`, in turn, and the largest process of each in GB."""
    with tempfile.TemporaryDirectory() as folder:
        facts = Path(folder) / "schema.toml"
        facts.write_text(schema(), encoding="utf-8")
        if data is None:
            data = Path(folder) / "table.parquet"
            print("  writing the file", file=sys.stderr)
            make_file(data)
        runs = [_fit(data, facts, workers) for workers in (None, 2, None, 2)]
    local, spread = min(runs[0][0], runs[2][0]), min(runs[1][0], runs[3][0])
    return {
        "local s": local,
        "two workers s": spread,
        "ratio": spread / local,
        "largest process GB": max(runs[1][1], runs[3][1]),
        "local process GB": max(runs[0][1], runs[2][1]),
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
