"""A metric against ε, one panel a table, every line with its name beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.accuracy.catalogue import Entry
from benchmarks.accuracy.results import Results
from benchmarks.accuracy.scores import METRICS, SMALLER_IS_BETTER, WORDS
from benchmarks.rivals.registry import BASELINE, OURS
from tacit.report.figure import FAINT, INK, STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANEL = (5.2, 3.3)
# Name beside the line, colour, and whether the panel is scaled to show the whole line.
LINES: dict[str, tuple[str, str, bool]] = {
    OURS: ("Tacit", "#1f6fb2", True),
    "noisy-descent": ("noisy descent*", "#e08e0b", True),
    "objective-perturbation": ("objective pert.*", "#2f8f6b", True),
    "adassp-tuned": ("AdaSSP exact*", "#8259a8", False),
    "adassp": ("AdaSSP", "#b79bd0", False),
    "diffprivlib-tuned": ("diffprivlib*", "#b5443c", False),
    "diffprivlib": ("diffprivlib", "#d99a95", False),
}
NOTE = "* settings chosen on the test rows.   Band: one standard deviation of Tacit's repetitions."


@dataclass(frozen=True)
class Line:
    """Means and standard deviations of a method along ε."""

    name: str
    epsilons: list[float]
    means: list[float]
    spreads: list[float]


def lines(results: Results, entry: Entry, metric: str) -> list[Line]:
    """All private methods with results on a table."""
    found = []
    for name in LINES:
        measured = [
            (epsilon, summary)
            for epsilon in results.epsilons
            if (summary := results.of(name, entry.name, epsilon, metric)) is not None
        ]
        if measured:
            found.append(
                Line(
                    name,
                    [epsilon for epsilon, _ in measured],
                    [summary.mean for _, summary in measured],
                    [summary.spread for _, summary in measured],
                )
            )
    return found


def limits(drawn: Sequence[Line], reference: float | None, metric: str) -> tuple[float, float]:
    """Limits that show the leading lines whole; what falls far behind leaves the panel."""
    leading = [line for line in drawn if LINES[line.name][2]] or list(drawn)
    values = [mean for line in leading for mean in line.means]
    values += [reference] if reference is not None else []
    low, high = min(values), max(values)
    room = max(high - low, 0.02)
    if metric in SMALLER_IS_BETTER:
        return low - 0.14 * room, high + 0.3 * room
    return low - 0.3 * room, high + 0.14 * room


def spread_apart(heights: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Heights moved as little as needed to stand `gap` apart between two limits, in their order."""
    order = sorted(range(len(heights)), key=lambda k: heights[k])
    placed = [min(max(heights[k], low), high) for k in order]
    for k in range(1, len(placed)):
        placed[k] = max(placed[k], placed[k - 1] + gap)
    if placed and placed[-1] > high:
        placed[-1] = high
        for k in range(len(placed) - 2, -1, -1):
            placed[k] = min(placed[k], placed[k + 1] - gap)
    back = dict(zip(order, placed, strict=True))
    return [back[k] for k in range(len(heights))]


def panel(axes: Axes, results: Results, entry: Entry, metric: str) -> None:
    """One table."""
    drawn = lines(results, entry, metric)
    baseline = results.of(BASELINE, entry.name, None, metric)
    reference = None if baseline is None else baseline.mean
    if drawn:
        low, high = limits(drawn, reference, metric)
        axes.set_ylim(low, high)
        label_lines(axes, drawn)
    if reference is not None:
        axes.axhline(reference, color=INK, linewidth=1.1, linestyle=(0, (4, 3)), zorder=2)
        axes.annotate(
            "not private",
            (0.0, reference),
            xycoords=("axes fraction", "data"),
            xytext=(2, -3 if metric in SMALLER_IS_BETTER else 3),
            textcoords="offset points",
            ha="left",
            va="top" if metric in SMALLER_IS_BETTER else "bottom",
            fontsize=8.5,
        )
    for line in drawn:
        draw_line(axes, line)
    facts = results.facts(entry.name)
    size = f"{facts['rows']:,} × {facts['width']}".replace(",", " ") if facts else ""
    axes.set_title(f"{entry.name}   ", loc="left", fontweight="bold", fontsize=11.5)
    axes.set_title(f"{WORDS[metric]}, {size}", loc="right", fontsize=9.5)
    dress(axes, results.epsilons)


def draw_line(axes: Axes, line: Line) -> None:
    """One method: its means, and for ours a band of one standard deviation."""
    ours = line.name == OURS
    style: dict[str, Any] = {"color": LINES[line.name][1], "zorder": 5 if ours else 3}
    axes.plot(
        line.epsilons, line.means, marker="o", markersize=5.5 if ours else 3.5, linewidth=2.6 if ours else 1.5, **style
    )
    if not ours:
        return
    below = [mean - spread for mean, spread in zip(line.means, line.spreads, strict=True)]
    above = [mean + spread for mean, spread in zip(line.means, line.spreads, strict=True)]
    axes.fill_between(line.epsilons, below, above, alpha=0.16, linewidth=0.0, **style)


def out_of_sight(value: float, low: float) -> str:
    """A value beyond the panel, and where it would be."""
    digits = 2 if abs(value) < 10 else 0
    return f"{value:.{digits}f} {'↓' if value < low else '↑'}".replace("-", "−")


def label_lines(axes: Axes, drawn: Sequence[Line]) -> None:
    """Names left of the panel, at the smallest ε, where the lines are furthest apart."""
    low, high = axes.get_ylim()
    gap = (high - low) / 13.5
    starts = [line.means[0] for line in drawn]
    heights = spread_apart(starts, gap, low + gap / 2, high - gap / 2)
    for line, start, height in zip(drawn, starts, heights, strict=True):
        text, color, _ = LINES[line.name]
        outside = not low <= start <= high
        axes.annotate(
            f"{text}  {out_of_sight(start, low)}" if outside else text,
            (line.epsilons[0], min(max(start, low), high)),
            xytext=(-0.045, height),
            textcoords=("axes fraction", "data"),
            ha="right",
            va="center",
            color=color,
            fontsize=9.0,
            fontweight="bold" if line.name == OURS else "normal",
            annotation_clip=False,
            arrowprops=None
            if outside
            else {"arrowstyle": "-", "color": color, "linewidth": 0.7, "shrinkA": 1, "shrinkB": 3},
        )


def dress(axes: Axes, epsilons: Sequence[float]) -> None:
    """Axes: ε on a logarithmic scale with its own values, the metric on the right."""
    axes.set_xscale("log")
    axes.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    axes.minorticks_off()
    axes.set_xlim(epsilons[0] / 1.12, epsilons[-1] * 1.15)
    axes.set_xlabel("ε", labelpad=1)
    axes.yaxis.tick_right()
    axes.grid(color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelsize=9)
    for side in axes.spines.values():
        side.set_visible(False)


def picture(results: Results, panels: Sequence[tuple[Entry, str]], title: str, path: Path, columns: int) -> None:
    """Panels in rows, written to a file."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    rows = -(-len(panels) // columns)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(PANEL[0] * columns + 0.4, PANEL[1] * rows + 0.9))
        grid = figure.subplots(rows, columns, squeeze=False)
        for axes in grid.flat[len(panels) :]:
            axes.set_visible(False)
        for axes, (entry, metric) in zip(grid.flat, panels, strict=False):
            panel(axes, results, entry, metric)
        height = figure.get_figheight()
        figure.subplots_adjust(
            left=1.75 / figure.get_figwidth(),
            right=1 - 0.55 / figure.get_figwidth(),
            top=1 - 0.95 / height,
            bottom=0.75 / height,
            wspace=0.72,
            hspace=0.42,
        )
        figure.text(0.015, 1 - 0.36 / height, title, fontsize=14, fontweight="bold", color=INK)
        figure.text(0.015, 0.16 / height, NOTE, fontsize=9, color=INK)
        figure.savefig(path, dpi=130)


def pictures(results: Results, folder: Path) -> list[tuple[str, str]]:
    """Draw every picture that has panels; return file names and titles."""
    wanted: list[tuple[str, str, list[tuple[Entry, str]]]] = []
    for metric, kind in (("auc", "classification"), ("log_loss", "classification"), ("r2", "regression")):
        entries = [e for e in results.tables(group="codebook") if e.kind == kind]
        file = f"accuracy-{metric.replace('_', '-')}.png"
        title = f"{WORDS[metric]} on real tables against the budget ε (δ = 10⁻⁶)"
        wanted.append((file, title, [(entry, metric) for entry in entries]))
    for group, words in (
        ("held out", "Tables that no rule was chosen on"),
        ("bundled", "Small tables that come with scikit-learn"),
    ):
        entries = [entry for entry in results.tables() if entry.group == group]
        file = f"accuracy-{group.replace(' ', '-')}.png"
        wanted.append((file, words, [(entry, METRICS[entry.kind][0]) for entry in entries]))
    drawn = []
    for file, title, panels in wanted:
        if panels and results.epsilons:
            columns = 2 if len(panels) <= 4 else 3
            picture(results, panels, title, folder / file, columns)
            drawn.append((file, title))
    return drawn
