"""A picture of a joint confidence region of two coefficients."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tacit.errors import SettingError
from tacit.inference.text_table import one_line
from tacit.report.figure import BLUE, GREY, INK, drawn, empty_figure, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tacit.inference.regions import ConfidenceRegion


def plot_region(
    fit: Any,
    names: Sequence[str],
    path: str | os.PathLike[str] | None = None,
    *,
    level: float = 0.95,
    title: str | None = None,
) -> Figure:
    """Draw the joint confidence region of two coefficients, or of two combinations of them.

    The dashed box holds the intervals of each by itself; lines cross at zero.

    Guarantee
    ---------
    - Nothing but the release is drawn, and the same fit gives the same file.

    `path` is a .png or .svg file; without one the figure is returned only.
    """
    if not callable(getattr(fit, "confidence_region", None)):
        raise SettingError("plot_region draws a fit of tacit.glm or a fitted estimator.")
    region = fit.confidence_region(names, level)
    if len(region.labels) != 2:
        raise SettingError(f"A picture shows two coefficients; got {len(region.labels)}.")
    alone = fit.t_test(list(region.labels)).conf_int(level)
    return drawn(lambda: _ellipse(region, alone, title), path)


def _ellipse(region: ConfidenceRegion, alone: Any, title: str | None) -> Figure:
    figure = empty_figure(6.0, 5.4, w_pad=0.16, h_pad=0.1)
    axes = figure.add_subplot()
    edge = region.boundary()
    axes.fill(edge[:, 0], edge[:, 1], color=BLUE, alpha=0.18, linewidth=0)
    label = f"{100 * region.level:g}% region, {region.statement}"
    axes.plot(edge[:, 0], edge[:, 1], color=BLUE, linewidth=1.6, label=label)
    (left, right), (low, high) = alone.tolist()
    across, up = [left, right, right, left, left], [low, low, high, high, low]
    axes.plot(across, up, color=GREY, linewidth=1.0, linestyle="--", label="each by itself")
    axes.plot(*region.center.tolist(), "o", color=BLUE, zorder=3, markersize=5)
    for line, inside in ((axes.axvline, axes.get_xlim()), (axes.axhline, axes.get_ylim())):
        if inside[0] <= 0.0 <= inside[1]:
            line(0.0, color=INK, linewidth=0.8, zorder=1)
    names = [one_line(name).replace("$", r"\$") for name in region.labels]
    axes.set(xlabel=names[0], ylabel=names[1])
    tidy(axes)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, handletextpad=0.6)
    heading = title or f"{names[0]} and {names[1]}"
    figure.suptitle(heading, x=0.012, ha="left", fontsize=13, fontweight="bold")
    return figure
