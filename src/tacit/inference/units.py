"""Units of effect: a coefficient for 10 years of age in place of one."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from tacit.design.reading import YEAR
from tacit.errors import SettingError
from tacit.validate import is_number, shown

Units = Mapping[str, float | tuple[float, str]]
"""For each term how many units of its column its effect is for, and how that is called: {"age": (10, "10 years")}.

Words that begin with a number follow "age, per"; any others stand in the place of the term.
"""

MOST_LISTED = 40
"""Terms that an error names."""
NO_DATES: Mapping[str, str] = MappingProxyType({})
_DAYS = {"day": 1.0, "week": 7.0, "month": YEAR / 12, "year": YEAR, "decade": 10 * YEAR}
_SPAN = re.compile(rf"(\d+(?:\.\d+)?) ({'|'.join(_DAYS)})s?\b")
_NEARLY = 0.01
"""Of a span in other units: 365 days are a year."""


def checked_units(
    units: Units | None, names: Sequence[str], dates: Mapping[str, str] = NO_DATES
) -> dict[str, tuple[float, str]]:
    """Factor and label of every term that has units; the label names the term and says "per".

    A column's name is that of its terms in every class: "age" is also "low: age" and "high: age". `dates` are columns
    of dates, and whether they count "days" or "years": "10 years" of one that counts days are 3652.425 of them.
    """
    found = dict[str, tuple[float, str]]()
    for written, given in (units or {}).items():
        # As in a formula, where a name with blanks stands in backquotes.
        name = written if written in names else str(written).replace("`", "")
        meant = [it for it in names if it == name] or [it for it in names if it.endswith(f": {name}")]
        if not meant:
            more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
            known = ", ".join(names[:MOST_LISTED])
            raise SettingError(f"units name {shown(written)}, which is no term; the terms are {known}{more}.")
        factor, words = _both(name, given)
        if not math.isfinite(factor) or factor <= 0:
            raise SettingError(f"units of {shown(name)} must be a positive number; got {shown(factor)}.")
        if name in dates:
            factor = _of_dates(name, factor, words, dates[name])
        for term in meant:
            if term == name or term not in (units or {}):
                found[term] = (factor, f"{term.removesuffix(name)}{words}")
    return found


def _of_dates(name: str, factor: float, words: str, unit: str) -> float:
    """The factor of a column of dates, in the unit in which it counts, where the words name another."""
    said = _SPAN.search(words.removeprefix(name))
    if said is None:
        return factor
    count = float(said[1])
    meant = count * _DAYS[said[2]] / _DAYS[unit.removesuffix("s")]
    if factor not in (count, meant) and abs(factor - meant) > _NEARLY * meant:
        raise SettingError(
            f"{shown(name)} counts {unit}, and {said[0]} are {meant:.10g} of them; got {factor:g}. Give them as "
            f'({meant:.10g}, "{said[0]}"), or as (1, "1 {said[2]}").'
        )
    return meant if factor == count else factor


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


def beside_units(units: Mapping[str, tuple[float, str]], names: Sequence[str]) -> list[str]:
    """Say which products of a term with units are still for one unit."""
    left = [
        f"{other} ({name} still by one unit)"
        for name in units
        for other in names
        if other not in units and name in other.split(":")
    ]
    return [f"Units of a term are not those of its products: {', '.join(left)}. Give them units too."] if left else []
