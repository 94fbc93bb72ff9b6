"""Numbers with their errors: standard errors, p-values and intervals of one or several at once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tacit.display import Displayed, Shown
from tacit.errors import SettingError
from tacit.inference.summary_rendering import lines_table
from tacit.solvers.coordinates import Matrix, Vector
from tacit.validate import between, one_of

SIMULTANEOUS = ("bonferroni", "scheffe")
SOURCES = ("total", "sampling")
"""Of variances: sampling and privacy noise together, or sampling alone."""


@dataclass(frozen=True)
class Line:
    """One coefficient; None where no interval was paid for, or none is offered."""

    name: str
    coef: float
    std_err: float | None = None
    statistic: float | None = None
    pvalue: float | None = None
    lower: float | None = None
    upper: float | None = None
    privacy_share: float | None = None
    statement: str | None = None
    degrees: float | None = None
    """Degrees of freedom of its test; infinite for a normal law."""


@dataclass(frozen=True, repr=False)
class Estimated(Displayed):
    """Estimates by name, their variance by source, and degrees of freedom (∞: normal law).

    `null` are the values they are tested against, `statements` what may be said of each interval,
    and `dimension` is the number of coefficients they are combinations of.
    """

    names: tuple[str, ...]
    values: Vector
    sampling: Vector
    privacy: Vector
    degrees: Vector
    null: Vector
    statements: tuple[str, ...]
    dimension: int

    @property
    def std_errors(self) -> Vector:
        """Standard errors, sampling and privacy noise together."""
        return np.sqrt(self.sampling + self.privacy)

    @property
    def statistics(self) -> Vector:
        """Distances from the null in standard errors; infinite where there is no error at all."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = (self.values - self.null) / self.std_errors
        return np.where(self.values == self.null, 0.0, ratios)

    @property
    def pvalues(self) -> Vector:
        """Two-sided, by the degrees of freedom that the intervals have."""
        return np.asarray(2 * special.stdtr(self.degrees, -np.abs(self.statistics)))

    @property
    def privacy_share(self) -> Vector:
        """Share of the variance that is due to the noise added."""
        total = self.sampling + self.privacy
        with np.errstate(invalid="ignore"):
            shares = self.privacy / np.where(total > 0, total, 1.0)
        return np.where(np.isfinite(total), shares, 1.0)

    @property
    def offered(self) -> list[bool]:
        """Which have an interval: it is not withheld, and the estimate is a number."""
        known = (~np.isnan(self.values)).tolist()
        return [word != "withheld" and there for word, there in zip(self.statements, known, strict=True)]

    def in_units(self, units: Mapping[str, tuple[float, str]]) -> Estimated:
        """Estimates of the effects of so many units, under other names: values times c, variances times c²."""
        factors, names = factors_of(units, self.names)
        values, null = self.values * factors, self.null * factors
        sampling, privacy = self.sampling * factors**2, self.privacy * factors**2
        return replace(self, names=names, values=values, null=null, sampling=sampling, privacy=privacy)

    def rows(self, count: int) -> Estimated:
        """The first estimates alone."""
        parts = {field.name: getattr(self, field.name) for field in fields(self)}
        short = {name: part[:count] for name, part in parts.items() if name != "dimension"}
        return replace(self, **short)

    def conf_int(
        self, level: float = 0.95, which: str = "total", simultaneous: bool | str = False
    ) -> NDArray[np.float64]:
        """Ends of the intervals, columns lower and upper; see `ResultsMixin.conf_int`."""
        one_of("which", which, SOURCES)
        variance = self.sampling + (self.privacy if which == "total" else 0.0)
        half = self.quantiles(level, simultaneous) * np.sqrt(variance)
        return np.column_stack([self.values - half, self.values + half])

    def lines(self, ends: Matrix, *, exponentiate: bool = False) -> tuple[Line, ...]:
        """A line for each estimate with the ends of its interval, as it is or as a ratio."""
        shown, errors = self.values, self.std_errors
        if exponentiate:
            shown, ends = ratios(shown), ratios(ends)
            errors = shown * errors
        numbers = (shown, errors, self.statistics, self.pvalues, *ends.T, self.privacy_share)
        columns = (self.names, *(column.tolist() for column in numbers), self.statements, self.degrees.tolist())
        lines = tuple(Line(*row) for row in zip(*columns, strict=True))
        return tuple(
            Line(line.name, line.coef, statement=line.statement) if line.statement == "withheld" else line
            for line in lines
        )

    def summary_frame(self, level: float = 0.95, *, exponentiate: bool = False) -> Any:
        """Estimates, errors, tests and interval ends; pandas', or a dict of columns without it.

        With `exponentiate` they are ratios, where coefficients are log odds, log rates or log hazards.
        """
        return lines_frame(self.lines(self.conf_int(level), exponentiate=exponentiate))

    def __str__(self) -> str:
        """Estimates, tests and 95% intervals as plain text."""
        return lines_table(self.lines(self.conf_int())).text()

    def _shown(self) -> Shown:
        return Shown(table=lines_table(self.lines(self.conf_int())))

    def quantiles(self, level: float, simultaneous: bool | str = False) -> Vector:
        """Standard errors to either side of an estimate."""
        between("level", level, 0, 1)
        method = simultaneous_method(simultaneous)
        # What is withheld has no interval that could fail, and does not widen the others.
        count = max(1, sum(self.offered))
        if method == "scheffe":
            widest = min(count, self.dimension)
            return np.array([math.sqrt(joint_quantile(level, widest, nu)) for nu in self.degrees.tolist()])
        tail = (1 - level) / 2
        if method == "bonferroni":
            tail /= count
        return np.asarray(-special.stdtrit(self.degrees, tail))


def lines_frame(lines: Sequence[Line]) -> Any:
    """Lines as a table of pandas', or as a dict of columns where that is not installed."""
    names = [field.name for field in fields(Line) if field.name != "name"]
    columns = {name: [getattr(line, name) for line in lines] for name in names}
    shown = {name: column for name, column in columns.items() if any(it is not None for it in column)}
    return frame_of(shown, [line.name for line in lines])


def ratios(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Exponentials of log odds or log rates; infinite beyond the range of floats."""
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(values))


def factors_of(units: Mapping[str, tuple[float, str]], names: Sequence[str]) -> tuple[Vector, tuple[str, ...]]:
    """Factor and name of each term; 1 and its own name where it has no units."""
    pairs = [units.get(name, (1.0, name)) for name in names]
    return np.array([factor for factor, _ in pairs]), tuple(label for _, label in pairs)


def series_of(values: Sequence[float], index: Sequence[str]) -> Any:
    """A pandas Series by name; without pandas a dict."""
    try:
        import pandas as pd
    except ImportError:
        return dict(zip(index, values, strict=True))
    return pd.Series(list(values), index=list(index), dtype=float)


def interval_frame(ends: NDArray[np.float64], index: Sequence[str]) -> Any:
    """Interval ends as a pandas DataFrame with columns lower and upper; without pandas as an array."""
    try:
        import pandas as pd
    except ImportError:
        return ends
    return pd.DataFrame(ends, index=list(index), columns=["lower", "upper"])


def frame_of(columns: Mapping[str, Any], index: Sequence[str] | None = None) -> Any:
    """A pandas DataFrame; without pandas a dict of columns, the index among them as "term"."""
    try:
        import pandas as pd
    except ImportError:
        plain = {name: np.asarray(column).tolist() for name, column in columns.items()}
        return plain if index is None else {"term": list(index), **plain}
    return pd.DataFrame(dict(columns), index=None if index is None else list(index))


def simultaneous_method(asked: bool | str) -> str | None:
    """Return the method by which all intervals hold at once, or None where each holds alone."""
    if asked is True:
        return SIMULTANEOUS[0]
    if asked is False:
        return None
    if asked not in SIMULTANEOUS:
        known = " or ".join(f'"{name}"' for name in SIMULTANEOUS)
        raise SettingError(f"simultaneous must be True, False, {known}; got {asked!r}.")
    return str(asked)


def tail_probability(statistic: float, count: int, degrees: float) -> float:
    """P(F(q, ν) > W / q), which for infinite ν is that of χ²(q) > W."""
    if math.isinf(degrees):
        return float(special.chdtrc(count, statistic))
    return float(special.fdtrc(count, degrees, statistic / count))


def joint_quantile(level: float, count: int, degrees: float) -> float:
    """The square q F⁻¹(level) of q estimates; its root covers all their combinations at once (Scheffé)."""
    if math.isinf(degrees):
        return float(special.chdtri(count, 1 - level))
    return count * float(special.fdtri(count, degrees, level))
