"""`python -m benchmarks audits [options]`: 10,000 runs a world against every guarantee by its name, and seeded faults.

What was finished before is kept, so that a run can be stopped and taken up again. Whoever changes a mechanism deletes
its lines in `results/audits.jsonl`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.progress import progress_bar
from benchmarks.record import RESULTS, Figure, write
from benchmarks.seeded_faults import FAULTS
from tacit import audit
from tacit.audit.result import floored

RUNS, MU = 10_000, 2.0
FIELDS = (
    "name",
    "mu_claimed",
    "mu_lower",
    "epsilon_claimed",
    "epsilon_lower",
    "delta",
    "confidence",
    "runs",
    "refuted",
)
Row = Mapping[str, Any]


def read(path: Path) -> dict[str, Row]:
    """Finished audits by name; those of a seeded fault by the fault's."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = [json.loads(line) for line in lines]
    return {row.get("fault") or row["name"]: row for row in rows}


def audited(title: str, runs: int, progress: Any) -> dict[str, Any]:
    """Audit a name, or a seeded fault by its name."""
    start = time.process_time()
    fault = FAULTS.get(title)
    if fault is None:
        found = audit.run(title, mu=MU, runs=runs, progress=progress)
    else:
        with patch.object(fault.module, fault.function, fault.faulty):
            found = audit.run(fault.attack, mu=fault.mu, runs=runs, progress=progress)
    document = found.document()
    kept = {name: document[name] for name in FIELDS}
    return {**kept, "fault": None if fault is None else title, "seconds": round(time.process_time() - start, 1)}


def page(rows: Mapping[str, Row]) -> str:
    """The table of all audits."""
    lines = [
        "# Audits",
        "",
        "Written by `python -m benchmarks audits`. Each line: 10,000 runs in each of two neighbouring worlds, the",
        "worst ones known, and lower bounds at 99.9% confidence. μ of what claims none is that of a Gaussian release",
        "with the same least FPR + FNR. [docs/audit.md](../../docs/audit.md) explains the columns.",
        "",
        "| audited | claimed μ | shown μ ≥ | claimed ε | shown ε ≥ | δ | refuted |",
        "|---|---|---|---|---|---|---|",
    ]
    sound = [_line(name, rows[name]) for name in audit.names() if name in rows]
    faulty = [_line(f"{rows[title]['name']} with {title}", rows[title]) for title in FAULTS if title in rows]
    missing = [name for name in (*audit.names(), *FAULTS) if name not in rows]
    heading = ["", "Faults that were seeded, with the claim of the sound mechanism:", "", *lines[6:8]]
    left = ["", f"Not run yet: {', '.join(missing)}."] if missing else []
    return "\n".join([*lines, *sound, *heading, *faulty, *left, ""])


def _line(title: str, row: Row) -> str:
    numbers = f"{row['mu_claimed']:.3f} | {floored(row['mu_lower'])} | {row['epsilon_claimed']:.3f}"
    shown = f"{floored(row['epsilon_lower'])} | {row['delta']:g} | {'**yes**' if row['refuted'] else 'no'}"
    return f"| {title} | {numbers} | {shown} |"


def finished(titles: Sequence[str], runs: int) -> Iterator[dict[str, Any]]:
    """Audits one after the other, with a bar."""
    with progress_bar() as bar:
        task = bar.add_task("audits", total=len(titles) * 100)
        for done, title in enumerate(titles):

            def told(so_far: int, total: int, _: str, done: int = done) -> None:
                bar.update(task, completed=100 * (done + so_far / total))

            bar.update(task, description=title)
            yield audited(title, runs, told)


def run(options: Sequence[str] = ()) -> None:
    """Run what is missing, and write table and figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks audits", description=__doc__)
    parser.add_argument("--names", nargs="+", help="only these")
    parser.add_argument("--runs", type=int, default=RUNS, metavar="N")
    parser.add_argument("--page", action="store_true", help="run nothing, only write")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results")
    given = parser.parse_args(options)
    path = given.results / "audits.jsonl"
    rows = read(path)
    titles = [name for name in given.names or (*FAULTS, *audit.names()) if name not in rows]
    for row in () if given.page else finished(titles, given.runs):
        with path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row) + "\n")
    rows = read(path)
    (given.results / "audits.md").write_text(page(rows), encoding="utf-8")
    if given.results == RESULTS:
        sound = [name for name in audit.names() if name in rows]
        wrong = sum(rows[name]["refuted"] for name in sound)
        caught = sum(rows[title]["refuted"] for title in FAULTS if title in rows)
        figures = [
            Figure(f"refuted of {len(sound)} guarantees", wrong, "", "0", wrong == 0),
            Figure(f"refuted of {len(FAULTS)} seeded faults", caught, "", str(len(FAULTS)), caught == len(FAULTS)),
        ]
        write("audits", figures, {"runs": RUNS, "confidence": audit.two_world_audit.CONFIDENCE})
