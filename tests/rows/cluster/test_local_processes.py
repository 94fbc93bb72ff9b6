"""The program that scheduler and workers are forked from: they end with whoever asked for them."""

import os
import subprocess
import sys
from typing import Any

import psutil
import pytest

from tacit.rows.cluster import local_processes


def test_scheduler_and_workers_end_with_the_process_that_asked_for_them() -> None:
    code = (
        "import sys, time\nfrom tacit.rows.cluster.local_workers import local_workers\n"
        "with local_workers(2) as address:\n    print(address, flush=True)\n    time.sleep(60)\n"
    )
    asking = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    with asking:
        assert asking.stdout is not None
        assert asking.stdout.readline().startswith("tcp://127.0.0.1:")
        family = psutil.Process(asking.pid).children(recursive=True)
        asking.kill()
    assert len(family) >= 2
    _, left = psutil.wait_procs(family, timeout=10)
    assert left == []


@pytest.mark.parametrize("forks", [True, False])
def test_a_program_forks_its_members_or_starts_them(monkeypatch: pytest.MonkeyPatch, *, forks: bool) -> None:
    """Without a fork, each member loads by itself: it is the same program with another word."""
    started, forked = list[list[str]](), list[str]()

    class Started:
        pid = 8

        def __init__(self, command: list[str], **_: Any) -> None:
            started.append(command)

    monkeypatch.setattr(local_processes, "load", forked.append)
    monkeypatch.setattr(subprocess, "Popen", Started)
    if forks:
        monkeypatch.setattr(os, "fork", lambda: 9)
    else:
        monkeypatch.delattr(os, "fork")
    assert local_processes.start("worker", ("--nthreads", "1")) == (9 if forks else 8)
    assert forked == (["worker"] if forks else [])
    assert [command[2:] for command in started] == (
        [] if forks else [["tacit.rows.cluster.local_processes", "worker", "--nthreads", "1"]]
    )
