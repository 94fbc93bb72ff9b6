"""Pictures of the accuracy of image classifiers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tacit.errors import SettingError
from tacit.report.figure import BLUE, drawn, empty_figure, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def accuracy_picture(
    points: Sequence[tuple[float, float]], path: str | os.PathLike[str] | None = None, *, title: str, axis: str
) -> Figure:
    """Accuracy, in per cent, against ε or the number of parameters."""
    if not points:
        raise SettingError("There is no accuracy to draw.")

    def draw() -> Figure:
        figure = empty_figure(7.0, 4.2, w_pad=0.16, h_pad=0.1)
        axes = figure.add_subplot()
        places, shares = zip(*sorted(points), strict=True)
        axes.plot(places, [100 * share for share in shares], color=BLUE, marker="o", markersize=4, linewidth=1.5)
        axes.set(xlabel=axis, ylabel="accuracy, %")
        tidy(axes)
        figure.suptitle(title, x=0.012, ha="left", fontsize=13, fontweight="bold")
        return figure

    return drawn(draw, path)
