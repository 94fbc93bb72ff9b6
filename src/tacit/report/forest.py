"""A forest plot: every coefficient with its total interval and that of sampling alone inside."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING
from typing import TYPE_CHECKING, Any

from tacit.design.design import INTERCEPT
from tacit.errors import SettingError
from tacit.inference.summary import Line, Summary
from tacit.inference.text_table import one_line, rounded
from tacit.report.figure import BLUE, ORANGE, drawn, term_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PRIVATE, SAMPLED = BLUE, ORANGE
"""Both bars differ in thickness too, for readers and printers without colour."""
WIDEST_RATIO = 1e6
"""Ratios beyond it, or below its inverse, are drawn as if they stood there."""
SHORT_AXIS = 4.0
"""A logarithmic axis is short if its end is less than so many times its beginning."""

Bars = Sequence[tuple[Line, Line, float]]


def plot(
    fit: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    level: float = 0.95,
    exponentiate: bool = False,
    units: Mapping[str, tuple[float, str]] | None = None,
    title: str | None = None,
) -> Figure:
    """Draw a fit's coefficients with their intervals; write a file where a path is given.

    The thin bar is the total interval, the thick one inside leaves out the noise added for
    privacy. The intercept is left out, as its scale is another.

    Guarantee
    ---------
    - Nothing but the release is drawn, and the same fit gives the same file.

    Parameters
    ----------
    fit
        A fit of `glm`, or a fitted estimator.
    path
        A .png or .svg file; without one the figure is returned only.
    level
        Of the intervals.
    exponentiate
        Whether to draw odds or rate ratios, on a logarithmic axis.
    units
        For each term, how many units of its column the picture shows, and in which words.
    title
        What stands above; by default the model and its guarantee.
    """
    if not callable(getattr(fit, "summary", None)):
        raise SettingError("plot draws a fit of tacit.glm or a fitted estimator.")
    if getattr(fit, "release", True) is None:
        # A fit read from a file has one kind of interval.
        total = sampling = fit.summary(level, exponentiate=exponentiate)
    else:
        total = fit.summary(level, exponentiate=exponentiate)
        sampling = fit.summary(level, which="sampling", exponentiate=exponentiate)
    return drawn(lambda: _figure(total, sampling, units or {}, title), path)


def _figure(
    total: Summary,
    sampling: Summary,
    units: Mapping[str, tuple[float, str]],
    title: str | None,
) -> Figure:
    bars = [
        (line, inner, units.get(line.name, (1.0, ""))[0])
        for line, inner in zip(total.lines, sampling.lines, strict=True)
        if line.name != INTERCEPT
    ]
    names = [units.get(line.name, (1.0, line.name))[1] for line, _, _ in bars]
    ratio = total.estimate != "coef"
    figure, axes = term_figure(
        [one_line(name).replace("$", r"\$") for name in names],
        title=(title or _title(total)).replace("$", r"\$"),
        axis={"coef": "coefficient"}.get(total.estimate, total.estimate),
        reference=1.0 if ratio else 0.0,
    )
    if ratio:
        axes.set_xscale("log")
    _draw_bars(axes, bars, ratio=ratio, both=total is not sampling)
    if ratio:
        _mark_ratios(axes)
    if axes.get_legend_handles_labels()[1]:
        figure.legend(loc="outside lower center", ncols=3, frameon=False, handletextpad=0.6)
    return figure


def _draw_bars(axes: Axes, bars: Bars, *, ratio: bool, both: bool) -> None:
    statements = {line.statement for line, _, _ in bars if line.statement is not None}
    word = f", {statements.pop()}" if len(statements) == 1 else ""
    for place, (line, inner, factor) in enumerate(bars):
        first = place == 0
        ends = _ends(line, factor, ratio=ratio)
        if ends is not None:
            label = f"total interval{word}" if first else None
            axes.plot(ends, [place] * 2, color=PRIVATE, linewidth=1.8, zorder=2, label=label)
            within = _ends(inner, factor, ratio=ratio)
            if both and within is not None:
                label = "sampling alone, without the noise added" if first else None
                axes.plot(
                    within,
                    [place] * 2,
                    color=SAMPLED,
                    linewidth=6.5,
                    solid_capstyle="butt",
                    zorder=3,
                    label=label,
                )
        axes.scatter(
            [_scaled(line.coef, factor, ratio=ratio)],
            [place],
            marker="s",
            s=30,
            color=PRIVATE,
            edgecolors="white",
            linewidths=0.7,
            zorder=4,
            label="estimate" if first and ends is not None else None,
        )


def _ends(line: Line, factor: float, *, ratio: bool) -> list[float] | None:
    if line.lower is None or line.upper is None:
        return None
    ends = [_scaled(end, factor, ratio=ratio) for end in (line.lower, line.upper)]
    return ends if all(map(math.isfinite, ends)) else None


def _scaled(value: float, factor: float, *, ratio: bool) -> float:
    """A coefficient for so many units of its column: times them, or to their power."""
    if not ratio:
        return value * factor
    widest = math.log(WIDEST_RATIO)
    exponent = factor * (math.log(value) if value > 0 else -math.inf)
    return math.exp(min(max(exponent, -widest), widest))


def _mark_ratios(axes: Axes) -> None:
    """Plain numbers on a logarithmic axis, evenly apart where it is short."""
    from matplotlib.ticker import AutoLocator, FuncFormatter, LogLocator, NullLocator

    low, high = axes.get_xlim()
    short = high < SHORT_AXIS * low
    axes.xaxis.set_major_locator(AutoLocator() if short else LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _title(total: Summary) -> str:
    facts = total.header
    subject = (
        facts.model if facts.response is None else f"{one_line(facts.response)}: {facts.model}"
    )
    if facts.not_private is not None:
        return f"{subject} (not private)"
    return f"{subject}, at ε = {rounded(facts.guarantee.epsilon, 4, ROUND_CEILING)}"
