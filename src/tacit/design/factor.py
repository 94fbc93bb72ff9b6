"""Rules for a cell, and factors: the functions of one cell whose products are the design's columns.

A rule clips a cell and replaces a missing one; without a declared substitute the record is invalid.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from tacit.design.expression_tree import Expression, cells_in
from tacit.documents.canonical_json import quoted
from tacit.errors import BoundsError, SchemaError, SettingError
from tacit.validate import one_of, whole

LARGEST_POWER = 20
LARGEST_DEGREE = 5


@dataclass(frozen=True)
class NumericCell:
    """A number clipped into [lower, upper]; `missing`, if given, replaces a missing one.

    Guarantee: the bounds are finite, lower < upper, and `missing` lies within them.
    """

    lower: float
    upper: float
    missing: float | None = None

    def __post_init__(self) -> None:
        if not -math.inf < self.lower < self.upper < math.inf:
            raise BoundsError("The bounds of a cell must be finite, the lower one first.")
        if self.missing is not None and not self.lower <= self.missing <= self.upper:
            raise BoundsError("What stands for a missing cell must lie within the bounds.")


@dataclass(frozen=True)
class LabelCell:
    """Declared levels that replace a missing label and an undeclared one, if given."""

    missing: str | None = None
    other: str | None = None


Cell = NumericCell | LabelCell


@dataclass(frozen=True)
class Numeric:
    """The value of a numeric column."""

    column: str
    kind: ClassVar[str] = "numeric"
    exponent: ClassVar[int] = 1


@dataclass(frozen=True)
class Indicator:
    """1 where the column equals a declared level, else 0."""

    column: str
    level: str
    kind: ClassVar[str] = "indicator"


@dataclass(frozen=True)
class LevelCode:
    """The index of the column's level among the declared ones: not a feature, but what expressions compare."""

    column: str
    kind: ClassVar[str] = "level-code"


@dataclass(frozen=True)
class Power:
    """A fixed whole power of a numeric column."""

    column: str
    exponent: int
    kind: ClassVar[str] = "power"

    def __post_init__(self) -> None:
        whole("A power", self.exponent, 2, LARGEST_POWER)


# Increasing functions, and what declared bounds must satisfy to lie in their domains.
FUNCTIONS: Mapping[str, tuple[Callable[[float], float], Callable[[float, float], bool], str]] = {
    "log": (math.log, lambda lower, _: lower > 0, "lower > 0"),
    "log1p": (math.log1p, lambda lower, _: lower > -1, "lower > -1"),
    "sqrt": (math.sqrt, lambda lower, _: lower >= 0, "lower >= 0"),
    # e to a larger power leaves float64.
    "exp": (math.exp, lambda _, upper: upper <= 700, "upper <= 700"),
}


@dataclass(frozen=True)
class Transform:
    """log, log1p, sqrt or exp of a numeric column whose declared bounds lie in its domain."""

    column: str
    function: str
    kind: ClassVar[str] = "transform"

    def __post_init__(self) -> None:
        one_of("A transform", self.function, FUNCTIONS)


@dataclass(frozen=True)
class Spline:
    """One function of a B-spline basis, which sums to 1; `knots` begin and end with the bounds."""

    column: str
    knots: tuple[float, ...]
    degree: int
    index: int
    kind: ClassVar[str] = "spline"

    def __post_init__(self) -> None:
        ordered = all(low < high for low, high in itertools.pairwise(self.knots))
        if len(self.knots) < 2 or not ordered or not all(map(math.isfinite, self.knots)):
            raise SettingError("Knots must be finite and increasing, the bounds at their ends.")
        whole("The degree of a spline", self.degree, 1, LARGEST_DEGREE)
        whole("The index of a spline", self.index, 0, self.count - 1)

    @property
    def count(self) -> int:
        """Number of functions in the basis."""
        return len(self.knots) - 1 + self.degree

    @property
    def support(self) -> tuple[float, float]:
        """Where the function is not zero."""
        last = len(self.knots) - 1
        return self.knots[max(self.index - self.degree, 0)], self.knots[min(self.index + 1, last)]


@dataclass(frozen=True)
class Between:
    """1 where low < value <= high, else 0; the ends of the line are infinite."""

    column: str
    low: float
    high: float
    kind: ClassVar[str] = "between"

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise SettingError("An interval of the design is empty.")

    @property
    def support(self) -> tuple[float, float]:
        """Where the function is not zero."""
        return self.low, self.high


@dataclass(frozen=True)
class Missing:
    """1 where the cell of a numeric column was missing and a constant stands for it, else 0."""

    column: str
    kind: ClassVar[str] = "missing"


@dataclass(frozen=True)
class Computed:
    """An expression of one or more columns, whose interval follows from their declared bounds.

    Cells of the expression have the places of `columns`; a column with levels is the index of its level.
    """

    columns: tuple[str, ...]
    expression: Expression
    lower: float
    upper: float
    kind: ClassVar[str] = "computed"

    def __post_init__(self) -> None:
        cells = list(cells_in(self.expression))
        placed = all(0 <= it.place < len(self.columns) and self.columns[it.place] == it.column for it in cells)
        if not self.columns or not placed or {it.column for it in cells} != set(self.columns):
            raise SettingError("The cells of an expression are not those of its columns.")
        if not -math.inf < self.lower < self.upper < math.inf:
            raise BoundsError("The interval of an expression must be finite, the lower end first.")

    @property
    def column(self) -> str:
        """The first of its columns."""
        return self.columns[0]


@dataclass(frozen=True)
class SplineSum:
    """A fixed combination of the functions of a B-spline basis, Σ w_k B_k; `knots` begin and end with the bounds."""

    column: str
    knots: tuple[float, ...]
    degree: int
    weights: tuple[float, ...]
    kind: ClassVar[str] = "spline-sum"

    def __post_init__(self) -> None:
        basis = Spline(self.column, self.knots, self.degree, 0)
        if len(self.weights) != basis.count or not all(map(math.isfinite, self.weights)):
            raise SettingError("A combination of splines has a finite weight for each of them.")


Factor = Numeric | Indicator | LevelCode | Power | Transform | Spline | Between | Missing | Computed | SplineSum


def columns_of(factor: Factor) -> tuple[str, ...]:
    """The columns of the table that a factor reads."""
    return factor.columns if isinstance(factor, Computed) else (factor.column,)


def require_declared(factor: Factor, levels: Mapping[str, Sequence[str]], cells: Mapping[str, Cell]) -> None:
    """Refuse a factor that needs more than is declared of its column."""
    # Indicators leave out the reference level; without levels no undeclared label could be told from it.
    if isinstance(factor, Indicator | LevelCode) and factor.column not in levels:
        raise SchemaError(f"The levels of {quoted(factor.column)} are not declared.")
    if isinstance(factor, Indicator | LevelCode | Numeric):
        return
    if isinstance(factor, Computed):
        for name in factor.columns:
            if name not in levels and not isinstance(cells.get(name), NumericCell):
                raise SchemaError(f"Neither bounds nor levels of {quoted(name)} are declared.")
        return
    cell = cells.get(factor.column)
    if not isinstance(cell, NumericCell):
        raise SchemaError(f"The bounds of {quoted(factor.column)} are not declared.")
    if isinstance(factor, Missing) and cell.missing is None:
        raise SchemaError(f"Nothing is declared for missing cells of {quoted(factor.column)}.")
    if isinstance(factor, Spline | SplineSum) and (factor.knots[0], factor.knots[-1]) != (cell.lower, cell.upper):
        raise SchemaError(f"A spline of {quoted(factor.column)} must reach from bound to bound.")
    if isinstance(factor, Transform):
        require_domain(factor, cell)


def require_domain(factor: Transform, cell: NumericCell) -> None:
    """Refuse bounds that leave the function's domain."""
    _, holds, domain = FUNCTIONS[factor.function]
    if not holds(cell.lower, cell.upper):
        bounds = f"and the declared bounds are {cell.lower:g} and {cell.upper:g}"
        advice = "Declare bounds within its domain (values outside them are clipped)."
        raise BoundsError(f"{factor.function} of {quoted(factor.column)} needs {domain}, {bounds}. {advice}")


def product_bounds(factors: Sequence[Factor], cells: Mapping[str, Cell]) -> tuple[float, float, bool]:
    """Bounds of a product of factors, and whether a record can be outside of its support.

    Factors of different columns vary freely, so their bounds multiply. Powers of one column are added up first; a
    spline or an interval restricts its column to its own support. The bounds include 0 where the product has a support.
    """
    # Expressions and sums of splines are bounded by themselves, whatever else is said of their columns.
    bounds = (1.0, 1.0)
    for factor in factors:
        if isinstance(factor, Computed):
            bounds = _multiplied(bounds, (factor.lower, factor.upper))
        elif isinstance(factor, SplineSum):
            # B-splines are not negative and sum to 1: their combination lies between its weights.
            bounds = _multiplied(bounds, (min(factor.weights), max(factor.weights)))
    factors = [factor for factor in factors if not isinstance(factor, Computed | SplineSum)]
    for name in dict.fromkeys(factor.column for factor in factors):
        if isinstance(cell := cells.get(name), NumericCell):
            own = [factor for factor in factors if factor.column == name]
            bounds = _multiplied(bounds, _column_bounds(own, cell))
    lower, upper = bounds
    partial = any(isinstance(f, Indicator | Spline | Between | Missing) for f in factors)
    return (min(lower, 0.0), max(upper, 0.0), True) if partial else (lower, upper, False)


def _column_bounds(factors: Sequence[Factor], cell: NumericCell) -> tuple[float, float]:
    """Bounds of the product of all factors of one column, on their common support."""
    supports = [factor.support for factor in factors if isinstance(factor, Spline | Between)]
    low = max([cell.lower, *(start for start, _ in supports)])
    high = min([cell.upper, *(stop for _, stop in supports)])
    if not low < high:
        # Disjoint supports: the product is zero everywhere, and any bounds hold.
        low, high = cell.lower, cell.upper
    exponent, bounds = 0, (1.0, 1.0)
    for factor in factors:
        if isinstance(factor, Numeric | Power):
            exponent += factor.exponent
        elif isinstance(factor, Transform):
            value, *_ = FUNCTIONS[factor.function]
            bounds = _multiplied(bounds, (value(low), value(high)))
    ends = [_power(low, exponent), _power(high, exponent)]
    # An even power of an interval around 0 is smallest at 0.
    around = exponent > 0 and exponent % 2 == 0 and low < 0 < high
    return _multiplied(bounds, (0.0 if around else min(ends), max(ends)))


def _multiplied(first: tuple[float, float], second: tuple[float, float]) -> tuple[float, float]:
    corners = [a * b for a in first for b in second]
    return min(corners), max(corners)


def _power(value: float, exponent: int) -> float:
    try:
        return value**exponent
    except OverflowError:
        return math.inf if value > 0 or exponent % 2 == 0 else -math.inf
