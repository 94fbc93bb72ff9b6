"""Follow a fit through the code: files and functions entered, and returns to a package left before.

    python -m tools.trace [--list]

Each fit runs once before it is followed, so that compilation and imports are not counted. A return
is a first visit to a file of a package that was visited and left before: the fewer there are, the
straighter a reader walks from the call to the answer. With --list the files are shown in order.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import tacit
from tacit.planning.demo_table import CLINIC_FORMULA, CLINIC_SCHEMA, clinic_table

SOURCES = Path(tacit.__file__).parent


@dataclass
class Walk:
    """What a fit went through, in the order of first visits."""

    files: list[str] = field(default_factory=list)
    functions: set[tuple[str, str]] = field(default_factory=set)

    @property
    def returns(self) -> int:
        """How often the way came back to a package that it had left."""
        packages = [file.split("/")[0] for file in self.files]
        left: set[str] = set()
        returns = 0
        for before, now in itertools.pairwise(packages):
            if now != before:
                left.add(before)
                returns += now in left
        return returns


def walk(fit: Callable[[], Any]) -> Walk:
    """Run a fit twice and follow it the second time, in all its threads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit()
        found = Walk()

        def seen(frame: FrameType, event: str, argument: object) -> None:
            del argument
            name = frame.f_code.co_filename
            if event == "call" and name.startswith(str(SOURCES)):
                file = str(Path(name).relative_to(SOURCES))
                if file not in found.files:
                    found.files.append(file)
                found.functions.add((file, frame.f_code.co_qualname))

        threading.setprofile(seen)
        sys.setprofile(seen)
        try:
            fit()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    return found


def fits() -> dict[str, Callable[[], Any]]:
    """Three fits: an estimator, one with intervals, and a file by its formula."""
    rng = np.random.default_rng(0)
    X, y = rng.uniform(0, 1, (2000, 3)), rng.integers(0, 2, 2000)
    folder = Path(tempfile.mkdtemp())
    table = clinic_table(2000)
    names = list(table)
    rows = zip(*(np.asarray(table[name]).tolist() for name in names), strict=True)
    lines = [",".join(names), *(",".join(map(str, row)) for row in rows)]
    (folder / "clinic.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    schema = tacit.Schema.parse(CLINIC_SCHEMA)
    plain = tacit.LogisticRegression(epsilon=1.0, bounds=(0, 1), classes=[0, 1])
    intervals = tacit.LinearRegression(epsilon=1.0, bounds=(0, 1), y_bounds=(-1, 2), inference=True)
    return {
        "LogisticRegression.fit": lambda: plain.fit(X, y),
        "LinearRegression.fit with intervals": lambda: intervals.fit(X, y),
        "glm of a CSV file": lambda: tacit.glm(CLINIC_FORMULA, folder / "clinic.csv", schema, epsilon=1.0),
    }


def main(arguments: list[str]) -> int:
    """Print a line for each fit."""
    for name, fit in fits().items():
        found = walk(fit)
        print(f"{name}: {len(found.files)} files, {len(found.functions)} functions, {found.returns} returns")
        if "--list" in arguments:
            for file in found.files:
                print(f"    {file}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
