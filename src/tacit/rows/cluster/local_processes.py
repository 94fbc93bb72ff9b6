"""Run as a program: loads what a scheduler and workers need once, and splits into these processes by forks.

Loading takes each of them a second of the processor's time, as long as reading a million records. This program has one
thread and reads no record. Where there is no fork, each process is started by itself. All end when the standard input
does, which whoever asked for them holds open: also where that process was killed, or this program.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

LOOPBACK = ("--host", "127.0.0.1", "--no-dashboard", "--dashboard-address", "127.0.0.1:0")


def main(file: str, workers: int, threads: int) -> None:
    """Start a scheduler, which writes its address to a file, and so many workers."""
    fixed = ("--scheduler-file", file, *LOOPBACK)
    children = [start("scheduler", ("--port", "0", *fixed))]
    own = ("--no-nanny", "--nthreads", str(threads), "--memory-limit", "0", "--local-directory", str(Path(file).parent))
    children += [start("worker", (*own, *fixed)) for _ in range(workers)]
    wait_for_the_end_of_input()
    for child in children:
        with contextlib.suppress(OSError):
            os.kill(child, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)


def start(role: str, arguments: Sequence[str]) -> int:
    """Run a member of the cluster in a process of its own; return the number of the process."""
    if not hasattr(os, "fork"):
        command = [sys.executable, "-m", "tacit.rows.cluster.local_processes", role, *arguments]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL).pid  # noqa: S603 - our own interpreter and module
    program = load(role)
    child = os.fork()
    if child == 0:
        threading.Thread(target=_end_with_the_input, daemon=True).start()
        program(arguments)
        os._exit(0)
    return child


def wait_for_the_end_of_input() -> None:
    """Read the standard input until whoever holds it open has ended."""
    with contextlib.suppress(OSError):
        while os.read(0, 1):
            pass


def _end_with_the_input() -> None:
    wait_for_the_end_of_input()
    os._exit(1)


def load(role: str) -> Callable[[Sequence[str]], None]:
    """Import what a member of the cluster needs, and return its program."""
    if role == "scheduler":
        from distributed.cli.dask_scheduler import main as scheduler

        return scheduler  # type: ignore[no-any-return]
    from distributed.cli.dask_worker import main as worker

    import tacit.rows.cluster.worker  # noqa: F401

    return worker  # type: ignore[no-any-return]


if __name__ == "__main__":
    if sys.argv[1] in {"scheduler", "worker"}:
        load(sys.argv[1])(sys.argv[2:])
    else:
        main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
