"""Worker processes on this machine: the same bits, also where one is killed or paused; they end with the fit."""

import os
import signal
from pathlib import Path
from typing import Any

import psutil
import pytest

import tacit
from tacit.errors import ClusterLost
from tacit.rows.cluster import local_processes
from tacit.rows.cluster.local_workers import local_workers
from tests.rows.cluster.clusters import FORMULA, coefficients, schema, table, write


def program() -> list[psutil.Process]:
    """The one that started scheduler and workers."""
    name = local_processes.__name__
    return [child for child in psutil.Process().children() if name in child.cmdline()]


def members() -> list[psutil.Process]:
    """The scheduler, and the workers after it."""
    found = [child for one in program() for child in one.children()]
    return sorted(found, key=lambda process: process.pid)


def left(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that are still there a little later."""
    _, there = psutil.wait_procs(processes, timeout=10)
    return list(there)


@pytest.mark.parametrize(("fault", "unit"), [(signal.SIGKILL, True), (signal.SIGSTOP, False)])
def test_a_process_killed_or_paused_changes_nothing(tmp_path: Path, fault: signal.Signals, *, unit: bool) -> None:
    folder = write(tmp_path / "parts", table(1500), [300, 900], "parquet")
    given: dict[str, Any] = {"epsilon": 2.0, "random_state": 5, "schema": schema(unit=unit), "solver": "newton"}
    local = tacit.glm(FORMULA, folder, **given)
    calls, seen = 0, list[psutil.Process]()

    def harm(done: int, total: int, label: str) -> None:
        nonlocal calls
        calls += 1
        if calls == 4:
            seen.extend(members())
            os.kill(seen[2].pid, fault)

    where = tacit.Cluster(workers=2, patience=3.0)
    spread = tacit.glm(FORMULA, folder, cluster=where, progress=harm, **given)
    assert coefficients(local) == coefficients(spread)
    assert calls > 5
    assert len(seen) == 3
    assert program() == left(seen) == []


def test_a_lost_scheduler_ends_the_fit_and_the_charge_stands(tmp_path: Path) -> None:
    folder = write(tmp_path / "parts", table(1500), [300], "csv")
    ledger = tacit.Ledger(tmp_path / "ledger.db", budget=tacit.Budget(epsilon=3.0, delta=1e-6))
    calls = 0

    def harm(done: int, total: int, label: str) -> None:
        nonlocal calls
        calls += 1
        if calls == 4:
            os.kill(members()[0].pid, signal.SIGKILL)

    with ledger, pytest.raises(ClusterLost, match=r"scheduler.*stays charged") as lost:
        tacit.glm(FORMULA, folder, schema(), epsilon=1.0, cluster=tacit.Cluster(workers=1, patience=3.0), progress=harm)
    assert len(ledger.charges()) == 1
    assert lost.value.run_again is not None
    fit = lost.value.run_again(1)
    assert fit.certificate.private
    assert len(ledger.charges()) == 1
    assert program() == []


def test_workers_listen_on_the_loopback_alone() -> None:
    with local_workers(1) as address:
        assert address.startswith("tcp://127.0.0.1:")
        for process in members():
            for line in process.net_connections(kind="tcp"):
                assert line.laddr.ip == "127.0.0.1"
