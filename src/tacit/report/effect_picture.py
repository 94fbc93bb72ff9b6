"""A picture of what a fit predicts against one column, the others held at stated public values."""

from __future__ import annotations

import math
import os
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.design.attached_columns import OffsetSum
from tacit.design.design import Design
from tacit.design.factor import NumericCell, columns_of
from tacit.design.response import Binary, Classes
from tacit.engine.prediction import public_table
from tacit.errors import SettingError
from tacit.report.figure import BLUE, GREY, INK, Style, drawn, empty_figure, tidy
from tacit.text_table import one_line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Vector = NDArray[np.float64]
POINTS = 121
"""Of a curve."""
_BAR: Style = {"color": BLUE, "linewidth": 1.8, "capsize": 5, "linestyle": "none", "zorder": 2}


def plot_effect(
    fit: Any,
    column: str,
    path: str | os.PathLike[str] | None = None,
    *,
    at: Mapping[str, Any] | None = None,
    level: float = 0.95,
    title: str | None = None,
) -> Figure:
    """Draw the fitted mean of a fit of `glm` with its interval, against a column of its formula.

    The others are held where `at` says, and otherwise at public values, which the picture states: numbers in the middle
    of their declared bounds, factors at their first level, an exposure at 1. Intervals are those of the mean at each
    point, by itself; where they are withheld none is drawn. Nothing but the release is drawn.

    Examples
    --------
    >>> from tacit.planning.demo_table import CLINIC_SCHEMA, clinic_table
    >>> import pyarrow, tacit
    >>> schema = tacit.Schema.parse(CLINIC_SCHEMA)
    >>> data = pyarrow.table(clinic_table(3000))
    >>> fit = tacit.glm("readmit ~ ns(age, knots=[50, 70]) + C(ward)", data, schema, epsilon=2.0)
    >>> figure = plot_effect(fit, "age", at={"ward": "surgery"})
    """
    design = _design_of(fit)
    held = _held(design, column, dict(at or {}))
    levels = design.levels.get(column)
    across: NDArray[Any] = np.array(levels) if levels else np.linspace(*_bounds(design, column), POINTS)
    found = fit.get_prediction(_rows(design, column, across, held))
    ends = np.asarray(found.conf_int(level), float)
    withheld = np.isnan(ends).any(axis=1)
    said = f"{100 * level:g}% interval of the mean"
    if withheld.any():
        said += " (withheld where none is drawn)" if not withheld.all() else ": withheld"
    mean = np.asarray(found.predicted_mean, float)
    own = design.response
    words = {
        "xlabel": column,
        "ylabel": f"chance of {own.column} = {own.classes[1]}" if isinstance(own, Binary) else f"mean of {own.column}",
        "held": ", ".join(f"{name} = {_shown(design, name, value)}" for name, value in held.items()),
        "title": title or f"{own.column} by {column}",
        "interval": said,
    }
    return drawn(lambda: _picture(across, mean, ends, words), path)


def _picture(across: NDArray[Any], mean: Vector, ends: Vector, words: Mapping[str, str]) -> Figure:
    figure = empty_figure(7.4, 4.6, w_pad=0.16, h_pad=0.1)
    axes = figure.add_subplot()
    if across.dtype.kind in "US":
        places = np.arange(len(mean))
        half = np.nan_to_num(np.abs(ends.T - mean), nan=0.0)
        axes.errorbar(places, mean, yerr=half, label=words["interval"], **_BAR)
        axes.scatter(places, mean, color=BLUE, s=34, zorder=3, label="fitted mean")
        axes.set_xticks(places, [_text(label) for label in across.tolist()])
        axes.margins(x=0.12)
    else:
        axes.fill_between(across, ends[:, 0], ends[:, 1], color=BLUE, alpha=0.2, linewidth=0, label=words["interval"])
        axes.plot(across, mean, color=BLUE, linewidth=2.0, label="fitted mean")
    axes.set(xlabel=_text(words["xlabel"]), ylabel=_text(words["ylabel"]))
    tidy(axes)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, handletextpad=0.6)
    if words["held"]:
        lines = textwrap.wrap(_text(f"at {words['held']}"), 90)
        axes.set_title("\n".join(lines), loc="left", fontsize=9.5, color=GREY)
    figure.suptitle(_text(words["title"]), x=0.012, ha="left", fontsize=13, fontweight="bold", color=INK)
    return figure


def _held(design: Design, column: str, known: dict[str, Any]) -> dict[str, Any]:
    """Where every other column is held; what is no column, level or number is refused."""
    usual = _public_values(design)
    for name, value in {column: None, **known}.items():
        if name not in usual:
            raise SettingError(f"{name!r} is no column of the formula; there are {', '.join(usual)}.")
        if name in known and name in design.levels:
            known[name] = next((level for level in design.levels[name] if _same(level, value)), None)
            if known[name] is None:
                raise SettingError(f"{name!r} has no level {value!r}; it has {', '.join(design.levels[name])}.")
        elif name in known and not isinstance(value, int | float):
            raise SettingError(f"{name!r} is held at a number; got {value!r}.")
    if column in known:
        raise SettingError(f"{column!r} is what the picture is against; at=… holds the others.")
    return {name: value for name, value in {**usual, **known}.items() if name != column}


def _same(level: str, value: Any) -> bool:
    return level == str(value) or (isinstance(value, float) and value.is_integer() and level == str(int(value)))


def _rows(design: Design, column: str, across: NDArray[Any], held: Mapping[str, Any]) -> Any:
    """A table of the points of the picture, dates as such."""
    values = {column: across.tolist(), **{name: [value] * len(across) for name, value in held.items()}}
    dates = design.reading.dates
    return public_table(
        {name: [dates[name].date_of(v) for v in cells] if name in dates else cells for name, cells in values.items()}
    )


def _design_of(fit: Any) -> Design:
    design = getattr(getattr(fit, "stored", None), "design", None)
    if not isinstance(design, Design) or not (design.levels or design.cells):
        raise SettingError("plot_effect draws a fit of tacit.glm, fresh or read from its file.")
    if isinstance(design.response, Classes):
        raise SettingError("plot_effect draws one mean; a fit of several classes has one for each class.")
    return design


def _public_values(design: Design) -> dict[str, Any]:
    """Each column that a prediction reads, with a public value: middle of the bounds, first level, exposure 1."""
    found: dict[str, Any] = {}
    names = dict.fromkeys(name for it in design.columns for factor in it.factors for name in columns_of(factor))
    for name in names:
        found[name] = design.levels[name][0] if name in design.levels else sum(_bounds(design, name)) / 2
    offset = design.attached.offset
    for term in () if offset is None else offset.terms if isinstance(offset, OffsetSum) else (offset,):
        middle = (term.lower + term.upper) / 2
        low, high = term.lower, term.upper
        found.setdefault(term.column, math.exp(min(max(0.0, low), high)) if term.exposure else middle)
    return found


def _bounds(design: Design, name: str) -> tuple[float, float]:
    cell = design.cells.get(name)
    if isinstance(cell, NumericCell):
        return cell.lower, cell.upper
    ends = [(it.lower, it.upper) for it in design.columns if [columns_of(one) for one in it.factors] == [(name,)]]
    if not ends or not all(map(math.isfinite, ends[0])):
        raise SettingError(f"No bounds of {name!r} are declared, and nothing else says where to draw it.")
    return ends[0]


def _shown(design: Design, name: str, value: Any) -> str:
    if name in design.reading.dates:
        return design.reading.dates[name].date_of(value).isoformat()
    return f"{value:.4g}" if isinstance(value, int | float) else str(value)


def _text(words: str) -> str:
    return one_line(words).replace("$", r"\$")
