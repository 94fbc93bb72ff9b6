"""Units of effect: a coefficient for 10 years of age in place of one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tacit.errors import SettingError
from tacit.validate import is_number, shown

Units = Mapping[str, float | tuple[float, str]]
"""For each term how many units of its column its effect is for, and how that is called: {"age": (10, "10 years")}.

Words that begin with a number follow "age, per"; any others stand in the place of the term.
"""

MOST_LISTED = 40
"""Terms that an error names."""


def checked_units(units: Units | None, names: Sequence[str]) -> dict[str, tuple[float, str]]:
    """Factor and label of every term that has units; the label names the term and says "per"."""
    found = {}
    for written, given in (units or {}).items():
        # As in a formula, where a name with blanks stands in backquotes.
        name = written if written in names else str(written).replace("`", "")
        if name not in names:
            more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
            known = ", ".join(names[:MOST_LISTED])
            raise SettingError(f"units name {shown(written)}, which is no term; the terms are {known}{more}.")
        factor, words = _both(name, given)
        if not math.isfinite(factor) or factor <= 0:
            raise SettingError(f"units of {shown(name)} must be a positive number; got {shown(factor)}.")
        found[name] = (factor, words)
    return found


def _both(name: str, given: Any) -> tuple[float, str]:
    if is_number(given):
        return float(given), f"{name}, per {float(given):g}"
    pair = tuple(given) if isinstance(given, Sequence) and not isinstance(given, str) else ()
    if len(pair) != 2 or not is_number(pair[0]) or not isinstance(pair[1], str):
        raise SettingError(f'units of {shown(name)} must be a number or a pair such as (10, "10 years").')
    # Words that begin with the number say the unit; any others name the effect.
    return float(pair[0]), f"{name}, per {pair[1]}" if pair[1][:1].isdigit() else pair[1]


def parsed_units(texts: Sequence[str]) -> dict[str, tuple[float, str]]:
    """Units as a command line gives them: "age=10 years" or "bmi=5"."""
    found = {}
    for text in texts:
        name, equals, rest = text.rpartition("=")
        number, _, _ = rest.strip().partition(" ")
        try:
            factor = float(number)
        except ValueError:
            factor = math.nan
        if not equals or not name.strip() or math.isnan(factor):
            raise SettingError(f'units are written as "age=10 years" or "bmi=5"; got {shown(text)}.')
        found[name.strip()] = (factor, f"{name.strip().replace('`', '')}, per {rest.strip()}")
    return found
