"""All tables by name: what they are for, and how to get them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from benchmarks.accuracy import bundled, folder, held_out
from benchmarks.accuracy.table import Group, Kind, Table


@dataclass(frozen=True)
class Entry:
    """A table that can be loaded."""

    name: str
    kind: Kind
    group: Group
    load: Callable[[], Table]


def _codebook(kind: Kind, *names: str) -> list[Entry]:
    return [Entry(name, kind, "codebook", partial(folder.load, name, kind)) for name in names]


def _own(kind: Kind, group: Group, *loaders: Callable[[], Table]) -> list[Entry]:
    return [Entry(loader.__name__, kind, group, loader) for loader in loaders]


CATALOGUE: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        *_codebook("classification", "adult", "diabetes130", "covertype", "acs_gov"),
        *_codebook("regression", "california", "diamonds", "cps1988", "flights", "acs_logsal"),
        *_own("classification", "held out", held_out.bank, held_out.nhanes_diabetes, held_out.pension_plan),
        *_own(
            "regression",
            "held out",
            held_out.census2000,
            held_out.nhanes_pressure,
            held_out.pension_assets,
            held_out.refuse,
        ),
        *_own("classification", "bundled", bundled.breast_cancer, bundled.digits, bundled.wine),
        *_own("regression", "bundled", bundled.diabetes),
    )
}


def available() -> list[str]:
    """Tables that can be loaded here."""
    there = folder.is_there()
    return [name for name, entry in CATALOGUE.items() if there or entry.group == "bundled"]
