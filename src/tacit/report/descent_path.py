"""The path of a descent as a picture: coefficients after each step, and the budget spent by then."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.contract.path import Path
from tacit.design.design import is_intercept
from tacit.errors import SettingError
from tacit.report.figure import BLUE, GREEN, GREY, INK, LIGHT, ORANGE, drawn, empty_figure, tidy
from tacit.text_table import one_line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = (BLUE, ORANGE, GREEN, INK, GREY)
"""Of the coefficients that are named; the others are faint."""


def plot_path(path: Path, file: str | os.PathLike[str] | None = None, *, title: str | None = None) -> Figure:
    """Draw how the coefficients of a descent moved, without the intercept, and what was spent by each step.

    Those that end farthest from zero are named. Marks at the right are the last iterate, the mean of the second half
    and the mean of all. Nothing but the release is drawn, and the same path gives the same file.
    """
    if not isinstance(path, Path):
        raise SettingError("plot_path draws the release_.path of a fitted estimator.")
    return drawn(lambda: _lines(path, title), file)


def _lines(path: Path, title: str | None) -> Figure:
    slopes = [place for place, name in enumerate(path.names) if not is_intercept(name)] or list(range(len(path.names)))
    ranked = sorted(slopes, key=lambda place: -abs(float(path.tail[place])))
    named = dict(zip(ranked, COLOURS, strict=False))
    figure = empty_figure(8.0, 5.4, w_pad=0.16, h_pad=0.1)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    steps = np.arange(1, len(path) + 1)
    for place in reversed(ranked):
        colour = named.get(place, LIGHT)
        label = one_line(path.names[place]).replace("$", r"\$") if place in named else None
        above.plot(steps, path.coefficients[:, place], color=colour, linewidth=1.6 if label else 0.8, label=label)
    _marks(above, path, named)
    above.set_ylabel("coefficient")
    spent, word = (path.epsilon, "ε spent") if np.isfinite(path.epsilon).all() else (path.mu, "μ spent")
    if np.isfinite(spent).all():
        below.plot(steps, spent, color=BLUE, linewidth=1.6)
        below.set_ylim(bottom=0.0)
    below.set(xlabel="step", ylabel=word)
    for axes in (above, below):
        tidy(axes)
    handles, labels = above.get_legend_handles_labels()
    names = len(labels) - 3
    order = [*reversed(range(names)), *range(names, len(labels))]
    words = [handles[at] for at in order], [labels[at] for at in order]
    figure.legend(*words, loc="outside lower center", ncols=4, frameon=False, handletextpad=0.6)
    figure.suptitle(title or f"Path of {len(path)} noisy steps", x=0.012, ha="left", fontsize=13, fontweight="bold")
    return figure


def _marks(axes: Any, path: Path, named: dict[int, str]) -> None:
    places, colours, end = list(named), list(named.values()), len(path)
    gap = max(0.5, 0.02 * end)
    outputs = (("last", path.last, "o"), ("tail", path.tail, "s"), ("average", path.average, "^"))
    for number, (label, values, marker) in enumerate(outputs, start=1):
        across = [end + number * gap] * len(places)
        axes.scatter(across, values[places], c=colours, marker=marker, s=26, zorder=3)
        # The legend shows the shapes once, in a colour of none of the coefficients.
        axes.scatter([], [], c=LIGHT, marker=marker, s=26, label=label)
