"""Draw the picture of docs/losses.md: value, slope and curvature of the losses, side by side.

python -m tools.loss_pictures [PATH]
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tacit.errors import SettingError
from tacit.losses import classification, poisson, regression
from tacit.losses.dispatch import curvatures, shape_of, slopes
from tacit.losses.loss import Code, Loss
from tacit.report.figure import BLUE, INK, ORANGE, drawn, empty_figure, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "losses.png"
POINTS = 801
COUNT, LARGEST_RATE = 3.0, 3.0
"""Counts are shown for a response of 3; weights fall from a rate of 3 on."""
NAMES = {
    Code.SQUARED: "least squares",
    Code.HUBER: "Huber",
    Code.SMOOTH_HUBER: "smooth Huber",
    Code.LOGISTIC: "logistic",
    Code.HINGE: "smooth hinge",
    Code.POISSON: "Poisson",
    Code.BOUNDED_POISSON: "bounded Poisson",
    Code.PINBALL: "pinball",
}
LABELS = frozenset({Code.LOGISTIC, Code.HINGE})
COUNTS = frozenset({Code.POISSON, Code.BOUNDED_POISSON})
PALETTES = {1: (BLUE,), 2: ("#8d99a3", BLUE), 3: ("#8d99a3", ORANGE, BLUE), 4: ("#8d99a3", ORANGE, "#2e8b57", BLUE)}
COLUMNS = ("loss ρ", "slope ψ = ρ′", "curvature ψ′")

Vector = NDArray[np.float64]


def value(loss: Loss, z: Vector, y: Vector) -> Vector:
    """Return the loss of margins and labels, without overflow."""
    a, b = loss.shape[:2]
    r = z - y
    match loss.code:
        case Code.LOGISTIC:
            found = np.logaddexp(0.0, z) - y * z
        case Code.SQUARED:
            found = 0.5 * r**2
        case Code.HUBER:
            found = np.where(np.abs(r) <= a, 0.5 * r**2, a * np.abs(r) - 0.5 * a**2)
        case Code.SMOOTH_HUBER:
            # Without cancellation: (q - 1) / (2 v²) = 2 / (1 + q).
            q = np.sqrt(1.0 + 4.0 * (r / a) ** 2)
            found = 0.5 * a**2 * (q - 1.0 + np.log(2.0 / (1.0 + q)))
        case Code.HINGE:
            m = (2.0 * y - 1.0) * z
            corner = (1.0 + a - m) ** 2 / (4.0 * a)
            found = np.where(m >= 1.0 + a, 0.0, np.where(m <= 1.0 - a, 1.0 - m, corner))
        case Code.POISSON:
            low = np.minimum(z, a)
            found = np.exp(low) * (1.0 + (z - low)) - y * z
        case Code.PINBALL:
            corner = (b + r) ** 2 / (4.0 * b)
            found = np.where(r >= b, r, np.where(r <= -b, 0.0, corner)) - a * r
        case Code.DISTANCE:
            found = -z
        case _:
            found = _family_value(loss, z, y)
    return np.asarray(found)


def _family_value(loss: Loss, z: Vector, y: Vector) -> Vector:
    """Return the loss of a probit, cloglog, gamma or negative binomial model, between the ends of its margin."""
    match loss.code:
        case Code.PROBIT:
            found = -np.where(y > 0.5, special.log_ndtr(z), special.log_ndtr(-z))
        case Code.CLOGLOG:
            found = np.where(y > 0.5, -np.log(-np.expm1(-np.exp(z))), np.exp(z))
        case Code.GAMMA:
            found = z + y * np.exp(-z)
        case Code.NEGATIVE_BINOMIAL:
            alpha = loss.shape[1]
            found = (y + 1 / alpha) * np.log1p(alpha * np.exp(z)) - y * z
        case _:
            raise KeyError(loss.code)
    return np.asarray(found)


@dataclass(frozen=True)
class Row:
    """Losses of one kind of response, drawn over the same margins."""

    title: str
    axis: str
    response: float
    ends: tuple[float, float]
    losses: tuple[Loss, ...]


def usual() -> tuple[Loss, ...]:
    """The losses behind the estimators, plain and of bounded influence."""
    return (
        regression.SQUARED,
        regression.huber(regression.EFFICIENT),
        regression.smooth_huber(regression.EFFICIENT),
        classification.hinge(),
        classification.LOGISTIC,
        poisson.loss(5.0, 100.0),
        poisson.bounded(COUNT, 0.0, LARGEST_RATE),
    )


def plot_losses(losses: Sequence[Loss] | None = None, path: str | os.PathLike[str] | None = None) -> Figure:
    """Draw losses with their first and second derivatives; write a file where a path is given.

    `losses` are of `tacit.losses`, by default those of the estimators; `path` is a .png or .svg
    file, without which the figure is returned only.
    """
    shown = usual() if losses is None else tuple(losses)
    if not shown or not all(isinstance(each, Loss) and each.code in NAMES for each in shown):
        raise SettingError(
            "plot_losses draws losses of tacit.losses with one margin, for example "
            "[regression.huber(1.345), regression.smooth_huber(1.345)]."
        )
    return drawn(lambda: _figure(rows_of(shown)), path)


def rows_of(losses: Sequence[Loss]) -> list[Row]:
    """Losses by the kind of their response."""
    kinds = (
        ("Residuals", "prediction less response", 0.0, (-5.0, 5.0), None),
        ("Two classes", "margin of a record of class 1", 1.0, (-5.0, 5.0), LABELS),
        ("Counts", "log rate, for a count of 3", COUNT, (-2.0, 3.2), COUNTS),
    )
    rows = []
    for title, axis, response, ends, codes in kinds:
        own = tuple(each for each in losses if (each.code in codes if codes else each.code not in LABELS | COUNTS))
        if own:
            rows.append(Row(title, axis, response, ends, own))
    return rows


def curves_of(loss: Loss, margins: Vector, response: float) -> tuple[Vector, Vector, Vector]:
    """Value (0 at its least), slope and curvature at margins, as the mechanisms compute them."""
    shape, labels = shape_of(loss), np.full(len(margins), response)
    slope, curvature = np.empty(len(margins)), np.empty(len(margins))
    # Not compiled: a picture has few points, and the switch takes long to build.
    slopes.py_func(int(loss.code), shape, margins, labels, slope)
    curvatures.py_func(int(loss.code), shape, margins, labels, curvature)
    if loss.code is Code.BOUNDED_POISSON:
        # It is known by its slope alone.
        steps = np.diff(margins) * (slope[1:] + slope[:-1]) / 2
        height = np.append(0.0, np.cumsum(steps))
    else:
        height = value(loss, margins, labels)
    return height - height.min(), slope, curvature


def _figure(rows: Sequence[Row]) -> Figure:
    figure = empty_figure(10.4, 0.7 + 2.65 * len(rows), w_pad=0.1, h_pad=0.09)
    grid = figure.subplots(len(rows), 3, squeeze=False)
    for place, row in enumerate(rows):
        margins = np.linspace(*row.ends, POINTS)
        colors = PALETTES.get(len(row.losses))
        for index, loss in enumerate(row.losses):
            style: dict[str, Any] = {
                "color": None if colors is None else colors[index],
                "linewidth": 2.4 if index == len(row.losses) - 1 else 1.8,
                "label": NAMES[loss.code],
            }
            for axes, curve in zip(grid[place], curves_of(loss, margins, row.response), strict=True):
                axes.plot(margins, curve, **style)
        _dress(grid[place], row, titled=place == 0)
    return figure


def _dress(panels: Sequence[Axes], row: Row, *, titled: bool) -> None:
    for column, (axes, title) in enumerate(zip(panels, COLUMNS, strict=True)):
        bounded = [loss for loss in row.losses if np.isfinite(loss.lipschitz)]
        if (column < 2 and len(bounded) < len(row.losses)) or row.title == "Counts":
            _set_limits(axes, column, row)
        if titled:
            axes.set_title(title, fontsize=12.5, fontweight="bold", loc="left")
        axes.set_xlabel(row.axis, fontsize=9.5)
        axes.axhline(0.0, color=INK, linewidth=0.7, zorder=1)
        axes.tick_params(labelsize=9)
        axes.margins(x=0.0)
        tidy(axes)
    panels[0].set_ylabel(row.title, fontsize=11.5, fontweight="bold")
    panels[0].legend(frameon=False, fontsize=9.5, loc="upper center", handlelength=1.4)


def _set_limits(axes: Axes, column: int, row: Row) -> None:
    """Show what is bounded; what grows without bound leaves the panel."""
    least = min(
        (loss for loss in row.losses if np.isfinite(loss.lipschitz)), key=lambda loss: loss.lipschitz, default=None
    )
    if least is None:
        return
    largest = least.lipschitz
    widest = max(abs(end) for end in row.ends)
    ends = {
        0: (-0.04 * largest * widest, largest * widest * 1.05),
        1: (-1.7 * largest, 1.7 * largest),
        2: (-0.1 * least.smoothness, 2.0 * least.smoothness),
    }[column]
    axes.set_ylim(*ends)


def main(arguments: Sequence[str]) -> int:
    """Draw the losses of the estimators to a file."""
    plot_losses(path=arguments[0] if arguments else PICTURE)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
