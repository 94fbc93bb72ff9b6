"""Coefficients as a fit file stores them: released, with their variances and their reliability."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.documents.canonical_json import canonical, plain, require
from tacit.documents.dataclass_json import from_plain, to_plain

LARGEST_COVARIANCE = 512
"""Coefficients beyond which the covariance is not stored: it would fill the file."""


@dataclass(frozen=True)
class Term:
    """One coefficient on the user's scale; what was not asked for in the plan is None."""

    name: str
    coef: float
    std_err: float | None = None
    lower: float | None = None
    upper: float | None = None

    def __post_init__(self) -> None:
        for field in ("coef", "std_err", "lower", "upper"):
            value = getattr(self, field)
            object.__setattr__(self, field, value if value is None else float(value))
        given = [value for value in (self.std_err, self.lower, self.upper) if value is not None]
        numbers = math.isfinite(self.coef) and not any(map(math.isnan, given))
        require(numbers, "a coefficient is not a finite number, or its interval is NaN")
        require(self.std_err is None or self.std_err >= 0, "a standard error is negative")
        ordered = self.lower is None or self.upper is None or self.lower <= self.upper
        require(ordered, "an interval has its ends reversed")


@dataclass(frozen=True)
class Scatter:
    """Variances of the coefficients by where they come from, and their degrees of freedom."""

    sampling: tuple[float, ...]
    privacy: tuple[float, ...]
    degrees: tuple[float, ...]


@dataclass(frozen=True)
class Reliability:
    """What may be said of the intervals; not `offered` where they would mean nothing."""

    offered: bool = True
    statement: str | None = None
    terms: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Estimates:
    """Everything that is stored of the coefficients of a fit.

    `scatter` is None unless intervals were paid for and are offered. `covariance` is the lower
    triangle, row by row; None without scatter and beyond `LARGEST_COVARIANCE` coefficients.
    """

    terms: tuple[Term, ...]
    scatter: Scatter | None = None
    covariance: tuple[tuple[float, ...], ...] | None = None
    reliability: Reliability = Reliability()

    def __post_init__(self) -> None:
        count, scatter, labels = len(self.terms), self.scatter, self.reliability.terms
        counts = [] if labels is None else [len(labels)]
        if scatter is not None:
            counts += map(len, (scatter.sampling, scatter.privacy, scatter.degrees))
        rows = None if self.covariance is None else [len(row) for row in self.covariance]
        complete = set(counts) <= {count} and rows in (None, list(range(1, count + 1)))
        require(complete, "scatter, covariance or statements are not one for each term")
        require(_is_finite(self.covariance or ()), "the covariance of the fit is not finite")

    def document(self) -> dict[str, Any]:
        """The parts of a fit file, as plain data; infinity is "inf"."""
        return dict(plain(to_plain(self)))

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Estimates:
        """Read back the parts of a fit file, spelled exactly as `document` spells them."""
        estimates = from_plain(cls, dict(document), "the fit")
        numbers = () if estimates.scatter is None else vars(estimates.scatter).values()
        nan = any(math.isnan(number) for row in numbers for number in row)
        require(not nan, "a variance of the fit is not a number")
        require(canonical(estimates.document()) == canonical(document), "a number of the fit is not spelled as a float")
        return estimates


def triangle_of(matrix: Sequence[Sequence[float]]) -> tuple[tuple[float, ...], ...] | None:
    """Return the lower triangle of a covariance that can be stored, None of any other."""
    rows = tuple(tuple(row[: place + 1]) for place, row in enumerate(matrix))
    return rows if _is_finite(rows) and len(rows) <= LARGEST_COVARIANCE else None


def _is_finite(rows: Sequence[Sequence[float]]) -> bool:
    return all(math.isfinite(number) for row in rows for number in row)
