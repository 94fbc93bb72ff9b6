"""Counts over the replications of a cell, which can be added up and kept as one line."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.coverage.populations import POPULATIONS

FULL_WIDTH = 2 * 1.959963984540054
"""Width of a normal 95% interval in standard errors."""
BINS = 100
"""Ratios of widths are counted in classes of 1%."""


@dataclass
class LabelCount:
    """Intervals of one label: by coefficient, and moments over fits, whose intervals are dependent.

    `cases` and `covered` have a number for each coefficient. `fits` are the fits with at least one;
    `squares` sums (cases)², `products` cases · covered and `hits` (covered)² over fits.
    """

    cases: list[int]
    covered: list[int]
    null_cases: int = 0
    null_rejected: int = 0
    fits: int = 0
    squares: int = 0
    products: int = 0
    hits: int = 0

    def add(self, other: LabelCount) -> None:
        """Count the other's cases too."""
        self.cases = [a + b for a, b in zip(self.cases, other.cases, strict=True)]
        self.covered = [a + b for a, b in zip(self.covered, other.covered, strict=True)]
        for name in ("null_cases", "null_rejected", "fits", "squares", "products", "hits"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def total(self) -> int:
        """Number of intervals."""
        return sum(self.cases)

    @property
    def coverage(self) -> float:
        """Share of the intervals that cover."""
        return sum(self.covered) / self.total if self.total else math.nan

    @property
    def effective(self) -> float:
        """So many independent intervals would tell as much: those of one fit are dependent."""
        share = self.coverage
        if not self.total or not 0.0 < share < 1.0:
            return float(self.fits)
        spread = self.hits - 2 * share * self.products + share**2 * self.squares
        return min(self.total, self.total**2 * share * (1 - share) / max(spread, 1e-9))


@dataclass
class Tally:
    """What the replications of a cell came to.

    `distances` sums, by coefficient, how far estimates are from those without noise on the same
    records, in standard errors (HC0); `compared` counts them.
    """

    replications: int = 0
    labels: dict[str, LabelCount] = field(default_factory=dict)
    joint: dict[str, list[int]] = field(default_factory=dict)
    joint_df: int = 0
    widths: dict[str, int] = field(default_factory=dict)
    distances: list[float] = field(default_factory=list)
    compared: list[int] = field(default_factory=list)
    seconds: float = 0.0
    d: int = 0

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Tally:
        """Counts of one replication."""
        population = POPULATIONS[row["population"]]
        found = cls(1, seconds=row["seconds"], d=row["d"], joint_df=row["joint_df"])
        nulls = [name in population.nulls for name in population.names]
        for label in dict.fromkeys(row["label"]):
            found.labels[label] = _label_count(row, label, nulls)
        if row["joint"] is not None:
            found.joint[row["joint_label"]] = [1, int(row["joint"] < 0.05)]
        for label, lower, upper, hc0 in zip(row["label"], row["lower"], row["upper"], row["hc0"], strict=True):
            if label != "withheld" and hc0:
                ratio = max((upper - lower) / hc0, 1e-6)
                place = str(round(BINS * math.log(ratio)))
                found.widths[place] = found.widths.get(place, 0) + 1
        for private, plain, hc0 in zip(row["estimate"], row["plain"], row["hc0"], strict=True):
            known = bool(hc0) and private is not None and plain is not None
            found.distances.append(abs(private - plain) * FULL_WIDTH / hc0 if known else 0.0)
            found.compared.append(int(known))
        return found

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> Tally:
        """Counts that were kept as a line."""
        labels = {label: LabelCount(**each) for label, each in kept["labels"].items()}
        return cls(**{**kept, "labels": labels})

    def kept(self) -> dict[str, Any]:
        """The counts as JSON knows them."""
        distances = [float(f"{value:.5g}") for value in self.distances]
        return {**asdict(self), "seconds": round(self.seconds, 3), "distances": distances}

    def add(self, other: Tally) -> None:
        """Count the other's replications too."""
        self.replications += other.replications
        self.seconds += other.seconds
        self.d, self.joint_df = other.d, other.joint_df
        self.distances = _sums(self.distances, other.distances)
        self.compared = _sums(self.compared, other.compared)
        for label, count in other.labels.items():
            empty = LabelCount([0] * len(count.cases), [0] * len(count.cases))
            self.labels.setdefault(label, empty).add(count)
        for label, (cases, rejected) in other.joint.items():
            so_far = self.joint.get(label, [0, 0])
            self.joint[label] = [so_far[0] + cases, so_far[1] + rejected]
        for place, cases in other.widths.items():
            self.widths[place] = self.widths.get(place, 0) + cases

    @property
    def intervals(self) -> int:
        """Number of coefficients over all replications."""
        return sum(count.total for count in self.labels.values())

    def share(self, label: str) -> float:
        """Share of the coefficients with a label."""
        count = self.labels.get(label)
        return count.total / self.intervals if count and self.intervals else 0.0

    @property
    def distance(self) -> float:
        """Mean distance from the estimates without noise, in standard errors."""
        means = [mean for mean in self.mean_distances if not math.isnan(mean)]
        return sum(means) / len(means) if means else math.nan

    @property
    def mean_distances(self) -> list[float]:
        """Mean distance of each coefficient; NaN where there is nothing to compare with."""
        both = zip(self.distances, self.compared, strict=True)
        return [total / count if count else math.nan for total, count in both]

    @property
    def width(self) -> float:
        """Median width over HC0 of what is offered."""
        places = sorted((int(place), cases) for place, cases in self.widths.items())
        half, seen = sum(cases for _, cases in places) / 2, 0
        for place, cases in places:
            seen += cases
            if seen >= half:
                return math.exp(place / BINS)
        return math.nan


def _sums(first: list[Any], second: list[Any]) -> list[Any]:
    """Sums number by number; an empty list is nothing yet."""
    if not first or not second:
        return [*(first or second)]
    return [a + b for a, b in zip(first, second, strict=True)]


def _label_count(row: Mapping[str, Any], label: str, nulls: Iterable[bool]) -> LabelCount:
    cases = [int(each == label) for each in row["label"]]
    covered = [
        int(has and lower is not None and lower <= target <= upper)
        for has, lower, upper, target in zip(cases, row["lower"], row["upper"], row["target"], strict=True)
    ]
    tests = [
        value
        for has, value, null in zip(cases, row["pvalue"], nulls, strict=True)
        if has and null and value is not None
    ]
    count, hits = sum(cases), sum(covered)
    return LabelCount(
        cases, covered, len(tests), sum(value < 0.05 for value in tests), 1, count**2, count * hits, hits**2
    )


def summed(tallies: Iterable[Tally]) -> Tally:
    """The sum of several."""
    found = Tally()
    for each in tallies:
        found.add(each)
    return found
