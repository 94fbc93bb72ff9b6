"""Timing side by side, and where results are written."""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Figure:
    """One measured figure, what was asked of it, and whether it was reached."""

    name: str
    measured: float
    unit: str
    asked: str
    reached: bool

    @property
    def mark(self) -> str:
        """A word for the table; a figure that nothing was asked of is told."""
        if self.asked == "told":
            return "told"
        return "reached" if self.reached else "missed"


def interleaved(functions: Mapping[str, Callable[[], object]], repeats: int = 10) -> dict[str, float]:
    """Median seconds of each function over interleaved runs, after one warm-up of each."""
    for function in functions.values():
        function()
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for done in range(repeats):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            seconds[name].append(time.perf_counter() - start)
        print(f"\r  run {done + 1} of {repeats}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return {name: statistics.median(values) for name, values in seconds.items()}


def write(topic: str, figures: list[Figure], details: Mapping[str, object]) -> None:
    """Write figures as JSON and print them as a table."""
    RESULTS.mkdir(exist_ok=True)
    document = {
        "topic": topic,
        "figures": [asdict(figure) for figure in figures],
        "details": dict(details),
        "machine": {"python": platform.python_version(), "processor": platform.machine(), "cores": os.cpu_count()},
    }
    path = RESULTS / f"{topic}.json"
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    for figure in figures:
        print(f"  {figure.name}: {figure.measured:.4g} {figure.unit} (asked: {figure.asked}) {figure.mark}")


def write_overview() -> None:
    """Gather all results in one readable page."""
    lines = ["# Benchmark results", "", "Written by `make bench`.", ""]
    for path in sorted(RESULTS.glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        if "figures" not in document:
            continue
        lines += [f"## {document['topic']}", "", "| figure | measured | asked | |", "|---|---|---|---|"]
        lines += [
            f"| {figure.name} | {figure.measured:.4g} {figure.unit} | {figure.asked} | {figure.mark} |"
            for figure in (Figure(**stored) for stored in document["figures"])
        ]
        lines.append("")
    (RESULTS / "README.md").write_text("\n".join(lines), encoding="utf-8")
