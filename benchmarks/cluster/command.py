"""`python -m benchmarks cluster [part …]`: equality, faults, rounds, size; all of them by default."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.cluster.equality import SETTINGS, equal_settings
from benchmarks.cluster.faults import RUNS, killed_runs
from benchmarks.cluster.rounds import partition_cost, round_overhead
from benchmarks.cluster.size import size_of_fit
from benchmarks.record import RESULTS, Figure, write

PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "equality": equal_settings,
    "faults": killed_runs,
    "rounds": round_overhead,
    "partitions": partition_cost,
    "size": size_of_fit,
}


def main(arguments: Sequence[str] = ()) -> None:
    """Measure the parts asked for, `--parts a,b`, keep the others as they were, and record."""
    asked = arguments[arguments.index("--parts") + 1].split(",") if "--parts" in arguments else list(PARTS)
    path = RESULTS / "cluster.json"
    details: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["details"] if path.exists() else {}
    for name in asked:
        details[name] = PARTS[name]() | {"load": os.getloadavg()[0]}
    write("cluster", _figures(details), details)


def _figures(details: dict[str, Any]) -> list[Figure]:
    figures: list[Figure] = []

    def add(
        part: str, name: str, value: Callable[[Any], float], unit: str, most: float, *, strict: bool = False
    ) -> None:
        if part in details:
            found = value(details[part])
            asked = f"under {most:g}" if strict else f"at most {most:g}"
            figures.append(Figure(name, found, unit, asked, found < most if strict else found <= most))

    add("equality", "random settings of 200 without equal bits", lambda it: SETTINGS - it["equal"], "", 0)
    add("faults", "runs of 50 with a worker killed and another answer", lambda it: RUNS - it["equal"], "", 0)
    add("faults", "runs of 50 not charged exactly once", lambda it: RUNS - it["charged once"], "", 0)
    add("rounds", "overhead of a round", lambda it: it["cluster ms"] - it["local ms"], "ms", 10)
    add("partitions", "coordinator's cost of a partition in a round", lambda it: it["round us"], "µs", 50)
    add("partitions", "coordinator's cost of a partition at the start", lambda it: it["start us"], "µs", 50)
    add("size", "two workers over two threads, 10^7 × 20", lambda it: it["ratio"], "", 1.15)
    add("size", "largest process", lambda it: it["largest process GB"], "GB", 1.4, strict=True)
    return figures
