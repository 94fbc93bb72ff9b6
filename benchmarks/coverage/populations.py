"""All populations of the plain study, by name."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.coverage import (
    invented,
    invented_after,
    invented_last,
    invented_later,
    invented_long,
    populations_binary,
    populations_classes,
    populations_counts,
    populations_families,
    populations_linear,
)
from benchmarks.coverage.population import Population

POPULATIONS: dict[str, Population] = {
    population.name: population
    for module in (
        populations_linear,
        populations_binary,
        populations_counts,
        populations_classes,
        populations_families,
        invented,
        invented_later,
        invented_last,
        invented_after,
        invented_long,
    )
    for population in module.populations()
}
INVENTED = frozenset(
    it.name
    for module in (invented, invented_later, invented_last, invented_after, invented_long)
    for it in module.populations()
)


def chosen(names: Sequence[str]) -> list[Population]:
    """Populations by their names, by that of a family, "clean" or "invented"; "all" are all."""
    found: dict[str, Population] = {}
    for name in names:
        matching = [
            each
            for each in POPULATIONS.values()
            if name in {"all", each.name, each.family}
            or (name == "clean" and each.clean)
            or (name == "invented" and each.name in INVENTED)
        ]
        if not matching:
            raise ValueError(f"There is no population {name!r}; known: {', '.join(POPULATIONS)}.")
        found |= {each.name: each for each in matching}
    return list(found.values())
