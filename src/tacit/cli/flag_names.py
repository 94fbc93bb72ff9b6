"""Messages of the library in the words of the command line: flags in place of Python's keywords."""

from __future__ import annotations

import re

FLAGS = frozenset(
    {
        "delta",
        "epsilon",
        "invalid_rows",
        "iterations",
        "l2",
        "max_passes",
        "radius",
        "refusals",
        "row_norm",
        "solver",
        "step_size",
    }
)
"""Keywords whose flag has the same name."""
_SWITCHES = {"inference=False": "--no-inference", "inference=True": "--inference"}
_KEYWORD = re.compile(r'\b(?P<name>[a-z][a-z_0-9]*)=(?:"(?P<text>[^"]*)"|(?P<rest>…|\.\.\.))')


def in_flags(message: str) -> str:
    """Name the flags of a command where a message names keywords.

    Examples
    --------
    >>> in_flags('Mend them, or set invalid_rows="zero" to let them contribute nothing.')
    'Mend them, or set --invalid-rows zero to let them contribute nothing.'
    >>> in_flags("Use l2=…, or inference=False.")
    'Use --l2 …, or --no-inference.'
    """
    for keyword, flag in _SWITCHES.items():
        message = message.replace(keyword, flag)
    return _KEYWORD.sub(_flag, message)


def _flag(found: re.Match[str]) -> str:
    if found["name"] not in FLAGS:
        return found[0]
    return f"--{found['name'].replace('_', '-')} {found['text'] or found['rest'] or ''}".rstrip()
