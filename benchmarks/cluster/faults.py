"""Fits while a worker is killed at a random instant: equal answers, and one charge each."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from pyarrow import parquet

import tacit
from benchmarks.cluster.tables import coefficients, random_table
from benchmarks.record import RESULTS

RUNS = 50
STORED = RESULTS / "cluster_faults.jsonl"
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

    def refill(self, workers: int) -> None:
        """Start workers until there are so many."""
        while len(self.workers) < workers:
            self.add()

    def kill(self, place: int) -> None:
        """Kill a worker; it is not replaced yet."""
        victim = self.workers.pop(place)
        os.kill(victim.pid, signal.SIGKILL)
        victim.wait()


class Attack:
    """Kills a random worker at some instant of a fit: after one of its reports, and part of the time to the next."""

    def __init__(self, cluster: Processes, rng: np.random.Generator, reports: Sequence[float]) -> None:
        self._left = int(rng.integers(1, len(reports)))
        until_next = reports[self._left] - reports[self._left - 1]
        delay, place = float(rng.uniform(0, until_next)), int(rng.integers(len(cluster.workers)))
        self._timer = threading.Timer(delay, cluster.kill, [place])
        self._begun = False

    def __call__(self, done: int, total: int, label: str) -> None:
        """Count a report of progress; the last that is waited for starts the timer."""
        del done, total, label
        self._left -= 1
        if self._left == 0:
            self._timer.start()
            self._begun = True

    def done(self) -> bool:
        """Whether the worker was killed before the fit was over."""
        inside = self._begun and not self._timer.is_alive()
        if self._begun:
            self._timer.join()
        return inside


def killed_runs(runs: int = RUNS, seed: int = 23) -> dict[str, Any]:
    """Fit so often with a worker killed at a random instant: seeded, and charged to a ledger.

    Every run is stored when it is done and has a generator of its own: a study that was stopped goes on.
    """
    done = _stored()
    with ExitStack() as stack, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        data = folder / "table.parquet"
        parquet.write_table(random_table(20_000, np.random.default_rng(seed)), data, row_group_size=1000)
        missing = [run for run in range(runs) if run not in done]
        cluster = Processes(stack, WORKERS) if missing else None
        for number in missing:
            assert cluster is not None
            done[number] = _killed_run(number, np.random.default_rng([seed, number]), data, cluster, folder)
            with STORED.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"run": number} | done[number]) + "\n")
            print(f"\r  run {number + 1} of {runs}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    found = [done[run] for run in range(runs)]
    totals = {
        name: sum(bool(one[name]) for one in found) for name in ("equal", "charged once", "killed within both fits")
    }
    return {"runs": runs, **totals, "longest seconds": max(one["seconds"] for one in found)}


def _killed_run(
    number: int, rng: np.random.Generator, data: Path, cluster: Processes, folder: Path
) -> dict[str, float | bool]:
    """A seeded fit and a charged one, a worker killed within each; every other run is of persons."""
    where = tacit.Cluster(cluster.address, patience=5.0)
    schema = tacit.Schema.parse((UNIT if number % 2 else "") + SCHEMA)
    given: dict[str, Any] = {"formula": "y ~ x0 + x1 + x2", "data": data, "schema": schema, "epsilon": 1.0}
    local = tacit.glm(random_state=number, **given)
    cluster.refill(WORKERS)
    _ready(where, WORKERS)
    reports = list[float]()
    tacit.glm(random_state=number, cluster=where, progress=lambda *_: reports.append(time.perf_counter()), **given)
    attack = Attack(cluster, rng, reports)
    spread = tacit.glm(random_state=number, cluster=where, progress=attack, **given)
    hit = attack.done()
    attack = Attack(cluster, rng, reports)
    with tacit.Ledger(folder / f"ledger{number}.db", budget=tacit.Budget(epsilon=2.0, delta=1e-6)) as ledger:
        tacit.glm(cluster=where, progress=attack, **given)
    hit = attack.done() and hit
    return {
        "equal": coefficients(local) == coefficients(spread) and local.certificate.digest == spread.certificate.digest,
        "charged once": len(ledger.charges()) == 1,
        "killed within both fits": hit,
        "seconds": reports[-1] - reports[0],
    }


def _stored() -> dict[int, dict[str, float | bool]]:
    """Runs that were done before."""
    lines = STORED.read_text(encoding="utf-8").splitlines() if STORED.exists() else []
    return {one.pop("run"): one for one in map(json.loads, lines)}


def _ready(where: tacit.Cluster, workers: int) -> None:
    import distributed

    with distributed.Client(where.address, set_as_default=False) as client:
        client.wait_for_workers(workers, timeout=60)
