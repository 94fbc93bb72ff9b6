"""Private coefficients compared with the truth of a simulation and with a fit without privacy."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tacit.design.design import INTERCEPT
from tacit.inference.text_table import Table, columns_of_numbers
from tacit.report.figure import BLUE, INK, ORANGE, drawn, term_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHIFT = 0.22
"""Dots of one term are this far apart, so that those that agree stay visible side by side."""
_MARKS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("truth", {"marker": "D", "color": "none", "edgecolors": INK, "s": 52, "linewidths": 1.4}),
    ("not private", {"marker": "o", "color": ORANGE, "s": 42}),
    ("private", {"marker": "s", "color": BLUE, "s": 40}),
)


def comparison_table(
    terms: Sequence[Mapping[str, Any]],
    truth: Mapping[str, float],
    reference: Mapping[str, float],
) -> Table:
    """Each term's truth, its fit without privacy, and its private fit with its standard error."""
    names = [str(term["name"]) for term in terms]
    columns = {
        "truth": [truth[name] for name in names],
        "not private": [reference[name] for name in names],
        "private": [term["coef"] for term in terms],
    }
    if any(term["std_err"] is not None for term in terms):
        columns["std. error"] = [term["std_err"] for term in terms]
    numbers = columns_of_numbers(*columns.values())
    return Table(("term", *columns), tuple(zip(names, *numbers, strict=True)))


def comparison_picture(
    terms: Sequence[Mapping[str, Any]],
    path: str | os.PathLike[str],
    *,
    truth: Mapping[str, float] | None = None,
    reference: Mapping[str, float] | None = None,
    units: Mapping[str, tuple[float, str]] | None = None,
    title: str = "Coefficients",
    axis: str = "change in log odds",
) -> None:
    """Draw the coefficients as dots, next to a truth and a fit without privacy where known.

    Parameters
    ----------
    terms
        Terms of a fit; intervals are drawn where they were paid for. The intercept is left out:
        its scale is another.
    path
        A .png or .svg file.
    truth, reference
        True coefficients and those of a fit without privacy, by name.
    units
        For each term, how many units of its column the picture shows, and in which words.
    title, axis
        The texts above and below.
    """
    shown = [term for term in terms if term["name"] != INTERCEPT]
    drawn(lambda: _figure(shown, (truth, reference), units or {}, title, axis), path)


def _figure(
    terms: Sequence[Mapping[str, Any]],
    others: tuple[Mapping[str, float] | None, Mapping[str, float] | None],
    units: Mapping[str, tuple[float, str]],
    title: str,
    axis: str,
) -> Figure:
    private = {str(term["name"]): float(term["coef"]) for term in terms}
    factors = [units.get(name, (1.0, name))[0] for name in private]
    labels = [units.get(name, (1.0, name))[1] for name in private]
    figure, axes = term_figure(labels, title=title, axis=axis, reference=0.0)
    series = [
        (label, mark, values)
        for (label, mark), values in zip(_MARKS, (*others, private), strict=True)
        if values
    ]
    for index, (label, mark, values) in enumerate(series):
        shift = _SHIFT * (index - (len(series) - 1) / 2)
        points = [
            (values[name] * factor, place + shift)
            for place, (name, factor) in enumerate(zip(private, factors, strict=True))
            if name in values
        ]
        axes.scatter(*zip(*points, strict=True), label=label, zorder=3, **mark)
    for place, (term, factor) in enumerate(zip(terms, factors, strict=True)):
        if term["lower"] is not None and term["upper"] is not None:
            ends = [term["lower"] * factor, term["upper"] * factor]
            height = place + _SHIFT * (len(series) - 1) / 2
            axes.plot(ends, [height] * 2, color=BLUE, linewidth=1.6, zorder=2)
    if len(series) > 1:
        figure.legend(
            loc="outside lower center", ncols=len(series), frameon=False, handletextpad=0.2
        )
    return figure
