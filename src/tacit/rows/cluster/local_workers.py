"""Worker processes on this machine, for one fit: a scheduler and workers that listen on the loopback alone."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tacit.errors import ClusterError
from tacit.rows.cluster import local_processes
from tacit.rows.storage.store import thread_count

START = 60.0
"""Seconds in which the scheduler must be there."""
_QUIET = {
    "DASK_DISTRIBUTED__SCHEDULER__HTTP__ROUTES": "[]",
    "DASK_DISTRIBUTED__WORKER__HTTP__ROUTES": "[]",
    "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "critical",
}


_HELD_OPEN: weakref.WeakSet[Any] = weakref.WeakSet()
"""Inputs of programs, whose end ends their processes; a fork of this process must not hold them open."""


def _close_in_a_fork() -> None:
    for pipe in list(_HELD_OPEN):
        with contextlib.suppress(OSError, ValueError):
            pipe.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_a_fork)


@contextlib.contextmanager
def local_workers(count: int) -> Iterator[str]:
    """Start a scheduler and so many workers, which share the cores; yield the scheduler's address.

    Guarantee: they listen on the loopback alone, without a dashboard, and Dask spills nothing to disk. They end with
    the block.
    """
    threads = max(1, thread_count() // count)
    environment = {**os.environ, **_QUIET, "TACIT_THREADS": str(threads)}
    with contextlib.ExitStack() as stack:
        # The folder is readable by its owner only.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tacit-cluster-")))
        file = folder / "scheduler.json"
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-m", local_processes.__name__, str(file), str(count), str(threads)],
            env=environment, cwd=folder, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        stack.callback(_end, process)
        _HELD_OPEN.add(process.stdin)
        # This process needs it too, and the others are busy loading it.
        import distributed  # noqa: F401

        yield _address(file)


def _address(file: Path) -> str:
    import json

    deadline = time.monotonic() + START
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, ValueError):
            return str(json.loads(file.read_text(encoding="utf-8"))["address"])
        time.sleep(0.05)
    raise ClusterError("The workers of this machine did not start. Nothing was spent.")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program and all processes of its group, also those that are paused."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with process:
        pass
