"""Coverage of every cell that was run, and how it stands to what is asked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.coverage.cells import USUAL_BOUND, Cell
from benchmarks.coverage.designs import FAMILIES
from benchmarks.coverage.store import Store
from benchmarks.record import Figure

POOLED = (0.93, 0.97)
EACH = (0.915, 0.985)
WIDEST, DRIFT = 1.1, 0.05
"""Width over that without noise at n = 16000, d = 4, μ = 1; and what public bounds may change."""
SPOKEN_OF = 0.2
"""A coefficient is judged where at least this share of its intervals is called nominal."""

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Measured:
    """What the samples of a cell came to; vectors have an entry a coefficient, intercept first.

    `nominal` is the share of intervals called nominal and `nominal_coverage` how many of those
    cover, which is what is judged; `coverage` is that of all.
    """

    cell: Cell
    samples: int
    coverage: Vector
    nominal: Vector
    nominal_coverage: Vector
    plain_coverage: Vector
    width: Vector
    plain_width: Vector
    full_weight_width: Vector
    bias: Vector
    median_ratio: float
    relative_noise: float
    flagged: float
    seconds: float

    @property
    def pooled(self) -> float:
        """Coverage of all intervals called nominal, or of all where hardly any is."""
        if not self.judged.any():
            return float(self.coverage.mean())
        counts = (self.nominal * self.samples)[self.judged]
        return float(np.average(self.nominal_coverage[self.judged], weights=counts))

    @property
    def judged(self) -> NDArray[np.bool_]:
        """Which coefficients are called nominal often enough to be judged."""
        return self.nominal >= SPOKEN_OF

    @property
    def ratio(self) -> float:
        """Mean width over that of the same estimator without noise."""
        return float(np.mean(self.width / self.plain_width))

    @property
    def full_ratio(self) -> float:
        """Mean width over that of the unweighted estimator without noise."""
        return float(np.mean(self.width / self.full_weight_width))

    @property
    def error(self) -> float:
        """Monte Carlo deviation of one coefficient's coverage."""
        return math.sqrt(0.95 * 0.05 / self.samples)

    def by_chance(self) -> float:
        """How many coefficients would be missed if each interval covered with 95% exactly."""
        counts = np.rint(self.nominal[self.judged] * self.samples)
        covered = stats.binom(counts, 0.95)
        below, above = np.ceil(EACH[0] * counts) - 1, np.floor(EACH[1] * counts)
        return float(np.sum(covered.cdf(below) + covered.sf(above)))

    def misses(self) -> list[str]:
        """What is asked and not reached, in words."""
        if not self.judged.any():
            return []
        found = []
        if not POOLED[0] <= self.pooled <= POOLED[1]:
            found.append(f"pooled {self.pooled:.3f}")
        for place in np.flatnonzero(self.judged):
            share = self.nominal_coverage[place]
            if not EACH[0] <= share <= EACH[1]:
                name = "intercept" if place == 0 else f"x{place - 1}"
                found.append(f"{name} {share:.3f}")
        return found


def measured(store: Store, cells: Iterable[Cell]) -> list[Measured]:
    """Cells that have samples."""
    return [_gathered(cell, list(store.batches(cell).values())) for cell in cells if store.batches(cell)]


def figures(found: Sequence[Measured]) -> list[Figure]:
    """Counts of what was missed, and widths, against what is asked."""
    grid = [each for each in found if each.cell.bound == USUAL_BOUND]
    judged = [each for each in grid if each.judged.any()]
    misses = [miss for each in judged for miss in each.misses()]
    pooled = sum(miss.startswith("pooled") for miss in misses)
    singles = sum(int(each.judged.sum()) for each in judged)
    single = len(misses) - pooled
    chance = sum(each.by_chance() for each in judged)
    most = chance + 3 * math.sqrt(chance)
    found_figures = [
        Figure(f"pooled values missed of {len(judged)} cells", pooled, "", "0", pooled == 0),
        Figure(
            f"coefficients missed of {singles}",
            single,
            "",
            f"0, or {chance:.0f} by chance at so few samples",
            single <= most,
        ),
    ]
    for family in FAMILIES:
        own = {
            each.cell.bound: each
            for each in found
            if (each.cell.family, each.cell.scenario) == (family, "clean")
            and (each.cell.n, each.cell.d, each.cell.mu) == (16000, 4, 1.0)
        }
        usual = own.get(USUAL_BOUND)
        if usual is None:
            continue
        ratio = usual.full_ratio
        drift = max(abs(float(np.mean(each.width / usual.width)) - 1) for each in own.values())
        found_figures += [
            Figure(f"width, {family}", ratio, "×", f"at most {WIDEST:g}", ratio <= WIDEST),
            Figure(
                f"width under bounds from ±{min(own):g} to ±{max(own):g}, {family}",
                100 * drift,
                "% off",
                f"within {DRIFT:.0%}",
                drift <= DRIFT,
            ),
        ]
    return found_figures


def _gathered(cell: Cell, rows: list[dict[str, Any]]) -> Measured:
    sizes = np.array([row["samples"] for row in rows], dtype=float)
    samples = int(sizes.sum())

    def total(name: str) -> Vector:
        return np.asarray(np.sum([row[name] for row in rows], axis=0), dtype=float)

    def mean(name: str) -> Any:
        return np.average([row[name] for row in rows], axis=0, weights=sizes)

    nominal = total("nominal")
    return Measured(
        cell=cell,
        samples=samples,
        coverage=total("covered") / samples,
        nominal=nominal / samples,
        nominal_coverage=total("nominal_covered") / np.maximum(nominal, 1.0),
        plain_coverage=total("plain_covered") / samples,
        width=mean("width"),
        plain_width=mean("plain_width"),
        full_weight_width=mean("full_weight_width"),
        bias=mean("z"),
        median_ratio=float(mean("median_ratio")),
        relative_noise=float(mean("relative_noise")),
        flagged=float(total("flagged")) / samples,
        seconds=float(mean("seconds")),
    )
