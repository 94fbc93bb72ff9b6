"""Differences between stored and present plans and fits, in words."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "tests" / "golden"
TOLERANCE = 1e-9
"""Relative difference of numbers on another machine than that of the record."""

WITHOUT_NOISE = "epsilon=inf"

Table = Mapping[str, Any]


def read(name: str) -> dict[str, Any]:
    """Read a stored table."""
    with gzip.open(FOLDER / f"{name}.json.gz", "rt", encoding="utf-8") as stream:
        table: dict[str, Any] = json.load(stream)
    return table


def write(name: str, table: Table) -> None:
    """Store a table; the same table gives the same bytes."""
    text = json.dumps(table, indent=0, sort_keys=True, allow_nan=True)
    content = gzip.compress(text.encode("utf-8"), mtime=0)
    (FOLDER / f"{name}.json.gz").write_bytes(content)


def differences(stored: Table, present: Table, *, exact: bool = True) -> Iterator[str]:
    """One line for each difference: which case, which field, from what to what.

    Where not `exact`, on another machine than that of the record, numbers may differ by a part of `TOLERANCE`: of
    themselves, or of the largest of their name in a list, as answers near a minimum are small beside the first.
    """
    for name in sorted(set(stored) | set(present)):
        if name not in stored:
            yield f"{name}: is new"
        elif name not in present:
            yield f"{name}: is gone"
        else:
            steady = _steady if not exact and WITHOUT_NOISE in name else dict
            for path, old, new in _inside("", steady(stored[name]), steady(present[name]), None if exact else {}):
                yield f"{name}: {path} was {_short(old)} and is {_short(new)}"


def _inside(path: str, old: Any, new: Any, scales: Mapping[str, float] | None) -> Iterator[tuple[str, Any, Any]]:
    """Differences below a path; `scales` are the largest numbers by their names, None on the machine of the record."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(set(old) | set(new)):
            inner = f"{path}.{key}" if path else key
            if key == "bits" and scales is not None:
                continue
            yield from _inside(inner, old.get(key), new.get(key), scales)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        if scales is not None:
            scales = _largest(old, scales)
        for index, pair in enumerate(zip(old, new, strict=True)):
            yield from _inside(f"{path}[{index}]", *pair, scales)
    elif _same(old, new):
        return
    elif scales is None or not _near(old, new, scales.get(path.rpartition(".")[2], 0.0)):
        yield path, old, new


def _steady(fit: Mapping[str, Any]) -> dict[str, Any]:
    """A fit without noise but for its answers: a count changes by 1 where rounding moves a residual over an end."""
    return {key: value for key, value in fit.items() if key != "answers"}


def _largest(rows: list[Any], scales: Mapping[str, float]) -> dict[str, float]:
    """The largest numbers of a list of dictionaries, by their names."""
    found = dict(scales)
    for row in rows:
        for key, value in row.items() if isinstance(row, dict) else ():
            if isinstance(value, float) and math.isfinite(value):
                found[key] = max(found.get(key, 0.0), abs(value))
    return found


def _same(old: Any, new: Any) -> bool:
    return bool(old == new) or (old != old and new != new)  # noqa: PLR0124 (NaN)


def _near(old: Any, new: Any, scale: float) -> bool:
    """Whether two numbers, or texts of whole numbers, differ by rounding."""
    if isinstance(old, str) and isinstance(new, str) and old.isdecimal() and new.isdecimal():
        old, new = int(old), int(new)
    if not (isinstance(old, int | float) and isinstance(new, int | float)):
        return False
    return math.isclose(old, new, rel_tol=TOLERANCE, abs_tol=TOLERANCE * max(1.0, scale))


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "..."
