"""Coefficients of a fit: as plain data, compared with a truth, and as pictures, alone and two at a time."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from decimal import ROUND_CEILING
from typing import TYPE_CHECKING, Any

from tacit.accounting.composition import Composition
from tacit.contract.path import Path
from tacit.design.design import is_intercept
from tacit.documents.canonical_json import plain
from tacit.errors import SettingError
from tacit.inference.estimates import Line
from tacit.inference.regions import ConfidenceRegion
from tacit.inference.summary import Summary
from tacit.inference.units import Units, checked_units
from tacit.report.audit_pictures import audit_picture
from tacit.report.axis_cut import kept_range, mark_cuts
from tacit.report.descent_path import plot_path
from tacit.report.figure import BLUE, GREY, INK, ORANGE, Style, drawn, empty_figure, term_figure, tidy
from tacit.report.forest_bars import WIDEST, draw_bars, drawn_at, ends_of, ratio_ticks, term_order
from tacit.text_table import Table, columns_of_numbers, one_line, rounded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tacit.estimators.fit import Fit

LEVEL = 0.95
NUMBERS = ("coef", "std_err", "lower", "upper", "statistic", "pvalue", "privacy_share")
_SHIFT = 0.22  # Dots of one term are this far apart, so that those that agree stay visible side by side.
_MARKS: tuple[tuple[str, Style], ...] = (
    ("truth", {"marker": "D", "color": "none", "edgecolors": INK, "s": 52, "linewidths": 1.4}),
    ("not private", {"marker": "o", "color": ORANGE, "s": 42}),
    ("private", {"marker": "s", "color": BLUE, "s": 40}),
)


def term_documents(fit: Fit) -> list[dict[str, Any]]:
    """Every coefficient with error, test, 95% intervals and statement; `sampling_…` leave out the noise."""
    total, sampling = fit.summary(LEVEL), fit.summary(LEVEL, which="sampling")
    return [
        {
            "name": line.name,
            **{name: plain(getattr(line, name)) for name in NUMBERS},
            "sampling_lower": plain(inner.lower),
            "sampling_upper": plain(inner.upper),
            "statement": line.statement,
        }
        for line, inner in zip(total.lines, sampling.lines, strict=True)
    ]


def line_documents(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """Lines of a summary or of tests, as plain data."""
    return [
        {"name": line.name, **{name: plain(getattr(line, name)) for name in NUMBERS}, "statement": line.statement}
        for line in lines
    ]


def summary_document(summary: Summary) -> dict[str, Any]:
    """A summary as plain data."""
    return {
        "estimate": summary.estimate,
        "level": summary.level,
        "terms": line_documents(summary.lines),
        "offered": summary.offered,
        "statement": summary.statement,
        "notes": list(summary.notes),
    }


def interval_document(fit: Fit) -> dict[str, Any] | None:
    """What may be said of the intervals, and why; null where they were not asked for."""
    release = fit.release
    if release is None or (release.sandwich is None and not release.plan.intervals_declined):
        return None
    summary = fit.summary(LEVEL)
    return {
        "level": LEVEL,
        "offered": summary.offered,
        "statement": summary.statement,
        "signal": plain(release.plan.signal),
        "notes": list(summary.notes),
    }


def comparison_table(
    terms: Sequence[Mapping[str, Any]], truth: Mapping[str, float], reference: Mapping[str, float]
) -> Table:
    """Each term's truth, its fit without privacy, and its private fit with its standard error."""
    names = [str(term["name"]) for term in terms]
    columns = {"truth": [truth[name] for name in names], "not private": [reference[name] for name in names]}
    columns["private"] = [term["coef"] for term in terms]
    if any(term["std_err"] is not None for term in terms):
        columns["std. error"] = [term["std_err"] for term in terms]
    numbers = columns_of_numbers(*columns.values())
    return Table(("term", *columns), tuple(zip(names, *numbers, strict=True)))


def comparison_picture(
    terms: Sequence[Mapping[str, Any]],
    path: str | os.PathLike[str],
    *,
    truth: Mapping[str, float] | None = None,
    reference: Mapping[str, float] | None = None,
    units: Units | None = None,
    title: str = "Coefficients",
    axis: str = "change in log odds",
) -> None:
    """Draw the coefficients but the intercept as dots, with intervals if paid for, beside a truth and a plain fit."""
    shown = [term for term in terms if not is_intercept(str(term["name"]))]
    private = {str(term["name"]): float(term["coef"]) for term in shown}
    known = checked_units(units, [str(term["name"]) for term in terms])
    scales = [known.get(name, (1.0, name)) for name in private]
    factors, labels = [factor for factor, _ in scales], [label for _, label in scales]
    pairs = zip(_MARKS, (truth, reference, private), strict=True)
    series = [(label, mark, values) for (label, mark), values in pairs if values]

    def dots() -> Figure:
        figure, axes = term_figure(labels, title=title, axis=axis, reference=0.0)
        for index, (label, mark, values) in enumerate(series):
            shift = _SHIFT * (index - (len(series) - 1) / 2)
            points = [
                (values[name] * factor, place + shift)
                for place, (name, factor) in enumerate(zip(private, factors, strict=True))
                if name in values
            ]
            axes.scatter(*zip(*points, strict=True), label=label, zorder=3, **mark)
        for place, (term, factor) in enumerate(zip(shown, factors, strict=True)):
            if term["lower"] is not None and term["upper"] is not None:
                ends = [term["lower"] * factor, term["upper"] * factor]
                height = place + _SHIFT * (len(series) - 1) / 2
                axes.plot(ends, [height] * 2, color=BLUE, linewidth=1.6, zorder=2)
        if len(series) > 1:
            figure.legend(loc="outside lower center", ncols=len(series), frameon=False, handletextpad=0.2)
        return figure

    drawn(dots, path)


def plot(
    fit: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    level: float = 0.95,
    exponentiate: bool = False,
    units: Units | None = None,
    title: str | None = None,
) -> Figure:
    """Draw the coefficients of a fit of `glm`, or of a fitted estimator, with their intervals; or an audit.

    The thin bar is the total interval (dashed where it is conservative), the thick one inside leaves out the noise that
    was added. A hollow mark has no interval: it was withheld. The intercept is left out, as its scale is another, and
    of several classes the rows of a term stand together. Nothing but the release is drawn, and the same fit gives the
    same file.

    `path` is a .png, .svg or .pdf file; without one the figure is returned only. `exponentiate` draws odds or rate
    ratios, on a logarithmic axis. An interval that is endless, or far wider than the others, is cut and marked.
    `units` say for each term how many units of its column the picture shows, and in which words.
    `title` is by default the model and its guarantee.

    Of a `release_.path` the iterates are drawn, of an audit the attack's ROC curve. Of a composition of events
    (`tacit.accounting.compose`) the privacy profile, the trade-off function, the privacy-loss distribution and the
    Rényi curve are drawn; only `path` applies.
    """
    if isinstance(fit, Path):
        return plot_path(fit, path, title=title)
    if isinstance(fit, Composition):
        from tacit.report.account_pictures import composition_picture

        return composition_picture(fit, path)
    if hasattr(fit, "mu_lower"):
        return audit_picture(fit, path, title)
    if not callable(getattr(fit, "summary", None)):
        raise SettingError("plot draws a fit of tacit.glm, a fitted estimator, a path, a composition or an audit.")
    total = sampling = fit.summary(level, exponentiate=exponentiate, units=units)
    # A file of 0.1.0 has one kind of interval.
    with suppress(SettingError):
        sampling = fit.summary(level, which="sampling", exponentiate=exponentiate, units=units)
    return drawn(lambda: _forest(total, sampling, title), path)


def _forest(total: Summary, sampling: Summary, title: str | None) -> Figure:
    bars = term_order(list(zip(total.lines, sampling.lines, strict=True)))
    ratio = total.estimate != "coef"
    figure, axes = term_figure(
        [one_line(line.name).replace("$", r"\$") for line, _ in bars],
        title=(title or _title(total)).replace("$", r"\$"),
        axis=("coefficient" if total.estimate == "coef" else total.estimate)
        + ("" if any(line.lower is not None for line, _ in bars) else ", without an interval"),
        reference=1.0 if ratio else 0.0,
    )
    if ratio:
        axes.set_xscale("log")
    _cut_axis(axes, bars, ratio=ratio)
    draw_bars(axes, bars, ratio=ratio, both=total is not sampling, level=total.level)
    if ratio:
        ratio_ticks(axes)
    if axes.get_legend_handles_labels()[1]:
        figure.legend(loc="outside lower center", ncols=2, frameon=False, handletextpad=0.6)
    return figure


def _cut_axis(axes: Axes, bars: Sequence[tuple[Line, Line]], *, ratio: bool) -> None:
    """End the axis where the usual bars end, and mark what goes on; nothing where all can be read."""
    scale: Callable[[float], float] = math.log if ratio else float
    ends = [ends_of(line, ratio=ratio) for line, _ in bars]
    endless = WIDEST if ratio else math.inf
    shown = [[_far(scale(end), endless) for end in pair] for pair in ends if pair is not None]
    values = [drawn_at(line.coef, ratio=ratio) for line, _ in bars]
    kept = kept_range([(low, high) for low, high in shown], [_far(scale(value), endless) for value in values], 0.0)
    if kept is not None:
        axes.set_xlim(*(map(math.exp, kept) if ratio else kept))
        mark_cuts(axes, [(row, [value, *(ends[row] or ())]) for row, value in enumerate(values)])


def _far(value: float, endless: float) -> float:
    return value if abs(value) < endless else math.copysign(math.inf, value)


def _title(total: Summary) -> str:
    facts, subject = total.header, total.header.model
    if facts.response is not None:
        subject = f"{one_line(facts.response)}: {subject}"
    if facts.not_private is not None:
        return f"{subject} (not private)"
    return f"{subject}, at ε = {rounded(facts.guarantee.epsilon, 4, ROUND_CEILING)}"


def plot_region(
    fit: Any,
    names: Sequence[str],
    path: str | os.PathLike[str] | None = None,
    *,
    level: float = 0.95,
    title: str | None = None,
) -> Figure:
    """Draw the joint confidence region of two coefficients, or of two combinations of them.

    The dashed box holds the intervals of each by itself; lines cross at zero. `path` is as in `plot`: nothing but the
    release is drawn, and the same fit gives the same file.
    """
    if not callable(getattr(fit, "confidence_region", None)):
        raise SettingError("plot_region draws a fit of tacit.glm or a fitted estimator.")
    region = fit.confidence_region(names, level)
    if len(region.labels) != 2:
        raise SettingError(f"A picture shows two coefficients; got {len(region.labels)}.")
    alone = fit.t_test(list(region.labels)).conf_int(level)
    return drawn(lambda: _ellipse(region, alone, title), path)


def _ellipse(region: ConfidenceRegion, alone: Any, title: str | None) -> Figure:
    figure = empty_figure(6.0, 5.4, w_pad=0.16, h_pad=0.1)
    axes = figure.add_subplot()
    edge = region.boundary().T
    axes.fill(*edge, color=BLUE, alpha=0.18, linewidth=0)
    axes.plot(*edge, color=BLUE, linewidth=1.6, label=f"{100 * region.level:g}% region, {region.statement}")
    (left, right), (low, high) = alone.tolist()
    across, up = [left, right, right, left, left], [low, low, high, high, low]
    axes.plot(across, up, color=GREY, linewidth=1.0, linestyle="--", label="each by itself")
    axes.plot(*region.center.tolist(), "o", color=BLUE, zorder=3, markersize=5)
    for line, inside in ((axes.axvline, axes.get_xlim()), (axes.axhline, axes.get_ylim())):
        if inside[0] <= 0.0 <= inside[1]:
            line(0.0, color=INK, linewidth=0.8, zorder=1)
    names = [one_line(name).replace("$", r"\$") for name in region.labels]
    axes.set(xlabel=names[0], ylabel=names[1])
    tidy(axes)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, handletextpad=0.6)
    figure.suptitle(title or " and ".join(names), x=0.012, ha="left", fontsize=13, fontweight="bold")
    return figure
