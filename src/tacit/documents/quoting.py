"""Texts that come from a document, shown so that they cannot pass for Tacit's own words."""

from __future__ import annotations

import re

LONGEST_QUOTED = 60

_WORD = re.compile(r"[A-Za-z0-9]+([-_][A-Za-z0-9]+)*", re.ASCII)
_MARKS = frozenset('"\\“”„‟«»″‶＂ʺ˝״〝〞')
"""The mark itself, the one that escapes it, and what looks like the mark."""
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Characters that count as printable and show nothing: fillers, joiners, variation selectors."""


def quoted(text: str, longest: int = LONGEST_QUOTED, *, bare: bool = True) -> str:
    r"""Return a foreign text as a reader may see it: in quotes, but for one plain word if `bare`.

    Guarantee
    ---------
    - What stands between the marks holds no mark, no line break, and no character that controls a
      terminal, turns the direction of the text or is invisible: those are written as escapes.
    - At most `longest` characters of the text are shown.
    """
    if bare and len(text) <= longest and _WORD.fullmatch(text):
        return text
    shown = "".join(map(_shown, text[:longest]))
    return f'"{shown}{"…" if len(text) > longest else ""}"'


def _shown(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character.isprintable() and character not in _MARKS and not _INVISIBLE.match(character):
        return character
    return character.encode("unicode_escape").decode("ascii")
