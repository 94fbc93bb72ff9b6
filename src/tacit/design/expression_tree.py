"""Expressions as trees of public numbers, cells and functions, and the interval of what one can be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Number:
    """A public constant."""

    value: float


@dataclass(frozen=True)
class Cell:
    """A stored cell times a power of two: a number, or the index of a declared level.

    `place` is the column of the stored record.
    """

    column: str
    place: int
    scale: float


@dataclass(frozen=True)
class Apply:
    """A function of one or two expressions, by its name in `FUNCTION_NAMES`."""

    function: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True)
class Power:
    """A whole power of at least 2."""

    base: Expression
    exponent: int


Expression = Number | Cell | Apply | Power


@dataclass(frozen=True)
class Interval:
    """Public ends of what an expression can be; `truth` where it is 0 or 1."""

    lower: float
    upper: float
    truth: bool = False

    @property
    def center(self) -> float:
        """The middle."""
        return self.lower + (self.upper - self.lower) / 2

    @property
    def half_width(self) -> float:
        """Half the distance of the ends."""
        return (self.upper - self.lower) / 2

    @property
    def holds_zero(self) -> bool:
        """Whether zero is in it."""
        return self.lower <= 0.0 <= self.upper


def cells_in(expression: Expression) -> Iterator[Cell]:
    """The cells of a tree, from left to right."""
    match expression:
        case Cell():
            yield expression
        case Power(base=base):
            yield from cells_in(base)
        case Apply(operands=operands):
            for operand in operands:
                yield from cells_in(operand)


def with_places(expression: Expression, columns: tuple[str, ...]) -> Expression:
    """The tree whose cells are found at the places that these columns have."""
    match expression:
        case Cell(column=column):
            return replace(expression, place=columns.index(column))
        case Power(base=base):
            return replace(expression, base=with_places(base, columns))
        case Apply(operands=operands):
            return replace(expression, operands=tuple(with_places(it, columns) for it in operands))
    return expression


def depth_of(expression: Expression) -> int:
    """How many functions lie inside one another."""
    match expression:
        case Power(base=base):
            return 1 + depth_of(base)
        case Apply(operands=operands):
            return 1 + max(map(depth_of, operands))
    return 0
