"""A table of text, and numbers written with few digits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal

_LARGEST_FIXED = 1e7


@dataclass(frozen=True)
class Table:
    """Headers and rows of text; the first column is words, the others are numbers.

    Guarantee
    ---------
    - `text` has no escape codes, no trailing blanks and one line per row.
    """

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def text(self, indent: str = "") -> str:
        """Write the table as aligned plain text."""
        lines = [tuple(map(one_line, line)) for line in (self.headers, *self.rows)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.headers))]
        aligned = []
        for first, *others in lines:
            cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
            aligned.append("  ".join((indent + first.ljust(widths[0]), *cells)).rstrip())
        return "\n".join(aligned)


def one_line(text: str) -> str:
    """Text that can neither break a line nor command a terminal, whatever a column is called."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )


def columns_of_numbers(*columns: Sequence[float | None]) -> list[tuple[str, ...]]:
    """Write columns of numbers with the same decimals in all; nothing where there is no number.

    The smallest number of the first column, other than 0, keeps three digits, within 3 to 6
    decimals.
    """
    if any(abs(value) >= _LARGEST_FIXED for column in columns for value in column if value):
        form = ".4g"
    else:
        first = [abs(value) for value in columns[0] if value] if columns else []
        wanted = 2 - math.floor(math.log10(min(first))) if first else 0
        form = f".{min(max(wanted, 3), 6)}f"
    return [tuple("" if value is None else format(value, form) for value in column) for column in columns]


def rounded(value: float, digits: int, rounding: str) -> str:
    """Write a number with few digits, rounded to the side that promises less."""
    number = Context(prec=digits, rounding=rounding).create_decimal(Decimal(repr(value)))
    return f"{float(number):.{digits}g}" if abs(float(number)) < 10**digits else f"{number:f}"
