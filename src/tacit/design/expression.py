"""Expressions: bounded functions of one record, as trees of public numbers, and interval arithmetic on them.

An expression is a sum, a product, a quotient, a power, a comparison or a known function of cells. Its interval follows
from the declared bounds of the cells. What has no finite interval is refused. The interval decides where values are
clipped, and so it may be loose or off by a rounding: the clip, and not the interval, is what a guarantee rests on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce

from tacit.design.design import Column, Design
from tacit.design.expression_tree import Cell, Expression, Interval
from tacit.design.factor import FUNCTIONS, Factor
from tacit.errors import BoundsError

LARGEST_POWER = 20
LARGEST_END = 1e100
"""Intervals beyond it could make a sum or a square overflow."""
LARGEST_EXPONENT = 1022
"""Of a power of two by which a column is divided."""
SMALLEST_WIDTH = 1e-100
"""Of an interval, in absolute terms and over its larger end times 2^60: a narrower one is a constant."""
COMPARISONS = ("<", "<=", "==", "!=")


@dataclass(frozen=True)
class Statistic:
    """A bounded function of one record, as it was spelled, whose mean may be asked for."""

    spelling: str
    expression: Expression
    interval: Interval


def exact_column(name: str, factor: Factor, lower: float, upper: float) -> Column:
    """A column stored as its value over a power of two, hence without rounding, within [-1, 1]."""
    _, exponent = math.frexp(max(abs(lower), abs(upper)))
    if exponent > LARGEST_EXPONENT:
        raise BoundsError(f"The bounds of {name!r} are too large to compute with; rescale the column.")
    return Column(name, (factor,), lower, upper, 0.0, math.ldexp(1.0, exponent))


def cells_of(design: Design) -> dict[str, Cell]:
    """The cells of a design of exact columns, by name."""
    return {column.name: Cell(column.name, place, column.scale) for place, column in enumerate(design.columns)}


def interval_of_power(base: Interval, exponent: int) -> Interval:
    """Interval of a whole power of at least 1.

    Guarantee: it holds every power that multiplying from the left, rounded at each step, gives.
    """
    ends = [reduce(lambda a, b: a * b, [end] * exponent) for end in (base.lower, base.upper)]
    if exponent % 2 == 0 and base.holds_zero:
        return Interval(0.0, max(ends))
    return Interval(min(ends), max(ends))


def interval_of(function: str, operands: tuple[Interval, ...]) -> Interval:
    """Interval of a function of expressions with these intervals; BoundsError says why there is none.

    Guarantee: for sums, differences, products, quotients and roots it holds every value that rounded arithmetic gives,
    because rounding is monotone.
    """
    if function in FUNCTIONS:
        value, holds, domain = FUNCTIONS[function]
        (inner,) = operands
        if not holds(inner.lower, inner.upper):
            raise BoundsError(f"{function} needs {domain}, and its argument lies in {shown_interval(inner)}")
        return Interval(value(inner.lower), value(inner.upper))
    return _RULES[function](*operands)


def require_moderate(interval: Interval) -> Interval:
    """Refuse ends that are infinite, not a number or beyond 1e100."""
    if not all(abs(end) <= LARGEST_END for end in (interval.lower, interval.upper)):
        raise BoundsError(f"its values may be as large as {LARGEST_END:g} or beyond; rescale the columns")
    return interval


def require_spread(interval: Interval) -> Interval:
    """Refuse an interval of one point, whose mean needs no records."""
    width, size = interval.upper - interval.lower, max(abs(interval.lower), abs(interval.upper))
    if not width >= max(SMALLEST_WIDTH, size * 2.0**-40):
        raise BoundsError("it is the same number for every record, and a mean of it needs no records")
    return interval


def shown_interval(interval: Interval) -> str:
    """Spell an interval."""
    return f"[{interval.lower:.6g}, {interval.upper:.6g}]"


def _corners(operation: Callable[[float, float], float]) -> Callable[[Interval, Interval], Interval]:
    def rule(left: Interval, right: Interval) -> Interval:
        corners = [operation(a, b) for a in (left.lower, left.upper) for b in (right.lower, right.upper)]
        truth = left.truth and right.truth and operation(1.0, 1.0) == 1.0
        return Interval(min(corners), max(corners), truth)

    return rule


def _quotient(left: Interval, right: Interval) -> Interval:
    if right.holds_zero:
        raise BoundsError(f"the divisor lies in {shown_interval(right)}, which holds 0")
    return _corners(lambda a, b: a / b)(left, right)


def _absolute(inner: Interval) -> Interval:
    ends = abs(inner.lower), abs(inner.upper)
    return Interval(0.0 if inner.holds_zero else min(ends), max(ends))


def _either(*operands: Interval) -> Interval:
    """Interval of a comparison: 0 or 1."""
    del operands
    return Interval(0.0, 1.0, truth=True)


def _opposite(inner: Interval) -> Interval:
    return Interval(1.0 - inner.upper, 1.0 - inner.lower, inner.truth)


_RULES: Mapping[str, Callable[..., Interval]] = {
    "+": _corners(lambda a, b: a + b),
    "-": _corners(lambda a, b: a - b),
    "*": _corners(lambda a, b: a * b),
    "/": _quotient,
    "minimum": _corners(min),
    "maximum": _corners(max),
    "abs": _absolute,
    "not": _opposite,
    **dict.fromkeys(COMPARISONS, _either),
}
FUNCTION_NAMES = frozenset({*_RULES, *FUNCTIONS})
"""Every function that an expression may apply."""
