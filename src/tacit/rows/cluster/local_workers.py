"""Worker processes on this machine, for one fit: a scheduler and workers that listen on the loopback alone."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tacit.errors import ClusterError
from tacit.rows.storage.store import thread_count

START = 60.0
"""Seconds in which the scheduler must be there."""
_QUIET = {
    "DASK_DISTRIBUTED__SCHEDULER__HTTP__ROUTES": "[]",
    "DASK_DISTRIBUTED__WORKER__HTTP__ROUTES": "[]",
    "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "critical",
}
_SCHEDULER = ("-m", "distributed.cli.dask_scheduler")
_WORKER = ("-c", "import tacit.rows.cluster.worker; from distributed.cli.dask_worker import main; main()")
"""A worker that loads what it will need before it looks for its scheduler, which starts at the same time."""
_LOOPBACK = ("--host", "127.0.0.1", "--no-dashboard", "--dashboard-address", "127.0.0.1:0")


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

        def start(*arguments: str) -> None:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and fixed words
                [sys.executable, *arguments, "--scheduler-file", str(file), *_LOOPBACK], env=environment, cwd=folder,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            stack.callback(_end, process)

        file = folder / "scheduler.json"
        start(*_SCHEDULER, "--port", "0")
        for _ in range(count):
            own = ("--no-nanny", "--nthreads", str(threads), "--memory-limit", "0", "--local-directory", str(folder))
            start(*_WORKER, *own)
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
    process.kill()
    process.wait()
