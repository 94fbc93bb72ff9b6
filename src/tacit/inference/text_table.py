"""A table of text, and numbers written with few digits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal

_LARGEST_FIXED = 1e7
_FEWEST_DECIMALS = 3
_MOST_DECIMALS = 6


@dataclass(frozen=True)
class Table:
    """Headers and rows of text; the first column is words, the others are numbers.

    Guarantee
    ---------
    - `text` has no escape codes, no trailing blanks and one line per row.

    Examples
    --------
    >>> print(Table(("term", "coef"), (("age", "0.031"), ("smoker", "-1.200"))).text())
    term      coef
    age      0.031
    smoker  -1.200
    """

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def text(self, indent: str = "") -> str:
        """Write the table as aligned plain text."""
        lines = [tuple(map(one_line, line)) for line in (self.headers, *self.rows)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.headers))]
        return "\n".join(indent + _aligned(line, widths) for line in lines)


def _aligned(line: tuple[str, ...], widths: Sequence[int]) -> str:
    first, *others = zip(line, widths, strict=True)
    cells = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
    return "  ".join(cells).rstrip()


def one_line(text: str) -> str:
    r"""Text that can neither break a line nor command a terminal, whatever a column is called.

    Examples
    --------
    >>> one_line("age\x1b[31m")
    'age\\x1b[31m'
    """
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def columns_of_numbers(*columns: Sequence[float | None]) -> list[tuple[str, ...]]:
    """Write columns of numbers with the same decimals in all; nothing where there is no number.

    The smallest number of the first column, other than 0, keeps three digits, within 3 to 6
    decimals.

    Examples
    --------
    >>> columns_of_numbers([0.01234, 2], [1.5, None])
    [('0.0123', '2.0000'), ('1.5000', '')]
    """
    if any(abs(value) >= _LARGEST_FIXED for column in columns for value in column if value):
        form = ".4g"
    else:
        first = [abs(value) for value in columns[0] if value] if columns else []
        wanted = 2 - math.floor(math.log10(min(first))) if first else 0
        form = f".{min(max(wanted, _FEWEST_DECIMALS), _MOST_DECIMALS)}f"
    return [
        tuple("" if value is None else format(value, form) for value in column)
        for column in columns
    ]


def rounded(value: float, digits: int, rounding: str) -> str:
    """Write a number with few digits, rounded to the side that promises less."""
    number = Context(prec=digits, rounding=rounding).create_decimal(Decimal(repr(value)))
    return f"{float(number):.{digits}g}" if abs(float(number)) < 10**digits else f"{number:f}"
