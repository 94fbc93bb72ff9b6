"""The picture of an audit: the attack's ROC curve under the trade-off curve of the claim."""

from __future__ import annotations

import os
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.accounting.classical import Gaussian, TradeOff
from tacit.accounting.interpretation import trade_off
from tacit.report.figure import BLUE, GREY, INK, ORANGE, drawn, empty_figure, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tacit.audit.result import AuditResult

Floats = NDArray[np.float64]

_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_FAR_TICKS = (0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999)
_SMALLEST, _POINTS = 2e-4, 200


def audit_picture(result: AuditResult, path: str | os.PathLike[str] | None = None, title: str | None = None) -> Figure:
    """Draw detections against false alarms, on plain axes and on axes of normal deviates.

    The claim bounds every attack from above; on normal deviates a claim about μ is a straight line. The dashed curve is
    that of the lower bound. `path` is a .png, .svg or .pdf file; without one the figure is returned only.
    """
    return drawn(lambda: _figure(result, title), path)


def _figure(result: AuditResult, title: str | None) -> Figure:
    figure = empty_figure(9.6, 5.5, w_pad=0.1, h_pad=0.1)
    _roc(figure.add_subplot(1, 2, 1), result, deviates=False)
    _roc(axes := figure.add_subplot(1, 2, 2), result, deviates=True)
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False, handletextpad=0.6, fontsize=9.5)
    verdict = "refuted" if result.refuted else "stands"
    told = f"{result.runs:,} runs per world, {result.relation}, confidence {result.confidence:.6g}"
    heading = title or f"Audit of {result.name}: the claim {verdict}"
    figure.suptitle(f"{heading}\n", x=0.012, ha="left", fontsize=13, fontweight="bold", linespacing=1.5)
    figure.text(0.013, 0.915, told, fontsize=10, color=INK)
    return figure


def _roc(axes: Axes, result: AuditResult, *, deviates: bool) -> None:
    scale = _deviates if deviates else np.asarray
    ends = scale(np.array([_SMALLEST, 1.0 - _SMALLEST])) if deviates else np.array([0.0, 1.0])
    alarms = _rates()
    across = scale(alarms)
    claim, lower = (
        np.clip(scale(_detections(curve, alarms)), *ends)
        for curve in (trade_off(result.claim), Gaussian(result.mu_lower))
    )
    axes.fill_between(across, claim, ends[1], color=BLUE, alpha=0.1, linewidth=0.0, label="beyond the claim")
    axes.plot(across, claim, color=BLUE, linewidth=2.4, label=_claimed(result))
    axes.plot(*_observed(result, deviates=deviates), color=ORANGE, linewidth=2.0, label="attack, as observed")
    bound = f"lower bound: μ = {result.mu_lower:.3g}"
    axes.plot(across, lower, color=ORANGE, linewidth=1.4, linestyle=(0, (4, 2)), label=bound)
    axes.plot(ends, ends, color=GREY, linewidth=1.2, linestyle=(0, (1, 2)), label="guessing")
    axes.set(xlim=ends, ylim=ends, xlabel="false alarms", ylabel="detections")
    axes.set_aspect("equal")
    places = (axes.set_xticks, axes.set_yticks)
    for place in places:
        ticks = _FAR_TICKS if deviates else _TICKS
        place(scale(np.array(ticks)), [f"{100 * tick:g}%" for tick in ticks], fontsize=9)
    tidy(axes, spines=("left", "bottom"))
    axes.set_title("on normal deviates" if deviates else "ROC curve", loc="left", fontsize=11, fontweight="bold")


def _observed(result: AuditResult, *, deviates: bool) -> tuple[Floats, Floats]:
    """The rates of the attack; of those on normal deviates, only such as are neither 0 nor 1."""
    alarms, detections = result.scores.roc()
    if not deviates:
        return alarms, detections
    inside = (alarms > 0.0) & (alarms < 1.0) & (detections > 0.0) & (detections < 1.0)
    return _deviates(alarms[inside]), _deviates(detections[inside])


def _deviates(rates: Floats) -> Floats:
    normal = NormalDist()
    return np.array([normal.inv_cdf(min(max(float(rate), 1e-12), 1.0 - 1e-12)) for rate in rates])


def _rates() -> Floats:
    """Rates of false alarms, dense near 0 and 1."""
    near = np.geomspace(_SMALLEST / 10, 0.5, _POINTS)
    return np.concatenate([near, 1.0 - near[-2::-1]])


def _detections(curve: TradeOff, alarms: Floats) -> Floats:
    return np.array([1.0 - curve.misses_at(float(alarm)) for alarm in alarms])


def _claimed(result: AuditResult) -> str:
    if result.claim.mu is not None:
        return f"claim: μ = {result.mu_claimed:.3g}"
    return f"claim: ε = {result.epsilon_claimed:.3g} at δ = {result.delta:g}"
