"""Coverage of intervals for a new response: `get_prediction(...).response_int()`.

Every replication fits a fresh table and draws fresh records of the same population, rows and
responses together; the share of responses within their intervals is noted, by what is said of them.

    python -m benchmarks.coverage.prediction_study --replications 200 --jobs 2 --out FILE.md
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.coverage.plain_replications import WITHHELD, PlainCell, drawn, fitted
from benchmarks.coverage.populations import POPULATIONS

CHOSEN = (
    "lin4", "factor8_lin", "likert", "exp_err", "logn_het", "gamma_cost", "pois4", "negbin",
    "rare3",
)  # fmt: skip
SIZES, EPSILON, NEW, REPLICATIONS, BATCH = (4000, 20_000), 1.0, 1000, 200, 20
LEVEL = 0.95
FEW = 10
"""Fits from which an error of the coverage is given."""
HEADER = (
    "| population | n | fits | withheld | nominal | conservative | mean width |\n"
    "| --- | --- | --- | --- | --- | --- | --- |"
)


@dataclass(frozen=True)
class Noted:
    """Of one fit: intervals and covered responses by word, and the mean width."""

    words: dict[str, tuple[int, int]]
    width: float


def replicate(cell: PlainCell, replication: int, level: float = LEVEL) -> Noted:
    """Fit once, and look at new responses."""
    population = POPULATIONS[cell.population]
    fit = fitted(population, drawn(cell, replication), cell.epsilon, cell.seed(replication))
    fresh = np.random.default_rng([cell.seed(replication), 1])
    new = population.sample(NEW, fresh)
    found = fit.get_prediction(pa.table(new.table))
    ends, labels = found.response_int(level), np.array(found.response_statements)
    inside = (ends[:, 0] <= new.response) & (new.response <= ends[:, 1])
    words = {str(word): (int((labels == word).sum()), int(inside[labels == word].sum())) for word in np.unique(labels)}
    offered = labels != WITHHELD
    width = float(np.mean((ends[:, 1] - ends[:, 0])[offered])) if offered.any() else float("nan")
    return Noted(words, width)


def run(cell: PlainCell, numbers: Sequence[int], level: float) -> list[Noted]:
    """Several replications, one after the other."""
    return [replicate(cell, number, level) for number in numbers]


def line_of(cell: PlainCell, notes: Sequence[Noted]) -> str:
    """A line of the table."""
    total = {
        word: np.sum([note.words.get(word, (0, 0)) for note in notes], axis=0)
        for word in ("nominal", "conservative", WITHHELD)
    }
    everyone = sum(int(pair[0]) for pair in total.values())

    def cover(word: str) -> str:
        asked, held = total[word]
        if not asked:
            return "–"
        # Responses of one fit depend on one another, so the error is that between fits.
        pairs = np.array([note.words.get(word, (0, 0)) for note in notes])
        fits = int(np.sum(pairs[:, 0] > 0))
        if fits < FEW:
            return f"{held / asked:.3f} (in {fits} of the fits)"
        error = np.sqrt(np.sum((pairs[:, 1] - held / asked * pairs[:, 0]) ** 2)) / asked
        return f"{held / asked:.3f} ± {error:.3f} ({100 * asked / everyone:.0f}%)"

    widths = [note.width for note in notes if np.isfinite(note.width)]
    columns = (
        cell.population,
        f"{cell.n:,}",
        str(len(notes)),
        f"{100 * int(total[WITHHELD][0]) / everyone:.0f}%",
        cover("nominal"),
        cover("conservative"),
        f"{np.mean(widths):.3g}" if widths else "–",
    )
    return f"| {' | '.join(columns)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage.prediction_study")
    parser.add_argument("--populations", default=",".join(CHOSEN))
    parser.add_argument("--n", default=",".join(map(str, SIZES)))
    parser.add_argument("--replications", type=int, default=REPLICATIONS)
    parser.add_argument("--level", type=float, default=LEVEL)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args(arguments)
    cells = [PlainCell(name, int(n), EPSILON) for n in asked.n.split(",") for name in asked.populations.split(",")]
    lines = [HEADER]
    with ProcessPoolExecutor(asked.jobs, mp_context=get_context("spawn")) as pool:
        for cell in cells:
            numbers = range(asked.replications)
            batches = [numbers[first : first + BATCH] for first in range(0, len(numbers), BATCH)]
            done = pool.map(run, repeat(cell), batches, repeat(asked.level))
            lines.append(line_of(cell, [note for notes in done for note in notes]))
            if asked.out is not None:
                asked.out.write_text("\n".join([*lines, ""]), encoding="utf-8")
            sys.stdout.write(f"{lines[-1]}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
