"""What a new user waits for: the first fit, compiling; later fits; `--help`; `import tacit`."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.record import Figure, write

FIRST_FIT = """
import time
start = time.perf_counter()
import numpy as np
from tacit import LogisticRegression
rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (5000, 5))
y = rng.random(5000) < 0.5
LogisticRegression(epsilon=1.0, bounds=(-1, 1)).fit(X, y)
print(time.perf_counter() - start)
"""


def seconds_of(command: list[str], environment: dict[str, str]) -> float:
    """Wall-clock seconds of a process."""
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=environment)
    return time.perf_counter() - start


def run() -> None:
    """Measure and record."""
    environment = {**os.environ, "TACIT_REMEMBER_FITS": "0"}
    with tempfile.TemporaryDirectory() as cache:
        environment["NUMBA_CACHE_DIR"] = cache
        fit = [sys.executable, "-c", FIRST_FIT]
        first = seconds_of(fit, environment)
        compiled = sum(1 for _ in Path(cache).rglob("*.nbc"))
        later = statistics.median(seconds_of(fit, environment) for _ in range(5))
        again = sum(1 for _ in Path(cache).rglob("*.nbc")) - compiled
        helps = [sys.executable, "-m", "tacit", "--help"]
        shown = statistics.median(seconds_of(helps, environment) for _ in range(10))
        bare = [sys.executable, "-c", "pass"]
        light = [sys.executable, "-c", "import tacit"]
        nothing = statistics.median(seconds_of(bare, environment) for _ in range(10))
        imported = statistics.median(seconds_of(light, environment) for _ in range(10))
    write(
        "startup",
        [
            Figure("first fit, compilation included", first, "s", "under 8", first < 8),
            Figure("kernels compiled by later processes", again, "", "0", again == 0),
            Figure("tacit --help", shown, "s", "under 0.5", shown < 0.5),
            Figure("import tacit", imported - nothing, "s", "under 0.3", imported - nothing < 0.3),
        ],
        {
            "bare interpreter": nothing,
            "import tacit, whole process": imported,
            "kernels compiled by the first": compiled,
            "fit in a later process, imports included": later,
        },
    )
