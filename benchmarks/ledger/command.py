"""Every figure of the ledger."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from benchmarks.ledger import contention, damage, names, speed
from benchmarks.record import Figure, write

ROUNDS, CHARGES = 10, 1_000
"""Trials per kind of name, and acknowledged charges of each: 10,000 together."""


def run() -> None:
    """Measure and record."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        accepted = contention.accepted_under_contention(folder)
        flips, unnoticed = damage.unnoticed_flips(folder)
        rate, late = speed.charges_per_second(folder)
        log, sqlite = speed.appends_per_second(folder)
    attempts = f"{contention.PROCESSES} × {contention.ATTEMPTS}"
    figures = [
        Figure(
            f"accepted of {attempts} charges",
            accepted,
            "charges",
            f"exactly {contention.ROOM}",
            accepted == contention.ROOM,
        ),
        Figure(f"unnoticed of {flips} flipped bits", unnoticed, "", "0", unnoticed == 0),
        Figure("speed of the last tenth, by that of all", late / rate, "", "0.7", late / rate > 0.7),
        Figure("appends, by SQLite as in 0.1", log / sqlite, "times", "1", log >= sqlite),
    ]
    # How fast depends on the disk and on who else uses it; how much faster than SQLite does not.
    details: dict[str, object] = {
        "appends per second": {"log": log, "SQLite as in 0.1": sqlite},
        f"charges per second over {speed.CHARGES}": rate,
    }
    for kind in names.KINDS:
        figures += under_two_names(kind, details)
    write("ledger", figures, details)


def under_two_names(kind: str, details: dict[str, object]) -> list[Figure]:
    """Lost and doubled charges of two writers under two names, over all rounds."""
    outcomes = []
    for seed in range(ROUNDS):
        outcome = names.trial(kind, CHARGES, seed)
        if outcome is None:
            print(f"  {kind}: left out, because this user may not mount")
            details[kind] = "left out: mounting is not permitted here"
            return []
        outcomes.append(outcome)
        print(f"\r  {kind}: round {seed + 1} of {ROUNDS}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    total = {field: sum(asdict(outcome)[field] for outcome in outcomes) for field in asdict(outcomes[0])}
    details[kind] = total
    lost = total["lost"] + total["doubled"]
    title = f"{kind}: lost or doubled of {total['acknowledged']} charges, {total['kills']} kill -9"
    return [Figure(title, lost, "", "0", lost == 0)]
