"""Estimates as they are kept: terms, how far they scatter, and what may be said of them.

Everything here was released and paid for; intervals at any level follow from it at no cost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from types import NoneType
from typing import Any

from tacit.documents.reading import Layout, require_fields
from tacit.documents.signature import plain
from tacit.errors import CertificateError

LARGEST_COVARIANCE = 512
"""Coefficients beyond which the covariance is not kept: it would fill the file."""

_INFINITE = {"inf": math.inf, "-inf": -math.inf}
_OPTIONAL = (float, str, NoneType)
_TERM: Layout = {
    "name": (str,),
    "coef": (float,),
    "std_err": _OPTIONAL,
    "lower": _OPTIONAL,
    "upper": _OPTIONAL,
}
_SCATTER: Layout = dict.fromkeys(("sampling", "privacy", "degrees"), (list,))
_RELIABILITY: Layout = {
    "offered": (bool,),
    "statement": (str, NoneType),
    "terms": (list, NoneType),
    "notes": (list,),
}


@dataclass(frozen=True)
class Term:
    """One coefficient on the user's scale; what was not asked for in the plan is None."""

    name: str
    coef: float
    std_err: float | None = None
    lower: float | None = None
    upper: float | None = None

    def __post_init__(self) -> None:
        """Keep the numbers as floats, or refuse them."""
        for field in ("coef", "std_err", "lower", "upper"):
            value = getattr(self, field)
            object.__setattr__(self, field, value if value is None else float(value))
        given = [value for value in (self.std_err, self.lower, self.upper) if value is not None]
        if not math.isfinite(self.coef) or any(math.isnan(value) for value in given):
            raise CertificateError("a coefficient is not a finite number, or its interval is NaN")
        if self.std_err is not None and self.std_err < 0:
            raise CertificateError("a standard error is negative")
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            raise CertificateError("an interval has its ends reversed")

    @classmethod
    def read(cls, document: object) -> Term:
        """Read back a term of a stored fit."""
        require_fields(document, _TERM, "a term")
        fields: dict[str, Any] = dict(document)  # type: ignore[call-overload]
        return cls(fields.pop("name"), **{name: _read(item) for name, item in fields.items()})


@dataclass(frozen=True)
class Scatter:
    """Variances of the coefficients by where they come from, and their degrees of freedom."""

    sampling: tuple[float, ...]
    privacy: tuple[float, ...]
    degrees: tuple[float, ...]

    @classmethod
    def read(cls, document: object) -> Scatter:
        """Read back the scatter of a stored fit."""
        require_fields(document, _SCATTER, "scatter")
        fields: dict[str, Any] = dict(document)  # type: ignore[call-overload]
        return cls(**{name: tuple(map(_number, items)) for name, items in fields.items()})


@dataclass(frozen=True)
class Reliability:
    """What may be said of the intervals: in a word, of each term, and in sentences.

    `offered` is False where intervals were paid for and would mean nothing.
    """

    offered: bool = True
    statement: str | None = None
    terms: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def read(cls, document: object) -> Reliability:
        """Read back the statements of a stored fit."""
        require_fields(document, _RELIABILITY, "reliability")
        fields: dict[str, Any] = dict(document)  # type: ignore[call-overload]
        texts = [*(fields["terms"] or ()), *fields["notes"]]
        if not all(isinstance(text, str) for text in texts):
            raise CertificateError("a statement of the fit is not text")
        terms = None if fields["terms"] is None else tuple(fields["terms"])
        return cls(fields["offered"], fields["statement"], terms, tuple(fields["notes"]))


@dataclass(frozen=True)
class Estimates:
    """Everything that is kept of the coefficients of a fit.

    Parameters
    ----------
    terms
        One per coefficient.
    scatter
        Where intervals were paid for and are offered; None otherwise.
    covariance
        The lower triangle of the covariance of the coefficients, row by row; None where there is
        no scatter, and beyond `LARGEST_COVARIANCE` coefficients.
    reliability
        What `summary` says of the intervals.
    """

    terms: tuple[Term, ...]
    scatter: Scatter | None = None
    covariance: tuple[tuple[float, ...], ...] | None = None
    reliability: Reliability = Reliability()

    def __post_init__(self) -> None:
        """Refuse parts that are not of one number of coefficients."""
        count, scatter, labels = len(self.terms), self.scatter, self.reliability.terms
        counts = [] if labels is None else [len(labels)]
        if scatter is not None:
            counts += map(len, (scatter.sampling, scatter.privacy, scatter.degrees))
        rows = None if self.covariance is None else [len(row) for row in self.covariance]
        if set(counts) - {count} or rows not in (None, list(range(1, count + 1))):
            raise CertificateError("scatter, covariance or statements are not one for each term")
        if not all(math.isfinite(number) for row in self.covariance or () for number in row):
            raise CertificateError("the covariance of the fit is not finite")

    def document(self) -> dict[str, Any]:
        """The parts of a stored fit, as plain data; infinity is "inf"."""
        return {
            "terms": plain([asdict(term) for term in self.terms]),
            "scatter": None if self.scatter is None else plain(asdict(self.scatter)),
            "covariance": plain(self.covariance),
            "reliability": plain(asdict(self.reliability)),
        }

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Estimates:
        """Read back the parts of a stored fit."""
        scatter, covariance = document["scatter"], document["covariance"]
        return cls(
            tuple(map(Term.read, document["terms"])),
            None if scatter is None else Scatter.read(scatter),
            None if covariance is None else tuple(map(_row, covariance)),
            Reliability.read(document["reliability"]),
        )


def _row(items: object) -> tuple[float, ...]:
    if not isinstance(items, list):
        raise CertificateError("a row of the covariance is not a list")
    return tuple(map(_number, items))


def _read(value: Any) -> Any:
    return value if value is None else _number(value)


def _number(value: Any) -> float:
    if isinstance(value, str) and value in _INFINITE:
        return _INFINITE[value]
    if type(value) is not float:
        raise CertificateError('a number of a term is no float, and neither "inf" nor "-inf"')
    return value


def triangle_of(matrix: Sequence[Sequence[float]]) -> tuple[tuple[float, ...], ...] | None:
    """Return the lower triangle of a covariance where it can be kept, None where it cannot."""
    rows = tuple(tuple(row[: place + 1]) for place, row in enumerate(matrix))
    finite = all(math.isfinite(number) for row in rows for number in row)
    return rows if finite and len(rows) <= LARGEST_COVARIANCE else None
