"""Pictures of what was released. Drawn to files, without a window and without global state."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import SettingError
from tacit.files import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = (".png", ".svg")
INTERCEPT = "Intercept"

INK = "#22313f"
FAINT = "#dfe4e8"
STYLE: dict[Any, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 10.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    # The same picture is the same file: no random names inside an SVG.
    "svg.hashsalt": "tacit",
}
_SHIFT = 0.22
"""Dots of one term stand this far apart, so that those that agree stay visible side by side."""
_MARKS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("truth", {"marker": "D", "color": "none", "edgecolors": INK, "s": 52, "linewidths": 1.4}),
    ("not private", {"marker": "o", "color": "#e08e0b", "s": 42}),
    ("private", {"marker": "s", "color": "#1f6fb2", "s": 40}),
)


def coefficients_picture(
    terms: Sequence[Mapping[str, Any]],
    path: str | os.PathLike[str],
    *,
    truth: Mapping[str, float] | None = None,
    reference: Mapping[str, float] | None = None,
    units: Mapping[str, tuple[float, str]] | None = None,
    title: str = "Coefficients",
    axis: str = "change in log odds",
) -> None:
    """Draw the coefficients as dots, beside a truth and a fit without privacy where known.

    Guarantee
    ---------
    - The file is written whole or not at all, and the same input gives the same file.

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
        What stands above and below.
    """
    target = picture_file(path)
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        shown = [term for term in terms if term["name"] != INTERCEPT]
        figure = _drawn(shown, (truth, reference), units or {}, title, axis)
        save_whole(figure, target)


def picture_file(path: str | os.PathLike[str]) -> Path:
    """Return the path of a picture; what is neither .png nor .svg is refused."""
    target = Path(path)
    if target.suffix.lower() not in KINDS:
        raise SettingError(f"a picture is a .png or .svg file; got {target.name!r}")
    return target


def _drawn(
    terms: Sequence[Mapping[str, Any]],
    others: tuple[Mapping[str, float] | None, Mapping[str, float] | None],
    units: Mapping[str, tuple[float, str]],
    title: str,
    axis: str,
) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 1.9 + 0.46 * len(terms)))
    figure.set_layout_engine("constrained", w_pad=0.16, h_pad=0.07)
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    private = {str(term["name"]): float(term["coef"]) for term in terms}
    places = range(len(terms))
    factors = [units.get(name, (1.0, name))[0] for name in private]
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
    _intervals(axes, terms, factors, _SHIFT * (len(series) - 1) / 2)
    axes.set_yticks(list(places), [units.get(name, (1.0, name))[1] for name in private])
    axes.set_ylim(len(terms) - 0.45, -0.55)
    axes.set_xlabel(axis)
    axes.margins(x=0.06)
    _tidy(axes)
    figure.suptitle(title, x=0.012, ha="left", fontsize=13, fontweight="bold")
    if len(series) > 1:
        figure.legend(
            loc="outside lower center", ncols=len(series), frameon=False, handletextpad=0.2
        )
    return figure


def _intervals(
    axes: Axes, terms: Sequence[Mapping[str, Any]], factors: Sequence[float], shift: float
) -> None:
    for place, (term, factor) in enumerate(zip(terms, factors, strict=True)):
        if term["lower"] is not None and term["upper"] is not None:
            ends = [term["lower"] * factor, term["upper"] * factor]
            axes.plot(ends, [place + shift] * 2, color="#1f6fb2", linewidth=1.6, zorder=2)


def _tidy(axes: Axes) -> None:
    axes.axvline(0.0, color=INK, linewidth=0.8, zorder=1)
    axes.grid(axis="both", color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)


def save_whole(figure: Figure, target: Path) -> None:
    """Write a figure to a file, whole or not at all, and the same every time."""
    kind = target.suffix.lower()
    metadata = {"Date": None} if kind == ".svg" else {"Software": None}
    with replacing(target) as draft:
        figure.savefig(draft, dpi=160, metadata=metadata)
