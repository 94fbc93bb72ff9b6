"""The program that scheduler and workers are forked from: they end with whoever asked for them."""

import os
import subprocess
import sys
import time
from typing import Any

import psutil
import pytest

from tacit.rows.cluster import local_processes

ASKING = """
import os, sys, time
from tacit.rows.cluster.local_workers import local_workers
with local_workers(2) as address:
    print(address, flush=True)
    if sys.argv[1] == "forks" and os.fork() == 0:
        os.close(1)
        time.sleep(60)
        os._exit(0)
    time.sleep(60)
"""


def children(parent: int, word: str, count: int) -> list[psutil.Process]:
    """So many children whose command has a word, once they are there."""
    for _ in range(1000):
        found = [child for child in psutil.Process(parent).children() if word in child.cmdline()]
        if len(found) == count:
            return found
        time.sleep(0.01)
    raise AssertionError(f"there are not {count} of them")


@pytest.mark.parametrize("case", ["alone", "forks", "program killed"])
def test_scheduler_and_workers_end_with_the_process_that_asked_for_them(case: str) -> None:
    """Also where a fork of it lives on, and where the program that they were forked from was killed before."""
    asking = subprocess.Popen([sys.executable, "-c", ASKING, case], stdout=subprocess.PIPE, text=True)
    with asking:
        assert asking.stdout is not None
        assert asking.stdout.readline().startswith("tcp://127.0.0.1:")
        (program,) = children(asking.pid, local_processes.__name__, 1)
        family = [program, *children(program.pid, local_processes.__name__, 3)]
        forks = children(asking.pid, "forks", case == "forks")
        if case == "program killed":
            program.kill()
        asking.kill()
    _, left = psutil.wait_procs(family, timeout=10)
    for process in (*forks, *left):
        process.kill()
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
