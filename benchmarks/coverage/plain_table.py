"""The plain study's table: cells, then populations over all their cells."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping

from scipy.optimize import brentq
from scipy.special import ndtr

from benchmarks.coverage.plain_replications import PlainCell
from benchmarks.coverage.plain_tally import LabelCount, Tally, summed
from benchmarks.coverage.plain_verdicts import (
    FEWEST,
    FEWEST_OF_ONE,
    cell_complaints,
    complaint,
    coverage_complaints,
    size_complaints,
)
from benchmarks.coverage.population import Population
from benchmarks.coverage.populations import POPULATIONS

OFTEN = frozenset({"gamma_cost", "likert", "lpm", "semicont", "negbin"})
"""With the wrong links: 80% offered, at most 2.5 times as wide as HC0 at n = 20,000 and ε = 1."""
RARE_ONES = frozenset({"rare3", "pos3_logit"})
"""With 3% ones: 50% offered there."""
CLEAN_SHARE, OFTEN_SHARE, RARE_SHARE, WIDEST, SIGNAL = 0.90, 0.80, 0.50, 2.5, 100.0
OLD = "†"
LARGE, NEAR = 50.0, 0.1
"""From this ε on estimates have to be so near to those without noise, in standard errors."""
CELLS = (
    "| population | d | n | ε | reps | nominal/cons./withheld % | nominal covers (worst) "
    "| conservative covers (worst) | width | size nom. | size cons. | joint | verdict |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
)
WHOLE = (
    "| population | reps | nominal/cons./withheld % | nominal covers | conservative covers "
    "| size nom. (tests) | size cons. (tests) | joint nom. (tests) | joint cons. (tests) "
    "| verdict |\n|---|---|---|---|---|---|---|---|---|---|"
)


def mu_of(epsilon: float, n: int) -> float:
    """The μ of Gaussian differential privacy that ε and the default δ buy."""
    delta = min(1e-5, n**-1.1)

    def excess(mu: float) -> float:
        left = ndtr(-epsilon / mu + mu / 2)
        return float(left - math.exp(epsilon) * ndtr(-epsilon / mu - mu / 2) - delta)

    return float(brentq(excess, 1e-4, 50.0))


def silence(cell: PlainCell, population: Population, tally: Tally) -> list[str]:
    """Whether too little is offered, or too wide, where it should not be."""
    offered = tally.share("nominal") + tally.share("conservative")
    usual = (cell.n, cell.epsilon) == (20_000, 1.0)
    often = population.name in OFTEN or population.name.startswith("wrong_link")
    least = 0.0
    if population.clean and cell.n * mu_of(cell.epsilon, cell.n) >= SIGNAL * population.d:
        least = CLEAN_SHARE
    if usual and often:
        least = max(least, OFTEN_SHARE)
    if usual and population.name in RARE_ONES:
        least = RARE_SHARE
    # The labels of a fit go together, so that a fit counts once.
    few = complaint("offered", offered * tally.replications, tally.replications, (least, 1.0))
    found = [few] if few else []
    goal = often or population.name in RARE_ONES or population.name.startswith("mixed")
    if usual and goal and tally.width > WIDEST:
        found.append(f"width {tally.width:.2f} > {WIDEST}")
    return found


def _coverage(count: LabelCount | None) -> str:
    if count is None or not count.total:
        return "–"
    each = [
        covered / cases for cases, covered in zip(count.cases, count.covered, strict=True) if cases >= FEWEST_OF_ONE
    ]
    worst = f" ({min(each):.3f})" if each else ""
    return f"{count.coverage:.3f}{worst}"


def _share(hits: int, cases: int, *, counted: bool = False) -> str:
    if not cases:
        return "–"
    return f"{hits / cases:.3f}" + (f" ({cases})" if counted else "")


def _labels(tally: Tally) -> str:
    known = ("nominal", "conservative", "withheld")
    text = "/".join(f"{100 * tally.share(label):.0f}" for label in known)
    others = [label for label in tally.labels if label not in known]
    return text + "".join(f" {label} {100 * tally.share(label):.0f}" for label in others)


def _sizes(tally: Tally, *, counted: bool) -> list[str]:
    found = []
    for label in ("nominal", "conservative"):
        count = tally.labels.get(label)
        tests = (count.null_rejected, count.null_cases) if count else (0, 0)
        found.append(_share(*tests, counted=counted))
    return found


def cell_row(cell: PlainCell, tally: Tally, *, old: bool = False) -> tuple[str, bool]:
    """A line of the table, and whether the cell is as asked."""
    population = POPULATIONS[cell.population]
    wrong = cell_complaints(tally, population.names) + silence(cell, population, tally)
    joint = [sum(each) for each in zip(*tally.joint.values(), strict=True)] or [0, 0]
    parts = [
        cell.population,
        str(tally.d),
        str(cell.n),
        f"{cell.epsilon:g}",
        f"{tally.replications}{OLD * old}",
        _labels(tally),
        _coverage(tally.labels.get("nominal")),
        _coverage(tally.labels.get("conservative")),
        "–" if math.isnan(tally.width) else f"{tally.width:.2f}",
        *_sizes(tally, counted=False),
        _share(joint[1], joint[0]),
        "**fails**: " + "; ".join(wrong) if wrong else "holds",
    ]
    return f"| {' | '.join(parts)} |", not wrong


def population_row(name: str, tallies: Mapping[PlainCell, Tally]) -> tuple[str, bool]:
    """A line over all cells of a population: sizes, and labels too rare to be judged by cell."""
    whole, names = summed(tallies.values()), POPULATIONS[name].names
    few = {
        label: summed(
            Tally(labels={label: each.labels[label]})
            for each in tallies.values()
            if label in each.labels and each.labels[label].total < FEWEST
        ).labels.get(label)
        for label in ("nominal", "conservative")
    }
    wrong = size_complaints(whole)
    for label, count in few.items():
        if count is not None:
            wrong += [f"few: {each}" for each in coverage_complaints(label, count, names)]
    joints = [whole.joint.get(label, [0, 0]) for label in ("nominal", "conservative")]
    parts = [
        name,
        str(whole.replications),
        _labels(whole),
        _coverage(whole.labels.get("nominal")),
        _coverage(whole.labels.get("conservative")),
        *_sizes(whole, counted=True),
        *(_share(rejected, cases, counted=True) for cases, rejected in joints),
        "**fails**: " + "; ".join(wrong) if wrong else "holds",
    ]
    return f"| {' | '.join(parts)} |", not wrong


def table(tallies: Mapping[PlainCell, Tally], old: Collection[PlainCell] = ()) -> str:
    """Both tables as markdown; cells of `old` rules are marked."""
    places = {name: place for place, name in enumerate(POPULATIONS)}
    cells = sorted(tallies, key=lambda cell: (places[cell.population], cell.n, cell.epsilon))
    names = list(dict.fromkeys(cell.population for cell in cells))
    rows = [cell_row(cell, tallies[cell], old=cell in old) for cell in cells]
    today = [row for cell, row in zip(cells, rows, strict=True) if cell not in old]
    wholes = [
        population_row(name, {cell: tallies[cell] for cell in cells if cell.population == name}) for name in names
    ]
    return "\n".join(
        [
            f"{_holding(rows)} of {len(rows)} cells hold; of those by today's rules {_holding(today)} of {len(today)}.",
            "",
            CELLS,
            *(line for line, _ in rows),
            "",
            f"Over all cells {_holding(wholes)} of {len(wholes)} populations hold.",
            "",
            WHOLE,
            *(line for line, _ in wholes),
            "",
        ]
    )


def limit_table(tallies: Mapping[PlainCell, Tally], old: Collection[PlainCell] = ()) -> str:
    """How far estimates at a large ε are from those without noise, in standard errors."""
    lines = ["| population | n | ε | reps | mean distance in s.e. | worst term | verdict |"]
    lines.append("|---|---|---|---|---|---|---|")
    for cell, tally in tallies.items():
        known = [
            (mean, name)
            for mean, name in zip(tally.mean_distances, POPULATIONS[cell.population].names, strict=True)
            if not math.isnan(mean)
        ]
        worst = "{:.3f} ({})".format(*max(known)) if known else "–"
        verdict = "**fails**" if tally.distance > NEAR else "holds" if known else "–"
        where = f"{cell.population} | {cell.n} | {cell.epsilon:g} | {tally.replications}{OLD * (cell in old)}"
        lines.append(f"| {where} | {tally.distance:.3f} | {worst} | {verdict} |")
    return "\n".join(lines) + "\n"


def tables(tallies: Mapping[PlainCell, Tally], *, limit: bool = False, old: Collection[PlainCell] = ()) -> str:
    """Coverage by cell and population, then the distances at a large ε where there are some."""
    large = {cell: tally for cell, tally in tallies.items() if limit or cell.epsilon >= LARGE}
    rest = {cell: tally for cell, tally in tallies.items() if cell not in large}
    return "\n".join([table(rest, old)] * bool(rest) + [limit_table(large, old)] * bool(large))


def _holding(rows: Iterable[tuple[str, bool]]) -> int:
    return sum(holds for _, holds in rows)
