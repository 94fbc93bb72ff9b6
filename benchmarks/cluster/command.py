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

    def add(part: str, name: str, measured: Callable[[dict[str, Any]], float], unit: str, asked: str, test: Any) -> None:
        if part in details:
            value = measured(details[part])
            figures.append(Figure(name, value, unit, asked, bool(test(value))))

    add("equality", "equal bits in random settings", lambda it: it["equal"], "", f"{SETTINGS}", lambda v: v >= SETTINGS)
    add("faults", "equal answers with a worker killed", lambda it: it["equal"], "", f"{RUNS}", lambda v: v >= RUNS)
    doubled: Callable[[dict[str, Any]], float] = lambda it: it["runs"] - it["charged once"]  # noqa: E731
    add("faults", "fits not charged exactly once", doubled, "", "0", lambda v: v == 0)
    over: Callable[[dict[str, Any]], float] = lambda it: it["cluster ms"] - it["local ms"]  # noqa: E731
    add("rounds", "overhead of a round", over, "ms", "at most 10", lambda v: v <= 10)
    add("partitions", "coordinator, a partition a round", lambda it: it["round us"], "µs", "at most 50", lambda v: v <= 50)
    add("partitions", "coordinator, a partition at the start", lambda it: it["start us"], "µs", "at most 50", lambda v: v <= 50)
    add("size", "two workers over two threads, 10^7 × 20", lambda it: it["ratio"], "", "at most 1.15", lambda v: v <= 1.15)
    add("size", "largest process", lambda it: it["largest process GB"], "GB", "under 1.4", lambda v: v < 1.4)
    return figures
