"""Coverage against the number of records, private and without noise, family by family."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.coverage.cells import BUDGETS, SIZES, USUAL_BOUND
from benchmarks.coverage.designs import FAMILIES, Family
from benchmarks.coverage.results import POOLED, Measured
from tacit.report.figure import FAINT, INK, STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FILE, TITLE = "coverage.png", "Coverage of nominal 95% intervals against the number of records"
COLORS = {0.5: "#9bc4e2", 1.0: "#1f6fb2", 2.0: "#0b3c68"}
PLAIN, PUBLISHED_COLOR = "#e08e0b", "#8d99a3"
TITLES: dict[Family, str] = {
    "logistic": "Logistic",
    "linear": "Least squares, smooth Huber score",
    "poisson": "Counts, bounded score",
}
PUBLISHED = {250: 0.873, 500: 0.922, 1000: 0.925, 2000: 0.938, 4000: 0.942}
"""Corrected noisy Newton of Avella-Medina, Bradshaw and Loh (2021), linear, four columns, μ = 1."""
LOWEST, HIGHEST = 0.865, 0.985
NOTE = (
    "Pooled over coefficients, clean populations, public bounds ±10. Shaded: what is asked. "
    "Bars: two Monte Carlo deviations."
)


def panel(axes: Axes, found: Sequence[Measured], family: Family, width: int) -> None:
    """One family and number of coefficients, clean populations."""
    axes.axhspan(*POOLED, color=FAINT, alpha=0.55, linewidth=0)
    axes.axhline(0.95, color=INK, linewidth=0.9)
    own = [
        each
        for each in found
        if (each.cell.family, each.cell.scenario, each.cell.d) == (family, "clean", width)
        and each.cell.bound == USUAL_BOUND
    ]
    plain: dict[int, list[float]] = {}
    for place, mu in enumerate(BUDGETS):
        line = sorted((each for each in own if each.cell.mu == mu), key=lambda each: each.cell.n)
        for each in line:
            plain.setdefault(each.cell.n, []).append(float(each.plain_coverage.mean()))
        if not line:
            continue
        # A little apart, so that bars of Monte Carlo error stay readable.
        sizes = np.array([each.cell.n for each in line]) * 1.07 ** (place - 1)
        shares = [each.pooled for each in line]
        errors = [2 * np.sqrt(0.0475 / (each.samples * each.cell.d)) for each in line]
        axes.errorbar(
            sizes,
            shares,
            errors,
            color=COLORS[mu],
            marker="o",
            markersize=5.5,
            linewidth=1.8,
            elinewidth=1.1,
            label=f"private, μ = {mu:g}",
            zorder=3,
        )
    sizes_plain = sorted(plain)
    axes.plot(
        sizes_plain,
        [float(np.mean(plain[n])) for n in sizes_plain],
        color=PLAIN,
        marker="D",
        markersize=4.5,
        linewidth=1.5,
        linestyle="--",
        label="without noise",
        zorder=2,
    )
    if family == "linear" and width == 4:
        axes.plot(
            list(PUBLISHED),
            list(PUBLISHED.values()),
            color=PUBLISHED_COLOR,
            marker="s",
            markersize=4.5,
            linewidth=1.3,
            linestyle=":",
            label="published corrected Newton, μ = 1",
            zorder=2,
        )


def dress(axes: Axes, *, left: bool, bottom: bool) -> None:
    """Axes with their own values."""
    axes.set_xscale("log")
    axes.set_xlim(380 if not axes.lines else 200, 21000)
    axes.set_xticks([250, *SIZES], [f"{n:,}" for n in (250, *SIZES)])
    axes.minorticks_off()
    axes.set_ylim(LOWEST, HIGHEST)
    ticks = [0.88, 0.9, 0.92, 0.93, 0.95, 0.97]
    axes.set_yticks(ticks, [f"{tick:.0%}" for tick in ticks] if left else [])
    if bottom:
        axes.set_xlabel("records n")
    axes.grid(color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelsize=9.5)
    for side in axes.spines.values():
        side.set_visible(False)


def coverage_picture(found: Sequence[Measured], path: Path) -> None:
    """Families side by side; four coefficients above, ten below."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(12.6, 7.0))
        figure.set_layout_engine("constrained", w_pad=0.1, h_pad=0.1, rect=(0, 0.035, 1, 0.905))
        grid = figure.subplots(2, 3)
        for row, width in enumerate((4, 10)):
            for column, family in enumerate(FAMILIES):
                axes = grid[row, column]
                panel(axes, found, family, width)
                dress(axes, left=column == 0, bottom=row == 1)
                if row == 0:
                    axes.set_title(TITLES[family], fontsize=12, fontweight="bold", loc="left")
                if column == 0:
                    axes.set_ylabel(f"{width} coefficients", fontsize=11, fontweight="bold")
        grid[0, 1].legend(frameon=False, fontsize=9.5, loc="lower right")
        figure.suptitle(TITLE, x=0.012, y=0.985, ha="left", fontsize=14, fontweight="bold")
        figure.text(0.012, 0.014, NOTE, fontsize=9.5, color=INK)
        figure.savefig(path, dpi=130, metadata={"Software": None})


def pictures(found: Sequence[Measured], folder: Path) -> list[tuple[str, str]]:
    """Draw what can be drawn; return file names and titles."""
    if not any(each.cell.scenario == "clean" for each in found):
        return []
    coverage_picture(found, folder / FILE)
    return [(FILE, TITLE)]
