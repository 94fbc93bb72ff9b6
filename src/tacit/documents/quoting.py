"""Texts that come from a document, shown so that they cannot pass for Tacit's own words."""

from __future__ import annotations

import re

LONGEST_QUOTED = 60

_WORD = re.compile(r"[A-Za-z0-9]+([-_][A-Za-z0-9]+)*", re.ASCII)
_MARKS = frozenset('"\\“”„‟«»″‶＂ʺ˝״〝〞')
"""The mark itself, the one that escapes it, and what looks like the mark."""
_INVISIBLE = frozenset(
    map(
        chr,
        (
            *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0),
            *range(0x180B, 0x1810),
            *range(0xFE00, 0xFE10),
            *range(0xE0100, 0xE01F0),
        ),
    )
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
    if character.isprintable() and character not in _MARKS and character not in _INVISIBLE:
        return character
    return character.encode("unicode_escape").decode("ascii")
