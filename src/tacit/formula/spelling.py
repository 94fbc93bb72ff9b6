"""The text of a formula's pieces: quoted names, R's spellings, and the error that names a piece."""

from __future__ import annotations

import ast
import re

from tacit.errors import FormulaError

_QUOTED = re.compile(r"`([^`]+)`")
# Texts in quotes and names in backquotes are left as they are.
_OF_R = re.compile(
    r"""("[^"]*"|'[^']*'|`[^`]*`)|\^|\b(?:TRUE|FALSE|NULL)\b|\bas\.factor(?=\s*\()|(?<==)(\s*)\b[TF]\b(?=\s*[,)])"""
    r"""|\bBoundary\.knots(?=\s*=)|(?<![\w.])\d+L\b"""
)
_PLAIN = {
    "^": "**",
    "TRUE": "True",
    "FALSE": "False",
    "NULL": "None",
    "T": "True",
    "F": "False",
    "as.factor": "factor",
    "Boundary.knots": "boundary_knots",
}


def refused(spelling: str, reason: str) -> FormulaError:
    """The error that names a piece of a formula and says why it is refused."""
    return FormulaError(f"{spelling} is refused: {reason}")


def without_quoted_names(spelling: str) -> tuple[str, dict[str, str]]:
    """Replace names in backquotes by plain ones; return the text and what each stands for."""
    stand_in = "quoted"
    while stand_in in spelling:
        stand_in += "_"
    quoted: dict[str, str] = {}

    def hide(match: re.Match[str]) -> str:
        quoted[f"{stand_in}{len(quoted)}_"] = match[1]
        return next(reversed(quoted))

    return _QUOTED.sub(hide, spelling).strip(), quoted


def in_python(text: str) -> str:
    """Write R's words as Python's: ``x^2`` is ``x**2``, ``TRUE`` is ``True``, ``3L`` is ``3``."""

    def plain(match: re.Match[str]) -> str:
        word = match[0].strip()
        return match[1] or (match[2] or "") + _PLAIN.get(word, word.removesuffix("L"))

    return _OF_R.sub(plain, text)


def parsed(spelling: str) -> tuple[ast.expr, dict[str, str]]:
    """The tree of a piece of text, and what its stand-ins for quoted names are; nothing is evaluated."""
    text, quoted = without_quoted_names(spelling)
    return ast.parse(in_python(text), mode="eval").body, quoted
