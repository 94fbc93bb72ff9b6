"""A comparison of solvers as a table, as plain data and as a picture."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tacit.estimators.solver_comparison import Comparison
from tacit.report.figure import BLUE, INK, drawn, term_figure
from tacit.text_table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALLEST = 1e-6
"""Errors below it are drawn there."""


def comparison_table(found: Comparison) -> Table:
    """Error, accuracy or R², time and guarantee of every solver that applies."""
    shown = "accuracy" if "log" in found.measure else "R²"
    headers = ("solver", found.measure, shown, "seconds", "guarantee", "arithmetic")
    rows = [
        (it.solver, f"{it.error:.3g}", f"{it.score:.4f}", f"{it.seconds:.3g}", it.guarantee, it.arithmetic)
        for it in found.applicable
    ]
    return Table(headers, tuple(rows))


def comparison_lines(found: Comparison) -> list[str]:
    """What does not apply, and why."""
    lines = [
        f"Without privacy: {found.without_privacy:.4f}. Medians of {found.repeats} fits of {found.records:,} rows."
    ]
    refused = [it for it in found.results if it.refused is not None]
    return lines + [f"{it.solver}: {it.refused}" for it in refused]


def comparison_document(found: Comparison) -> dict[str, Any]:
    """The comparison as plain data."""
    return asdict(found)


def plot_comparison(found: Comparison, path: str | os.PathLike[str] | None = None) -> Figure:
    """Draw the error of every solver, on a logarithmic axis, with its time beside it."""

    def draw() -> Figure:
        shown = found.applicable
        figure, axes = term_figure(
            [it.solver for it in shown], title="Solvers compared on public rows", axis=found.measure, reference=1.0
        )
        errors = [max(it.error or 0.0, SMALLEST) for it in shown]
        axes.set_xscale("log")
        axes.set_xlim(min([*errors, 0.1]) / 3, max([*errors, 0.1]) * 8)
        axes.plot(errors, range(len(shown)), "o", color=BLUE, markersize=7)
        for place, (it, error) in enumerate(zip(shown, errors, strict=True)):
            axes.annotate(
                f"{it.seconds:.2g} s", (error, place), (8, 0), textcoords="offset points", va="center", color=INK
            )
        return figure

    return drawn(draw, path)
