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


def checked_units(units: Units | None, names: Sequence[str]) -> dict[str, tuple[float, str]]:
    """Factor and label of every term that has units; the label names the term and says "per"."""
    found = {}
    for name, given in (units or {}).items():
        if name not in names:
            raise SettingError(f"units name {shown(name)}, which is no term; the terms are {', '.join(names[:8])}.")
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
        found[name.strip()] = (factor, f"{name.strip()}, per {rest.strip()}")
    return found


def beside_units(units: Mapping[str, tuple[float, str]], names: Sequence[str]) -> list[str]:
    """Say which products of a term with units are still for one unit."""
    left = [
        f"{other} ({name} still by one unit)"
        for name in units
        for other in names
        if other not in units and name in other.split(":")
    ]
    return [f"Units of a term are not those of its products: {', '.join(left)}. Give them units too."] if left else []
