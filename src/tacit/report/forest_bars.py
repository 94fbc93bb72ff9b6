"""The rows of a forest plot: estimates, total and sampling intervals, and what is withheld."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tacit.design.design import INTERCEPT, is_intercept
from tacit.inference.estimates import Line
from tacit.report.figure import BLUE, GREY, ORANGE, Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDEST = math.log(1e6)
"""Ratios beyond 1e6, or below its inverse, go on beyond the picture."""
SHORT, DECADES = 4.0, 3.0
"""Ends of an axis of ratios: those so close have even ticks, and those so many decades apart have decades alone."""
# Both bars differ in thickness too, for readers and printers without colour; caps show beside the estimate's mark.
_TOTAL: Style = {"color": BLUE, "linewidth": 1.8, "marker": "|", "markersize": 11, "markeredgewidth": 1.8, "zorder": 2}
_SAMPLING: Style = {"color": ORANGE, "linewidth": 6.5, "solid_capstyle": "butt", "zorder": 3}
_ESTIMATE: Style = {"marker": "s", "s": 22, "color": BLUE, "edgecolors": "white", "linewidths": 0.7, "zorder": 4}
_WITHHELD: Style = {"marker": "s", "s": 30, "color": "white", "edgecolors": GREY, "linewidths": 1.4, "zorder": 4}
WITHHELD = "interval withheld"
Bars = Sequence[tuple[Line, Line]]


def term_order(pairs: list[tuple[Line, Line]]) -> list[tuple[Line, Line]]:
    """Without intercepts, unless there is nothing else; of several classes the rows of a term stand together."""
    classes = sum(line.name.endswith(f": {INTERCEPT}") for line, _ in pairs)
    if classes > 1 and len(pairs) % classes == 0:
        terms = len(pairs) // classes
        pairs = [pairs[own * terms + term] for term in range(terms) for own in range(classes)]
    return [pair for pair in pairs if not is_intercept(pair[0].name)] or pairs


def draw_bars(axes: Axes, bars: Bars, *, ratio: bool, both: bool, level: float) -> None:
    """Draw each row: bars and a full mark, or, where its interval is withheld, a hollow mark and a word."""
    told: set[str] = set()
    withheld: list[tuple[float, int]] = []

    def once(label: str) -> str | None:
        new = label not in told
        told.add(label)
        return label if new else None

    for place, (line, inner) in enumerate(bars):
        at, ends = drawn_at(line.coef, ratio=ratio), ends_of(line, ratio=ratio)
        if ends is not None:
            word = f", {line.statement}" if line.statement else ""
            dashes: Style = {"linestyle": (0, (4, 2))} if line.statement == "conservative" else {}
            label = once(f"{100 * level:g}% total interval{word}")
            axes.plot(_drawable(axes, ends), [place] * 2, label=label, **_TOTAL, **dashes)
            within = ends_of(inner, ratio=ratio)
            if both and within is not None:
                label = once("sampling alone, without the noise added")
                axes.plot(_drawable(axes, within), [place] * 2, label=label, **_SAMPLING)
            axes.scatter([at], [place], label=once("estimate"), **_ESTIMATE)
        elif line.statement is None:
            axes.scatter([at], [place], **_ESTIMATE)
        else:
            axes.scatter([at], [place], label=once(f"estimate, {WITHHELD}"), **_WITHHELD)
            withheld.append((at, place))
    # The axis has its ends now.
    for at, place in withheld:
        _say_withheld(axes, at, place, ratio=ratio)


def _say_withheld(axes: Axes, at: float, place: int, *, ratio: bool) -> None:
    """Write beside an estimate, on the side that has room, over a line that passes there."""
    ends = axes.get_xlim()
    low, high, here = (math.log(max(x, 1e-300)) for x in (*ends, at)) if ratio else (*ends, at)
    right = here > (low + high) / 2
    edge = min(max(at, ends[0]), ends[1])
    beside: Style = {"xytext": (-8 if right else 8, 0), "textcoords": "offset points", "va": "center", "color": GREY}
    paper: Style = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
    axes.annotate(
        WITHHELD, (edge, place), fontsize="small", ha="right" if right else "left", bbox=paper, zorder=3.5, **beside
    )


def ratio_ticks(axes: Axes) -> None:
    """Plain numbers on a logarithmic axis: even where it is short, decades alone where it is long."""
    from matplotlib import ticker

    low, high = axes.get_xlim()
    decades = math.log10(high / low)
    if high < SHORT * low:
        axes.xaxis.set_major_locator(ticker.AutoLocator())
    elif decades <= DECADES:
        subs = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0) if high < 20.0 * low else (1.0, 2.0, 5.0)
        axes.xaxis.set_major_locator(ticker.LogLocator(subs=subs, numticks=30))
    else:
        axes.xaxis.set_major_locator(ticker.LogLocator(numticks=9))
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))


def _drawable(axes: Axes, ends: Sequence[float]) -> list[float]:
    """Ends of a bar, the endless ones at the end of the axis."""
    left, right = axes.get_xlim()
    return [end if math.isfinite(end) else (left if end < 0 else right) for end in ends]


def ends_of(line: Line, *, ratio: bool) -> list[float] | None:
    """Ends of an interval as they are drawn; None where there is none."""
    if line.lower is None or line.upper is None:
        return None
    return [drawn_at(end, ratio=ratio) for end in (line.lower, line.upper)]


def drawn_at(value: float, *, ratio: bool) -> float:
    """A coefficient as it is; a ratio within those that are drawn."""
    return min(max(value, math.exp(-WIDEST)), math.exp(WIDEST)) if ratio else value
