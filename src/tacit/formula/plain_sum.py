"""Sums of columns, `y ~ a + b + C(c)`: read without formulaic, which takes a third of a second to load.

The terms are those that formulaic would return, with the places they have in the text. Whatever is not such a sum of
different declared columns is left to formulaic, and so is every error.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_SUM = re.compile(rf" *{_NAME} *~ *(?:1 *\+ *)?(?:{_NAME}|C\({_NAME}\))(?: *\+ *(?:{_NAME}|C\({_NAME}\)))* *")
_PIECE = re.compile(rf"C\(({_NAME})\)|({_NAME})")


class Evaluation(Enum):
    """What a factor is, in formulaic's words."""

    LITERAL = "literal"
    LOOKUP = "lookup"
    PYTHON = "python"


@dataclass(frozen=True)
class Place:
    """First and last character of a factor in the text."""

    source_start: int | None = None
    source_end: int | None = None


@dataclass(frozen=True)
class Factor:
    """A column, or a call, as it is written."""

    expr: str
    eval_method: Evaluation
    token: Place

    def __str__(self) -> str:
        return self.expr


@dataclass(frozen=True)
class Term:
    """A product of one factor."""

    factors: tuple[Factor, ...]

    def __str__(self) -> str:
        return self.factors[0].expr


def plain_sum(formula: str, declared: Collection[str]) -> tuple[list[Term], list[Term]] | None:
    """Left and right side of a sum of different declared columns; None for any other text."""
    if not _SUM.fullmatch(formula):
        return None
    pieces = list(_PIECE.finditer(formula))
    names = [match[1] or match[2] for match in pieces]
    usable = all(name in declared and not keyword.iskeyword(name) and name != "C" for name in names[1:])
    if not usable or keyword.iskeyword(names[0]) or len(set(names)) < len(names):
        return None
    terms = [
        Term(
            (
                Factor(
                    match[0],
                    Evaluation.PYTHON if match[1] else Evaluation.LOOKUP,
                    Place(match.start(), match.end() - 1),
                ),
            )
        )
        for match in pieces
    ]
    return terms[:1], [Term((Factor("1", Evaluation.LITERAL, Place()),)), *terms[1:]]
