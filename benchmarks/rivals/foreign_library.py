"""diffprivlib in an environment of its own, which is made when it is first needed.

It cannot share ours: it needs an older scikit-learn.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.accuracy.table import Kind, Table
from benchmarks.rivals.method import Fit, Setting

VERSION = "0.6.6"
REQUIREMENTS = (f"diffprivlib=={VERSION}", "scikit-learn==1.5.2")
ENVIRONMENT = Path(__file__).parents[2] / ".cache" / "rivals" / f"diffprivlib-{VERSION}"
WORKER = Path(__file__).with_name("foreign_worker.py")
STRENGTHS = (1e-6, 1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 1.0)


class EnvironmentFailedError(RuntimeError):
    """The environment of a rival could not be made."""


def interpreter() -> Path:
    """The Python of the environment, which is made if it is not there."""
    python, finished = ENVIRONMENT / "bin" / "python", ENVIRONMENT / ".finished"
    if not finished.exists():
        commands = (
            [sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT)],
            [str(python), "-m", "pip", "install", "--quiet", *REQUIREMENTS],
        )
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                last = (done.stderr.strip().splitlines() or ["no message"])[-1]
                raise EnvironmentFailedError(f"diffprivlib could not be installed: {last}")
        finished.touch()
    return python


class Worker:
    """A process that holds one table and fits on request."""

    def __init__(self, table: Table) -> None:
        python = interpreter()
        self.table = table
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        self._margins = folder / "margins.npy"
        np.savez(
            folder / "table.npz",
            X_train=table.features,
            y_train=table.y_train,
            X_test=table.test_features,
            y_bounds=np.array(table.y_bounds),
            feature_norm=np.array(table.feature_norm),
        )
        command = [str(python), str(WORKER), str(folder / "table.npz"), str(self._margins)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def fit(self, epsilon: float, strength: float, seed: int) -> Fit:
        """Ask for one fit."""
        request = {"kind": self.table.kind, "epsilon": epsilon, "C": strength, "seed": seed}
        if self._process.stdin is None or self._process.stdout is None:
            raise EnvironmentFailedError("the process of diffprivlib has no pipes")
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise EnvironmentFailedError("the process of diffprivlib ended early")
        return Fit(np.load(self._margins), json.loads(answer)["seconds"])

    def close(self) -> None:
        """End the process and remove its files."""
        self._process.communicate()
        self._folder.cleanup()


@dataclass
class Workers:
    """At most one process at a time: the one of the table in hand."""

    current: Worker | None = None

    def of(self, table: Table) -> Worker:
        """The process that holds a table."""
        if self.current is None or self.current.table is not table:
            self.close()
            self.current = Worker(table)
        return self.current

    def close(self) -> None:
        """End the process, if there is one."""
        if self.current is not None:
            self.current.close()
        self.current = None


@dataclass(frozen=True)
class Diffprivlib:
    """diffprivlib's estimators (pure ε), at their default C or at the best of `strengths`."""

    workers: Workers
    name: str = "diffprivlib"
    label: str = "diffprivlib"
    kinds: tuple[Kind, ...] = ("classification", "regression")
    strengths: tuple[float, ...] = (1.0,)
    epsilons: tuple[float, ...] | None = field(default=None)
    version: str = VERSION

    def settings(self, table: Table, epsilon: float) -> Sequence[Setting]:  # noqa: ARG002
        """Inverse strengths of the penalty; linear regression has none."""
        return [{"C": strength} for strength in self.strengths]

    def fits(self, table: Table, epsilon: float, settings: Sequence[Setting], seed: int) -> list[Fit]:
        """One request per setting."""
        worker = self.workers.of(table)
        return [worker.fit(epsilon, setting["C"], seed) for setting in settings]
