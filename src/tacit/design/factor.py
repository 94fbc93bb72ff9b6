"""Factors: the functions of one cell whose products are the columns of a design.

Each is public and stateless: its value depends on one cell and on declared facts. How far a product
of factors reaches follows from the declared bounds of their columns.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from tacit.design.cell_rules import Cell, NumericCell
from tacit.documents.quoting import quoted
from tacit.errors import BoundsError, SchemaError, SettingError

LARGEST_POWER = 20
LARGEST_DEGREE = 5
LARGEST_EXPONENT = 700.0
"""e to a larger power leaves float64."""


@dataclass(frozen=True)
class Numeric:
    """The value of a numeric column."""

    column: str


@dataclass(frozen=True)
class Indicator:
    """1 where the column equals a declared level, else 0."""

    column: str
    level: str


@dataclass(frozen=True)
class Power:
    """A fixed whole power of a numeric column."""

    column: str
    exponent: int

    def __post_init__(self) -> None:
        """Refuse powers that are none."""
        if type(self.exponent) is not int or not 2 <= self.exponent <= LARGEST_POWER:
            raise SettingError(f"A power must be a whole number from 2 to {LARGEST_POWER}.")


class _Function(NamedTuple):
    """An increasing function, and what declared bounds must satisfy to lie in its domain."""

    value: Callable[[float], float]
    holds: Callable[[float, float], bool]
    domain: str


FUNCTIONS: Mapping[str, _Function] = {
    "log": _Function(math.log, lambda lower, _: lower > 0, "lower > 0"),
    "log1p": _Function(math.log1p, lambda lower, _: lower > -1, "lower > -1"),
    "sqrt": _Function(math.sqrt, lambda lower, _: lower >= 0, "lower >= 0"),
    "exp": _Function(
        math.exp, lambda _, upper: upper <= LARGEST_EXPONENT, f"upper <= {LARGEST_EXPONENT:g}"
    ),
}


@dataclass(frozen=True)
class Transform:
    """log, log1p, sqrt or exp of a numeric column whose declared bounds lie in its domain."""

    column: str
    function: str

    def __post_init__(self) -> None:
        """Refuse a function of another name."""
        if self.function not in FUNCTIONS:
            raise SettingError(f"A transform must be one of {', '.join(FUNCTIONS)}.")


@dataclass(frozen=True)
class Spline:
    """One function of a B-spline basis; `knots` begin and end with the declared bounds.

    The functions of a basis are not negative and sum to 1, so together they add at most 1 to the
    squared norm of a record.
    """

    column: str
    knots: tuple[float, ...]
    degree: int
    index: int

    def __post_init__(self) -> None:
        """Refuse what is no basis."""
        ordered = all(low < high for low, high in itertools.pairwise(self.knots))
        if len(self.knots) < 2 or not ordered or not all(map(math.isfinite, self.knots)):
            raise SettingError("Knots must be finite and increasing, the bounds at their ends.")
        if type(self.degree) is not int or not 1 <= self.degree <= LARGEST_DEGREE:
            raise SettingError(
                f"The degree of a spline must be a whole number from 1 to {LARGEST_DEGREE}."
            )
        if type(self.index) is not int or not 0 <= self.index < self.count:
            raise SettingError("A spline of the design is not in its basis.")

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

    def __post_init__(self) -> None:
        """Refuse an empty interval."""
        if not self.low < self.high:
            raise SettingError("An interval of the design is empty.")


@dataclass(frozen=True)
class Missing:
    """1 where the cell of a numeric column was missing and a constant stands for it, else 0."""

    column: str


Factor = Numeric | Indicator | Power | Transform | Spline | Between | Missing

_KINDS: Mapping[str, type[Factor]] = {
    "numeric": Numeric,
    "indicator": Indicator,
    "power": Power,
    "transform": Transform,
    "spline": Spline,
    "between": Between,
    "missing": Missing,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def factor_to_json(factor: Factor) -> dict[str, Any]:
    """Plain data for the stored fit."""
    return {"kind": _NAMES[type(factor)], **asdict(factor)}


def factor_from_json(data: Mapping[str, Any]) -> Factor:
    """Read back what `factor_to_json` wrote."""
    fields = {key: value for key, value in data.items() if key != "kind"}
    fields["column"] = str(fields["column"])
    match data["kind"]:
        case "indicator":
            fields["level"] = str(fields["level"])
        case "spline":
            fields["knots"] = tuple(float(knot) for knot in fields["knots"])
        case "between":
            fields["low"], fields["high"] = float(fields["low"]), float(fields["high"])
    return _KINDS[data["kind"]](**fields)


def require_declared(
    factor: Factor, levels: Mapping[str, Sequence[str]], cells: Mapping[str, Cell]
) -> None:
    """Refuse a factor that needs more than is declared of its column."""
    if isinstance(factor, Indicator):
        # Indicators leave out the reference level; without the declared levels a label that was
        # never declared could not be told from it.
        if factor.column not in levels:
            raise SchemaError(f"The levels of {quoted(factor.column)} are not declared.")
        return
    if isinstance(factor, Numeric):
        return
    cell = cells.get(factor.column)
    if not isinstance(cell, NumericCell):
        raise SchemaError(f"The bounds of {quoted(factor.column)} are not declared.")
    if isinstance(factor, Missing) and cell.missing is None:
        raise SchemaError(f"Nothing is declared for missing cells of {quoted(factor.column)}.")
    if isinstance(factor, Spline) and (factor.knots[0], factor.knots[-1]) != (
        cell.lower,
        cell.upper,
    ):
        raise SchemaError(f"A spline of {quoted(factor.column)} must reach from bound to bound.")
    if isinstance(factor, Transform):
        require_domain(factor, cell)


def require_domain(factor: Transform, cell: NumericCell) -> None:
    """Refuse bounds that leave the function's domain."""
    function = FUNCTIONS[factor.function]
    if not function.holds(cell.lower, cell.upper):
        raise BoundsError(
            f"{factor.function} of {quoted(factor.column)} needs {function.domain}, and the "
            f"declared bounds are {cell.lower:g} and {cell.upper:g}. Declare bounds within its "
            "domain (values outside them are clipped)."
        )


def product_bounds(
    factors: Sequence[Factor], cells: Mapping[str, Cell]
) -> tuple[float, float, bool]:
    """Bounds of a product of factors, and whether a record can be outside of its support.

    Factors of different columns vary freely, so their bounds multiply. Powers of one column are
    added up first; a spline or an interval restricts its column to its own support. The bounds
    include 0 where the product has a support.
    """
    lower, upper = 1.0, 1.0
    for name in dict.fromkeys(factor.column for factor in factors):
        own = [factor for factor in factors if factor.column == name]
        cell = cells.get(name)
        if isinstance(cell, NumericCell):
            low, high = _column_bounds(own, *_window(own, cell))
            corners = [a * b for a in (lower, upper) for b in (low, high)]
            lower, upper = min(corners), max(corners)
    partial = any(isinstance(f, Indicator | Spline | Between | Missing) for f in factors)
    if partial:
        lower, upper = min(lower, 0.0), max(upper, 0.0)
    return lower, upper, partial


def _window(factors: Sequence[Factor], cell: NumericCell) -> tuple[float, float]:
    """The part of the declared bounds on which no spline and no interval vanishes."""
    low, high = cell.lower, cell.upper
    for factor in factors:
        if isinstance(factor, Spline):
            low, high = max(low, factor.support[0]), min(high, factor.support[1])
        elif isinstance(factor, Between):
            low, high = max(low, factor.low), min(high, factor.high)
    # Disjoint supports: the product is zero everywhere, and any bounds hold.
    return (low, high) if low < high else (cell.lower, cell.upper)


def _column_bounds(factors: Sequence[Factor], low: float, high: float) -> tuple[float, float]:
    """Bounds of the product of all factors of one column that lies in [low, high]."""
    exponent = 0
    bounds = [(1.0, 1.0)]
    for factor in factors:
        if isinstance(factor, Numeric):
            exponent += 1
        elif isinstance(factor, Power):
            exponent += factor.exponent
        elif isinstance(factor, Transform):
            value = FUNCTIONS[factor.function].value
            bounds.append((value(low), value(high)))
    bounds.append(_power_bounds(low, high, exponent))
    lower, upper = 1.0, 1.0
    for a, b in bounds:
        corners = [lower * a, lower * b, upper * a, upper * b]
        lower, upper = min(corners), max(corners)
    return lower, upper


def _power_bounds(low: float, high: float, exponent: int) -> tuple[float, float]:
    ends = [_power(low, exponent), _power(high, exponent)]
    lower, upper = min(ends), max(ends)
    if exponent and exponent % 2 == 0 and low < 0 < high:
        lower = 0.0
    return lower, upper


def _power(value: float, exponent: int) -> float:
    try:
        return value**exponent
    except OverflowError:
        return math.inf if value > 0 or exponent % 2 == 0 else -math.inf
