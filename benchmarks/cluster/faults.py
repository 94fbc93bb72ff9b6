"""Fits while a worker is killed at a random instant: equal answers, and one charge each."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from pyarrow import parquet

import tacit
from benchmarks.cluster.tables import coefficients, random_table

RUNS = 50
WORKERS = 3
SCHEMA = "".join(f'[columns.x{j}]\ntype = "numeric"\nlower = -3\nupper = 3\n' for j in range(3))
SCHEMA += '[columns.y]\ntype = "binary"\n'
UNIT = '[unit]\nname = "patient"\ncolumn = "who"\nmax_rows = 3\n'


class Processes:
    """A scheduler and workers on the loopback, which can be killed and replaced."""

    def __init__(self, stack: ExitStack, workers: int) -> None:
        self._stack, self._folder = stack, Path(stack.enter_context(tempfile.TemporaryDirectory()))
        self.workers: list[subprocess.Popen[bytes]] = []
        file = self._folder / "scheduler.json"
        self._start("dask_scheduler", "--port", "0", "--scheduler-file", str(file))
        while not file.exists():
            time.sleep(0.05)
        time.sleep(0.2)
        import json

        self.address = str(json.loads(file.read_text(encoding="utf-8"))["address"])
        for _ in range(workers):
            self.add()

    def _start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        fixed = ["--host", "127.0.0.1", "--no-dashboard", "--dashboard-address", "127.0.0.1:0"]
        command = [sys.executable, "-m", f"distributed.cli.{module}", *arguments, *fixed]
        quiet: Any = dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)
        process = subprocess.Popen(command, cwd=self._folder, env={**os.environ, "TACIT_THREADS": "1"}, **quiet)
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        return process

    def add(self) -> None:
        """Start one more worker."""
        own = ("--no-nanny", "--nthreads", "1", "--memory-limit", "0")
        self.workers.append(self._start("dask_worker", self.address, *own))

    def kill(self, place: int) -> None:
        """Kill a worker and start another in its place."""
        victim = self.workers.pop(place)
        os.kill(victim.pid, signal.SIGKILL)
        victim.wait()


def killed_runs(runs: int = RUNS, seed: int = 23) -> dict[str, Any]:
    """Fit so often with a worker killed at a random instant: seeded, and charged to a ledger."""
    rng = np.random.default_rng(seed)
    equal = once = hit = 0
    lengths: list[float] = []
    with ExitStack() as stack, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        data = folder / "table.parquet"
        parquet.write_table(random_table(20_000, rng), data, row_group_size=1000)
        cluster = Processes(stack, WORKERS)
        where = tacit.Cluster(cluster.address, patience=5.0)
        for run in range(runs):
            schema = tacit.Schema.parse((UNIT if run % 2 else "") + SCHEMA)
            given: dict[str, Any] = {"formula": "y ~ x0 + x1 + x2", "data": data, "schema": schema, "epsilon": 1.0}
            local = tacit.glm(random_state=run, **given)
            while len(cluster.workers) < WORKERS:
                cluster.add()
            _ready(where, WORKERS)
            ledger = tacit.Ledger(folder / f"ledger{run}.db", budget=tacit.Budget(epsilon=2.0, delta=1e-6))
            if run < 2:
                # How long a fit takes, of records and of persons.
                tacit.glm(random_state=run, cluster=where, **given)
                start = time.perf_counter()
                tacit.glm(random_state=run, cluster=where, **given)
                lengths.append(time.perf_counter() - start)
            length = lengths[run % 2]
            timer = threading.Timer(float(rng.uniform(0, length)), cluster.kill, [int(rng.integers(WORKERS))])
            timer.start()
            spread = tacit.glm(random_state=run, cluster=where, **given)
            hit += not timer.is_alive()
            timer.join()
            equal += coefficients(local) == coefficients(spread)
            timer = threading.Timer(float(rng.uniform(0, length)), cluster.kill, [int(rng.integers(WORKERS - 1))])
            timer.start()
            with ledger:
                tacit.glm(cluster=where, **given)
            timer.join()
            once += len(ledger.charges()) == 1
            print(f"\r  run {run + 1} of {runs}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return {"runs": runs, "equal": equal, "charged once": once, "killed within the fit": hit, "seconds": lengths}


def _ready(where: tacit.Cluster, workers: int) -> None:
    import distributed

    with distributed.Client(where.address, set_as_default=False) as client:
        client.wait_for_workers(workers, timeout=60)
