"""What all figures share: style, colours, tidy axes, and files, without any global state."""

from __future__ import annotations

import functools
import io
import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import SettingError
from tacit.files import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = (".png", ".svg", ".pdf")
_DATES = {".png": "Software", ".svg": "Date", ".pdf": "CreationDate"}
"""Left out, so that the same picture is the same file."""
Style = Mapping[str, Any]
INK, FAINT = "#22313f", "#dfe4e8"
BLUE, ORANGE, GREEN, GREY, LIGHT = "#1f6fb2", "#e08e0b", "#3f8f6b", "#6f7f8c", "#a9b4bd"
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


def drawn(draw: Callable[[], Figure], path: str | os.PathLike[str] | None) -> Figure:
    """Draw a figure in the style of the package; write it, whole or not at all, where a path is given."""
    target = None if path is None else picture_file(path)
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        figure = draw()
        if target is not None:
            with replacing(target) as draft:
                figure.savefig(draft, dpi=160, metadata={_DATES[target.suffix.lower()]: None})
    return figure


def picture_file(path: str | os.PathLike[str]) -> Path:
    """Return the path of a picture; what is none of .png, .svg and .pdf is refused."""
    target = Path(path)
    if target.suffix.lower() not in KINDS:
        raise SettingError(f"a picture is a .png, .svg or .pdf file; got {target.name!r}")
    return target


def empty_figure(width: float, height: float, **padding: float) -> Figure:
    """A figure without axes, which are placed so that nothing overlaps."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure: Figure = _notebook_figure()(figsize=(width, height))
    figure.set_layout_engine("constrained", **padding)
    FigureCanvasAgg(figure)
    return figure


@functools.cache
def _notebook_figure() -> type[Figure]:
    """Matplotlib's figure, which a notebook shows without any magic command."""
    from matplotlib.figure import Figure

    def as_png(figure: Figure) -> bytes:
        stream = io.BytesIO()
        figure.savefig(stream, format="png", dpi=110)
        return stream.getvalue()

    return type("Figure", (Figure,), {"_repr_png_": as_png})


def term_figure(labels: list[str], *, title: str, axis: str, reference: float) -> tuple[Figure, Axes]:
    """A figure with a row for each term, the first on top, and a line at the reference value."""
    figure = empty_figure(8.0, 1.9 + 0.45 * len(labels), w_pad=0.16, h_pad=0.07)
    axes = figure.add_subplot()
    axes.set_yticks(range(len(labels)), labels)
    axes.set(ylim=(len(labels) - 0.45, -0.55), xlabel=axis)
    axes.margins(x=0.06)
    axes.axvline(reference, color=INK, linewidth=0.8, zorder=1)
    tidy(axes)
    figure.suptitle(title, x=0.012, ha="left", fontsize=13, fontweight="bold")
    return figure, axes


def tidy(axes: Axes, spines: Collection[str] = ()) -> None:
    """A faint grid behind the data, no ticks, and no border but the named sides."""
    axes.grid(axis="both", color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, which="both")
    for name, side in axes.spines.items():
        side.set_visible(name in spines)
        side.set_color(LIGHT)
