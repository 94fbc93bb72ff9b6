"""Where the axis of a picture ends if a few intervals are far wider than the others, and the marks of what is cut."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tacit.report.figure import BLUE, Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDE = 100.0
"""A finite bar is cut if it is so many times as wide as the next one, and a dot if it lies as many widths away."""
FAR = 10.0
"""Where there are no bars at all, a dot is cut if it lies so many times as far from the reference as the next one."""
MARGIN = 0.06
"""Of the axis, on either side."""
Bar = tuple[float, float]


def kept_range(bars: Sequence[Bar], dots: Sequence[float], reference: float) -> Bar | None:
    """The ends of an axis on which the usual bars can be read; None where all of them can be.

    Endless bars are cut, and finite ones above a gap: at most a third of them, as columns of different units have
    bars of different widths.
    """
    widths = sorted(upper - lower for lower, upper in bars if math.isfinite(upper - lower))
    if not widths:
        finite = sorted((dot for dot in dots if math.isfinite(dot)), key=lambda dot: abs(dot - reference))
        few = range(max(1, len(finite) - len(finite) // 3), len(finite))
        sizes = [abs(dot - reference) for dot in finite]
        near = finite[: next((at for at in few if sizes[at] > FAR * sizes[at - 1]), len(finite))]
        if len(bars) == 0 and len(near) == len(dots):
            return None
        return _padded(min(*near, reference, reference), max(*near, reference, reference))
    few = range(len(widths) - len(widths) // 3, len(widths))
    widest = next((widths[at - 1] for at in few if widths[at] > WIDE * widths[at - 1]), widths[-1])
    kept = [(lower, upper) for lower, upper in bars if upper - lower <= widest]
    low, high = min((reference, *(bar[0] for bar in kept))), max((reference, *(bar[1] for bar in kept)))
    near = [dot for dot in dots if low - WIDE * widest <= dot <= high + WIDE * widest]
    if len(kept) == len(bars) and len(near) == len(dots):
        return None
    return _padded(min((low, *near)), max((high, *near)))


def _padded(low: float, high: float) -> Bar:
    margin = MARGIN * (high - low) or 1.0
    return low - margin, high + margin


def mark_cuts(axes: Axes, places: Sequence[tuple[int, Sequence[float]]]) -> None:
    """Arrows at the ends of the axis, in the row of each thing that goes on beyond them."""
    left, right = axes.get_xlim()
    label: str | None = "goes on beyond the picture"
    for row, ends in places:
        for edge, marker, beyond in ((left, "<", min(ends) < left), (right, ">", max(ends) > right)):
            if beyond:
                style: Style = {"color": BLUE, "markersize": 7, "linestyle": "none", "clip_on": False, "zorder": 5}
                axes.plot([edge], [row], marker=marker, label=label, **style)
                label = None
