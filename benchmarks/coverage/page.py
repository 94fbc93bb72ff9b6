"""The page of the study: marks reached and missed, a summary, and every cell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from benchmarks.coverage.cells import GRID, LEAST_SIGNAL, USUAL_BOUND
from benchmarks.coverage.designs import FAMILIES, Scenario
from benchmarks.coverage.results import EACH, POOLED, Measured

SCENARIO_WORDS: dict[Scenario, str] = {
    "clean": "clean",
    "spread": "heteroskedastic, overdispersed",
    "outliers": "5% outliers",
    "link": "wrong link",
    "rare": "5% ones, t₃ errors, mean count 0.3",
}
FAMILY_WORDS = {
    "logistic": "logistic",
    "linear": "least squares (smooth Huber score)",
    "poisson": "counts (bounded score)",
}


def percent(share: float) -> str:
    """A share as .953."""
    return f"{share:.3f}".removeprefix("0")


def line(*entries: object) -> str:
    """A line of a table."""
    return f"| {' | '.join(map(str, entries))} |"


def head(words: str) -> list[str]:
    """The first two lines of a table, from names apart by semicolons."""
    names = words.split("; ")
    return [line(*names), line(*("---" for _ in names))]


def ends(values: Iterable[float]) -> str:
    """The least and the largest of some shares."""
    known = list(values)
    return f"{percent(min(known))}–{percent(max(known))}"


def said(found: Measured) -> str:
    """How often slopes and the intercept were called nominal."""
    slopes, intercept = float(found.nominal[1:].mean()), float(found.nominal[0])
    if slopes > 0.995 and intercept > 0.995:
        return "nominal"
    if slopes > 0.995 and intercept < 0.005:
        return "nominal but the intercept"
    if slopes < 0.005:
        return "not nominal"
    return f"nominal: slopes {slopes:.0%}, intercept {intercept:.0%}"


def cell_lines(found: Sequence[Measured]) -> list[str]:
    """A table, a line a cell."""
    lines = head("n; d; μ; e; samples; said; pooled; intercept; slopes; without noise; width; missed")
    for each in found:
        cell = each.cell
        lines.append(
            line(
                cell.n,
                cell.d,
                f"{cell.mu:g}",
                f"{cell.signal:g}",
                each.samples,
                said(each),
                percent(each.pooled),
                percent(each.coverage[0]),
                ends(each.coverage[1:]),
                percent(float(each.plain_coverage.mean())),
                f"{each.full_ratio:.2f}",
                ", ".join(each.misses()),
            )
        )
    return lines


def summary_lines(found: Sequence[Measured]) -> list[str]:
    """A table, a line a family and scenario."""
    lines = head(
        "model; population; cells; samples a cell; pooled, mean (range); coefficients, range; "
        "without noise; pooled missed; coefficients missed; by chance"
    )
    for family in FAMILIES:
        for scenario, words in SCENARIO_WORDS.items():
            own = [
                each
                for each in found
                if (each.cell.family, each.cell.scenario) == (family, scenario) and each.cell.bound == USUAL_BOUND
            ]
            if not own:
                continue
            pooled = [each.pooled for each in own]
            singles = np.concatenate([each.nominal_coverage[each.judged] for each in own])
            plain = float(np.mean([each.plain_coverage.mean() for each in own]))
            misses = [miss for each in own for miss in each.misses()]
            wide = sum(miss.startswith("pooled") for miss in misses)
            lines.append(
                line(
                    family,
                    words,
                    len(own),
                    min(each.samples for each in own),
                    f"{percent(float(np.mean(pooled)))} ({ends(pooled)})",
                    ends(singles.tolist()),
                    percent(plain),
                    f"{wide} of {len(own)}",
                    f"{len(misses) - wide} of {len(singles)}",
                    f"{sum(each.by_chance() for each in own):.1f}",
                )
            )
    return lines


def width_lines(found: Sequence[Measured]) -> list[str]:
    """Widths at n = 16000, d = 4, μ = 1 under tight and loose public bounds."""
    lines = head(
        "model; bounds; samples; width over the unweighted estimator's; over the same weights; over that at ±10; pooled"
    )
    for family in FAMILIES:
        own = [
            each
            for each in found
            if each.cell.family == family
            and each.cell.scenario == "clean"
            and (each.cell.n, each.cell.d, each.cell.mu) == (16000, 4, 1.0)
        ]
        usual = next((each for each in own if each.cell.bound == USUAL_BOUND), None)
        for each in sorted(own, key=lambda one: one.cell.bound):
            drift = "" if usual is None else f"{np.mean(each.width / usual.width):.3f}"
            lines.append(
                line(
                    family,
                    f"±{each.cell.bound:g}",
                    each.samples,
                    f"{each.full_ratio:.3f}",
                    f"{each.ratio:.3f}",
                    drift,
                    percent(each.pooled),
                )
            )
    return lines


def page(found: Sequence[Measured], pictures: Sequence[tuple[str, str]]) -> str:
    """The whole page."""
    usual = [each for each in found if each.cell.bound == USUAL_BOUND]
    lines = [
        "# Coverage of private intervals",
        "",
        "Written by `make coverage`. Nominal 95% intervals on simulated samples, features with",
        "deviation 1 under public bounds ±10. The target is the estimator's own value on the",
        "population: the true coefficients where the score is centred, else from 10^7 records.",
        f"d counts the intercept and e = n·μ/d; cells with e below {LEAST_SIGNAL:g} are not",
        "called nominal and were not run.",
        "",
        "Asked of intervals called nominal: pooled over coefficients within",
        f"{POOLED[0]:.0%} and {POOLED[1]:.0%},",
        f"each coefficient within {EACH[0]:.1%} and {EACH[1]:.1%}. Coverage of one",
        "coefficient has a Monte Carlo deviation of 0.7 points at 1000 samples, 1.4 at 250.",
        "*Without noise* is the same estimator, with the same row weights; *width* is over that of",
        "the estimator without noise and without row weights, on the same samples. *By chance* is",
        "how many coefficients would be missed if every interval covered with 95% exactly, at as",
        "many samples. Without noise the intercept of counts has the sandwich alone, which leaves",
        "out that their dispersion is estimated; the private intervals account for it.",
        "",
    ]
    for file, words in pictures:
        lines += [f"![{words}]({file})", ""]
    lines += ["## Summary", "", *summary_lines(usual), "", "## Widths", "", *width_lines(found), ""]
    for scenario, words in SCENARIO_WORDS.items():
        for family in FAMILIES:
            own = [each for each in usual if (each.cell.scenario, each.cell.family) == (scenario, family)]
            if own:
                lines += [f"## {words}: {FAMILY_WORDS[family]}", "", *cell_lines(own), ""]
    return "\n".join(lines)


def brief(found: Sequence[Measured]) -> str:
    """The summary for the documentation."""
    grid = [each for each in found if each.cell.scenario in (*GRID, "rare") and each.cell.bound == USUAL_BOUND]
    return "\n".join(summary_lines(grid))
