"""What a forecast assumes of a table that nobody has read: sizes of effects, spreads of columns, shares of levels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tacit.design.design import Column, Design
from tacit.design.factor import Spline, SplineSum, columns_of
from tacit.design.response import Binary, Classes, Count, Positive
from tacit.display import Displayed
from tacit.errors import SettingError
from tacit.validate import between, positive, whole

SINGLE = ("spread", "effect", "share", "mean", "explained", "response_spread")
"""Assumptions that are one number."""
UNIFORM = 0.58
"""Spread of a column that is uniform within its bounds."""
FEW, POSITIVE_RANGE = 5.0, 10.0
"""A count is assumed to be at most its declared maximum over this, and a positive response to be so much over that."""
WHOLE = 0.01
"""Shares that add up to 1 within this are shares."""
ASYMMETRIC = 1e-6
"""Relative difference from its transpose at which a matrix is no matrix of second moments."""


@dataclass(frozen=True)
class Assumptions(Displayed):
    """Public guesses about a table; each can be replaced by what is known.

    Parameters
    ----------
    spread
        Deviation of a numeric column, in half its declared range. The knots of a spline are taken for quantiles of its
        column, so that as many records lie between each two.
    effect
        Deviation of the true linear predictor: log odds of labels, log rates of counts (half of it).
    share
        Share of the second label; of several labels all are equally likely.
    mean
        Mean of a count or of a positive response, as it stands in the column. By default 1 for counts (or a fifth of
        the declared maximum, if that is less), and a tenth of the declared maximum for amounts.
    explained
        R² of a numeric response.
    response_spread
        Deviation of a numeric response, in half its declared range.
    columns
        Mean and deviation of single numeric columns, in their own units: ``{"age": (55, 20)}``.
    levels
        Shares of the levels of factors, in their declared order: ``{"ward": (0.9, 0.09, 0.01)}``. By default the k-th
        level has a share ∝ 1/k.
    moments
        Mean second moments of (1, columns, response) in the user's units, if they have been released: a matrix of the
        design's columns and two more rows, from a noised release or public knowledge. It replaces all of the above.
    seed
        Of the simulated rows and noise. A forecast is a function of its arguments.
    """

    spread: float = 0.3
    effect: float = 1.5
    share: float = 0.3
    explained: float = 0.5
    response_spread: float = 0.3
    moments: NDArray[np.float64] | None = None
    seed: int = 0
    mean: float | None = None
    columns: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    levels: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("spread", "effect", "response_spread"):
            positive(name, getattr(self, name))
        for name in ("share", "explained"):
            between(name, getattr(self, name), 0, 1)
        if self.mean is not None:
            positive("mean", self.mean)
        self._check_columns()
        whole("seed", self.seed, 0)
        if self.moments is not None:
            found = np.asarray(self.moments, dtype=np.float64)
            if found.ndim != 2 or found.shape[0] != found.shape[1] or not np.isfinite(found).all():
                raise SettingError("moments must be a square matrix of finite numbers.")
            if np.abs(found - found.T).max() > ASYMMETRIC * np.abs(found).max():
                raise SettingError("moments must be symmetric: means of products of (1, columns, response).")
            object.__setattr__(self, "moments", (found + found.T) / 2)

    def _check_columns(self) -> None:
        for name, pair in self.columns.items():
            if len(pair) != 2 or not all(map(math.isfinite, pair)) or pair[1] <= 0:
                raise SettingError(
                    f"Of a column its mean and its deviation are assumed; got {tuple(pair)} of {name!r}."
                )
        for name, shares in self.levels.items():
            if not shares or not all(0 < share < math.inf for share in shares):
                raise SettingError(f"Shares of levels are above 0; got {tuple(shares)} of {name!r}.")

    def moments_of(self, design: Design) -> NDArray[np.float64] | None:
        """Released second moments, which must be those of this design."""
        size = len(design.columns) + 2
        if self.moments is not None and len(self.moments) != size:
            asked = f"(1, {len(design.columns)} columns, response)"
            raise SettingError(f"moments must be {size} × {size}, of {asked}; got {len(self.moments)} rows.")
        return self.moments

    def checked_for(self, design: Design) -> Assumptions:
        """These, if every column and level that is named is one of the design."""
        offset = design.attached.offset
        numbers = {name for column in (design.inputs or design.columns) for name in _read_by(column)}
        numbers = (numbers | set(() if offset is None else offset.columns)) - set(design.levels)
        for name in self.columns:
            if name not in numbers:
                raise SettingError(f"{name!r} is no numeric column of the model; there are {_listed(numbers)}.")
        for name, shares in self.levels.items():
            if name not in design.levels:
                raise SettingError(f"{name!r} is no factor of the model; there are {_listed(design.levels)}.")
            if len(shares) != (count := len(design.levels[name])):
                raise SettingError(f"{name!r} has {count} levels, and so many shares are needed; got {len(shares)}.")
        return self

    def mean_of(self, response: Count | Positive) -> float:
        """The mean of a count or an amount."""
        if self.mean is not None:
            if not self.mean < response.upper:
                raise SettingError(
                    f"The mean must be below the declared maximum, {response.upper:g}; got {self.mean:g}."
                )
            return self.mean
        return min(1.0, response.upper / FEW) if isinstance(response, Count) else response.upper / POSITIVE_RANGE

    def others(self, design: Design) -> list[Assumptions]:
        """Other guesses of what was left at its default, each as likely: effects and rates of events far smaller."""
        if self.moments is not None:
            return []
        found, own = [], design.response
        if isinstance(own, Binary | Classes | Count | Positive) and self.effect == Assumptions.effect:
            found.append(replace(self, effect=self.effect / 3))
        if isinstance(own, Binary) and self.share == Assumptions.share:
            found += [replace(self, share=self.share / 10 ** (power / 2)) for power in (1, 2, 3)]
        if isinstance(own, Count) and self.mean is None:
            found += [replace(self, mean=self.mean_of(own) / 10 ** (power / 2)) for power in (1, 2)]
        if not self.columns and self.spread == Assumptions.spread:
            found.append(replace(self, spread=UNIFORM))
        return found

    def of(self, design: Design) -> str:
        """Say what the forecast of a design rests on, and nothing else."""
        if self.moments is not None:
            return str(self)
        parts = [f"numeric columns have a deviation of {self.spread:g} half ranges"]
        parts += [
            f"{name} a mean of {mean:g} and a deviation of {spread:g}" for name, (mean, spread) in self.columns.items()
        ]
        if self.knots_of(design):
            parts.append("knots of splines lie at quantiles")
        for name in design.levels:
            if name in self.levels:
                total = sum(self.levels[name])
                parts.append(f"{name} shares of {', '.join(f'{share / total:.3g}' for share in self.levels[name])}")
        if set(design.levels) - set(self.levels):
            parts.append("the k-th level of a factor has a share ∝ 1/k")
        match design.response:
            case Binary(column=column, classes=classes):
                parts += [
                    f"log odds have a deviation of {self.effect:g}",
                    f"{column} = {classes[1]} has a share of {self.share:.3g}",
                ]
            case Classes():
                parts += [f"log odds have a deviation of {self.effect:g}", "all classes are equally likely"]
            case Count() | Positive() as own:
                parts.append(f"log rates have a deviation of {self.effect / 2:g}")
                parts.append(f"{own.column} a mean of {self.mean_of(own):.3g}")
            case _:
                parts.append(f"the model explains R² = {self.explained:g}")
        return ", ".join(parts)

    def knots_of(self, design: Design) -> dict[str, tuple[float, ...]]:
        """Bounds and knots of the columns that are in a spline, unless their spread is given."""
        found: dict[str, tuple[float, ...]] = {}
        for factor in (factor for column in design.columns for factor in column.factors):
            if isinstance(factor, Spline | SplineSum) and factor.column not in self.columns:
                found.setdefault(factor.column, factor.knots)
        return found

    def __str__(self) -> str:
        """Say what was assumed, whatever the model."""
        if self.moments is not None:
            return "the table has the second moments given"
        return (
            f"columns have a deviation of {self.spread:g} half ranges, the linear predictor one of {self.effect:g}, "
            f"labels a share of {self.share:g}, numeric responses an R² of {self.explained:g}"
        )


def assumptions_of(words: Sequence[str]) -> Assumptions:
    """Read "share=0.01", "mean=0.4", "age=55,20" (mean, deviation) and "ward=0.9,0.09,0.01" (shares of levels).

    A name is one of `SINGLE`, or a column: two numbers without a total of 1 are a mean and a deviation.
    """
    settings: dict[str, float] = {}
    columns: dict[str, tuple[float, float]] = {}
    levels: dict[str, tuple[float, ...]] = {}
    for text in words:
        name, _, given = text.rpartition("=")
        name = name.strip()
        try:
            numbers = tuple(float(part) for part in given.split(","))
        except ValueError:
            numbers = ()
        if not name or not numbers or (name in SINGLE) != (len(numbers) == 1):
            raise SettingError(
                f"An assumption is NAME=NUMBER with a NAME of {', '.join(SINGLE)}; COLUMN=MEAN,DEVIATION; or "
                f"FACTOR=SHARE,SHARE,…, whose shares add up to 1; got {text!r}."
            )
        if name in SINGLE:
            settings[name] = numbers[0]
        elif abs(sum(numbers) - 1) <= WHOLE:
            levels[name] = numbers
        elif len(numbers) == 2:
            columns[name] = (numbers[0], numbers[1])
        else:
            raise SettingError(f"Shares of the levels of {name!r} must add up to 1; they add up to {sum(numbers):g}.")
    return Assumptions(columns=columns, levels=levels, **settings)  # type: ignore[arg-type]


def _read_by(column: Column) -> set[str]:
    return {name for factor in column.factors for name in columns_of(factor)}


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
