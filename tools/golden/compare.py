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
    """One line for each difference: which case, which field, from what to what."""
    for name in sorted(set(stored) | set(present)):
        if name not in stored:
            yield f"{name}: is new"
        elif name not in present:
            yield f"{name}: is gone"
        else:
            for path, old, new in _inside("", stored[name], present[name], exact=exact):
                yield f"{name}: {path} was {_short(old)} and is {_short(new)}"


def _inside(path: str, old: Any, new: Any, *, exact: bool) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(set(old) | set(new)):
            inner = f"{path}.{key}" if path else key
            if key == "bits" and not exact:
                continue
            yield from _inside(inner, old.get(key), new.get(key), exact=exact)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, pair in enumerate(zip(old, new, strict=True)):
            yield from _inside(f"{path}[{index}]", *pair, exact=exact)
    elif not _same(old, new, exact=exact):
        yield path, old, new


def _same(old: Any, new: Any, *, exact: bool) -> bool:
    if exact or not (isinstance(old, float) and isinstance(new, float)):
        return bool(old == new) or (old != old and new != new)  # noqa: PLR0124 (NaN)
    return math.isclose(old, new, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "..."
