"""A forecast as a table, as plain data and as a picture; what a target needs, in words."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

from tacit.errors import SettingError
from tacit.planning.forecast import FitForecast
from tacit.planning.study import Study
from tacit.planning.targets import Target, cannot_tell
from tacit.report.figure import BLUE, GREEN, GREY, INK, ORANGE, drawn, empty_figure, tidy
from tacit.text_table import Table, one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = (ORANGE, BLUE, GREEN, INK, GREY)
SIZES, EPSILONS = (1 / 16, 1 / 4, 1.0, 4.0, 16.0), (0.1, 0.3, 1.0, 3.0, 10.0)
"""Of a picture: multiples of the study's n and of its ε."""
SHOWN = 40
"""Terms of a table that a person reads."""


def forecast_table(found: FitForecast) -> Table:
    """Every coefficient: its standard error and half-width, and the half-width without privacy."""
    percent = f"{found.level:.0%}"
    headers = ("coefficient", "std error", f"{percent} half-width", "half-width without privacy")
    rows = [
        (
            term.name,
            _number(term.error),
            _number(term.half_width, "none" if found.withheld is None else ""),
            _number(term.half_width_without_privacy),
        )
        for term in found.terms[:SHOWN]
    ]
    if len(found.terms) > SHOWN:
        rows.append((f"({len(found.terms) - SHOWN} more)", "", "", ""))
    return Table(headers, tuple(rows))


def forecast_lines(found: FitForecast) -> list[str]:
    """The rest of a forecast in sentences."""
    risk = f"{found.excess_loss:.3g} by privacy, {found.statistical_excess:.3g} by sampling"
    errors = f"{found.coefficient_error:.3g}, without privacy {found.statistical_error:.3g}"
    lines = [
        f"Excess risk {found.excess_risk:.3g}: {risk}. Error of all slopes {errors} (per deviation of a column).",
        f"Medians of {found.runs} simulated fits. These are guesses: {found.assumption}.",
    ]
    if found.withheld is not None and not found.unsure:
        lines.append(f"Not at this n: there will be no intervals, because {found.withheld}.")
    elif found.unsure:
        lines.append(f"No interval would be offered. {cannot_tell(found)}")
    return lines


def forecast_document(found: FitForecast) -> dict[str, Any]:
    """The forecast as plain data."""
    names = ("excess_loss", "statistical_excess", "excess_risk", "coefficient_error", "statistical_error")
    return {
        **{name: getattr(found, name) for name in names},
        "level": found.level,
        "terms": [
            {
                "name": term.name,
                "error": term.error,
                "half_width": term.half_width,
                "error_without_privacy": term.error_without_privacy,
                "half_width_without_privacy": term.half_width_without_privacy,
            }
            for term in found.terms
        ],
        "withheld": found.withheld,
        "runs": found.runs,
        "assumption": found.assumption,
    }


def target_document(study: Study, target: Target) -> dict[str, Any]:
    """Whether a target is met, and the least n and ε that would."""
    met = study.meets(target)
    reached = target.reached(study.forecast)
    others = [(guess, target.reached(found)) for guess, found in study.under_other_guesses()]
    unknowns = ["n"] if study.budget.epsilon is None or study.budget.is_pure else ["n", "epsilon"]
    found = {name: study.least(name, target) for name in unknowns}
    return {
        "measure": target.measure,
        "value": target.value,
        "term": target.term,
        "effect": target.effect,
        "met": met,
        "needed": target.largest(study.level),
        "forecast": reached if math.isfinite(reached) else None,
        "floor": target.floor(study.forecast),
        "least": {name: one.value for name, one in found.items()},
        "reasons": {name: one.reason for name, one in found.items() if one.reason},
        "assumption": study.forecast.assumption,
        "other_guesses": {guess: value if math.isfinite(value) else None for guess, value in others},
    }


def target_lines(study: Study, target: Target, document: dict[str, Any]) -> list[str]:
    """Whether a target is met and what it needs, in sentences."""
    reached = document["forecast"]
    said = "no interval would be offered" if reached is None else f"the forecast is {reached:.3g}"
    needed = "" if target.measure != "power" else f", which needs a half-width of {document['needed']:.3g}"
    verdict = "Yes, under these guesses" if document["met"] else "Not at this n and budget, under these guesses"
    lines = [f"{verdict}: {target}{needed}; {said}. Without privacy it would be {document['floor']:.3g}."]
    least = {name: value for name, value in document["least"].items() if value is not None}
    ways = []
    if "n" in least:
        ways.append(f"n = {least['n']:,.0f} at this budget")
    if "epsilon" in least:
        ways.append(f"epsilon = {least['epsilon']:g} at n = {study.n:,}")
    if ways:
        lines.append(f"The least that is enough: {', or '.join(ways)}.")
    lines += dict.fromkeys(document["reasons"].values())
    if others := document["other_guesses"]:
        values = [f"{guess}: {'no interval' if at is None else f'{at:.3g}'}" for guess, at in others.items()]
        decides = {at is not None and at <= document["needed"] for at in others.values()} != {document["met"]}
        said = "The guesses decide. Under others" if decides else "Under other guesses"
        lines.append(f"{said} it would be: {'; '.join(values)}. State what you know by tacit.Assumptions(…).")
    return lines


def plot_study(study: Study, path: str | os.PathLike[str] | None = None, *, target: Target | None = None) -> Figure:
    """Draw what a target measures, by default the error of all slopes, against n and ε; dashed: sampling alone.

    A plan of a larger ε is never drawn above one of a smaller ε, as one can ask for less.

    Nothing but public facts is drawn, and the same study gives the same file.
    """
    if not isinstance(study, Study):
        raise SettingError("plot_study draws what tacit.plan(…), or the study(n, d) of an estimator, returns.")
    if study.budget.epsilon is None or study.budget.is_pure:
        raise SettingError("The picture is against epsilon: give a budget of epsilon and a delta above 0.")
    sizes = sorted({max(50, round(study.n * factor)) for factor in SIZES})
    epsilons = [float(f"{study.budget.epsilon * factor:.3g}") for factor in EPSILONS]
    grid = study.grid(sizes, epsilons)
    aim = target or Target("error", 1.0)
    study.require_term(aim)
    return drawn(lambda: _panels(study, sizes, epsilons, grid, aim, marked=target is not None), path)


def _panels(
    study: Study,
    sizes: list[int],
    epsilons: list[float],
    grid: list[list[FitForecast | None]],
    aim: Target,
    *,
    marked: bool,
) -> Figure:
    figure = empty_figure(10.4, 5.2, w_pad=0.14, h_pad=0.1)
    left, right = figure.subplots(1, 2, sharey=True)
    heights = [_reached(row, aim) for row in grid]
    floors = [next((aim.floor(one) for one in row if one is not None), math.nan) for row in grid]
    for column, (epsilon, colour) in enumerate(zip(epsilons, COLOURS, strict=True)):
        _line(left, sizes, [row[column] for row in heights], colour, f"ε = {epsilon:g}")
    left.plot(sizes, floors, color=INK, label="sampling alone", **_FLOOR)
    for row, (n, colour) in enumerate(zip(sizes, COLOURS, strict=False)):
        _line(right, epsilons, heights[row], colour, f"n = {n:,}")
        right.plot(epsilons, [floors[row]] * len(epsilons), color=colour, **_FLOOR)
    here = aim.reached(study.forecast)
    for axes, at in ((left, study.n), (right, float(study.budget.epsilon or 1.0))):
        if math.isfinite(here):
            axes.scatter([at], [here], color=INK, s=44, zorder=5, label="this study")
        if marked:
            axes.axhline(aim.largest(study.level), color=GREY, linewidth=1.1, linestyle=":", label="target")
        axes.set(xscale="log", yscale="log")
        axes.legend(frameon=False, fontsize=9.5, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
        tidy(axes)
    what = {"error": "error of all slopes, per deviation", "excess": "excess risk"}.get(
        aim.measure, _width_of(aim, study)
    )
    left.set(xlabel="records n", ylabel=what)
    right.set_xlabel("ε")
    title = f"Forecast of {study.plan.design.width} coefficients, under guesses; dashed: sampling alone"
    figure.suptitle(title, x=0.012, ha="left", fontsize=13, fontweight="bold")
    return figure


def _width_of(aim: Target, study: Study) -> str:
    whose = "the widest slope" if aim.term is None else one_line(aim.term)
    return f"half-width of the {study.level:.0%} interval of {whose}".replace("$", r"\$")


def _reached(row: list[FitForecast | None], aim: Target) -> list[float]:
    """What is reached at growing ε: at most what a smaller ε reaches, as one can ask for less; NaN if nothing is."""
    found, least = [], math.inf
    for one in row:
        least = min(least, math.inf if one is None else aim.reached(one))
        found.append(least if math.isfinite(least) else math.nan)
    return found


_FLOOR: dict[str, Any] = {"linestyle": "--", "linewidth": 1.2, "zorder": 2}


def _line(axes: Axes, across: Any, heights: list[float], colour: str, label: str) -> None:
    axes.plot(across, heights, color=colour, marker="o", markersize=3.5, linewidth=1.8, label=label)


def _number(value: float | None, missing: str = "") -> str:
    return missing if value is None else f"{value:.3g}"
