"""Pictures of an account: the profile, the trade-off, epsilon against steps, the privacy loss, the Rényi curve."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.accounting import gaussian, pld
from tacit.accounting.accountants import price
from tacit.accounting.best_epsilon import best
from tacit.accounting.clt_forecast import forecast
from tacit.accounting.composition import Composition
from tacit.accounting.composition_curves import composed_loss
from tacit.accounting.dominating_pairs import pairs_of
from tacit.accounting.event_curves import total_curve
from tacit.accounting.pld.pairs.pair import DIRECTIONS
from tacit.accounting.pld.transform import Transform
from tacit.accounting.renyi import conversion
from tacit.accounting.renyi.curve import default_orders
from tacit.accounting.training_run import Run
from tacit.errors import AccountingError, SettingError
from tacit.report import figure as figures
from tacit.report.account import FALSE_ALARM, Account, PricedEvents, few_digits, priced
from tacit.report.figure import BLUE, GREEN, GREY, INK, LIGHT, ORANGE, Style
from tacit.text_table import rounded
from tacit.validate import one_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

BEST = "best"
STEPS_SHOWN = ("basic", "advanced", "rdp", BEST, "gdp-clt")

_DEEP = 1e-3  # Deltas are drawn down to this part of the one that was asked for.
_LEAST_DELTA = 1e-11  # An untilted transform is exact to about 1e-15.
_MANY_POINTS, _FEW_POINTS, _STEP_POINTS = 121, 25, 11
_BINS, _HALF_WIDTH, _TAIL = 160, 4.0, 2e-5
_TABLE_DELTA = 1e-6
_DASHED: Style = {"linestyle": (0, (4, 2))}
_EDGE: Style = {"markeredgecolor": "white", "markeredgewidth": 1.4}
_DOT: Style = {"marker": "o", "markersize": 7.5, "color": BLUE, "linestyle": "none", "zorder": 5, **_EDGE}
_LINES: Mapping[str, Style] = {
    "basic": {"color": LIGHT, "linewidth": 1.6, "label": "basic"},
    "advanced": {"color": GREY, "linewidth": 1.6, "label": "advanced"},
    "rdp": {"color": GREEN, "linewidth": 1.8, "label": "Rényi"},
    "gdp-clt": {"color": ORANGE, "linewidth": 1.8, "label": "forecast, no guarantee", **_DASHED},
    BEST: {"color": BLUE, "linewidth": 2.4},
}


def account_picture(account: Account, path: str | os.PathLike[str], picture: str = "all") -> None:
    """Draw one picture of an account, or all four in one figure; the same account gives the same file.

    `picture` is "curve" (delta against epsilon), "tradeoff" (misses against false alarms), "steps" (epsilon against
    steps), "loss" (law of the privacy loss) or "all". The forecast is dashed and says that it is no guarantee.
    """
    require_picture(path, picture)
    figures.drawn(lambda: _figure(account, picture, _PANELS), path)


def composition_picture(
    composition: Composition, path: str | os.PathLike[str] | None = None, picture: str = "all", delta: float = 1e-6
) -> Figure:
    """Draw a composition of events as `account_picture` does; "renyi", its Rényi curve, is in the place of "steps"."""
    if path is not None:
        figures.picture_file(path)
    one_of("picture", picture, ("all", *_COMPOSITION_PANELS))
    found = priced(composition, delta)
    return figures.drawn(lambda: _figure(found, picture, _COMPOSITION_PANELS), path)


def require_picture(path: str | os.PathLike[str], picture: str) -> None:
    """Refuse a file or a kind of picture that cannot be drawn, before anything is computed."""
    figures.picture_file(path)
    if picture not in ("all", *_PANELS):
        raise SettingError(f"unknown picture {str(picture)[:40]!r}; expected one of all, {', '.join(_PANELS)}")


def _figure(account: PricedEvents, picture: str, panels: Panels) -> Figure:
    shown = list(panels) if picture == "all" else [picture]
    whole = len(shown) > 1
    extent = (11.0, 8.6) if whole else (6.6, 5.0)
    figure = figures.empty_figure(*extent, w_pad=0.14, h_pad=0.12, wspace=0.02, hspace=0.02)
    for place, name in enumerate(shown, start=1):
        axes = figure.add_subplot(2, 2, place) if whole else figure.add_subplot()
        figures.tidy(axes, spines=("left", "bottom"))
        heading, panel = panels[name]
        panel(axes, account)
        axes.set_title(heading.format(delta=account.delta), loc="left", fontsize=11.5, fontweight="bold", pad=9)
        if len(axes.get_legend_handles_labels()[0]) > 1:
            corner: Any = "upper right" if name == "curve" else "upper left"
            axes.legend(loc=corner, fontsize=9.5, frameon=True, framealpha=0.9, edgecolor="none")
    title = f"ε = {few_digits(account.smallest.epsilon)} at δ = {account.delta:g}{_relation(account)}"
    if whole:
        figure.suptitle(f"{title}\n{account.description}", x=0.012, ha="left", fontsize=12.5, linespacing=1.5)
        return figure
    figure.suptitle(title, x=0.014, ha="left", fontsize=10.5)
    return figure


def _curve(axes: Axes, account: PricedEvents) -> None:
    for name, (epsilons, deltas) in profile(account).items():
        axes.plot(epsilons, np.where(deltas > 0.0, deltas, np.nan), **_line(name, account))
    epsilon = account.smallest.epsilon
    if account.delta > 0.0 and math.isfinite(epsilon):
        axes.plot([epsilon], [account.delta], **_DOT)
        left = epsilon < 0.7 * axes.get_xlim()[1]
        axes.annotate(
            f"ε = {few_digits(epsilon)}",
            (epsilon, account.delta),
            xytext=(8, 6) if left else (-8, -12),
            textcoords="offset points",
            ha="left" if left else "right",
            fontsize=10,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.5},
        )
        axes.set_ylim(bottom=account.delta * 1e-3, top=2.0)
    axes.set_xlim(left=0.0)
    axes.set(yscale="log", xlabel="ε", ylabel="δ")


def _trade_off(axes: Axes, account: PricedEvents) -> None:
    alarms, misses = trade_off_points(account)
    axes.fill_between(alarms, misses, color=BLUE, alpha=0.09, linewidth=0.0)
    axes.plot([0.0, 1.0], [1.0, 0.0], color=GREY, linewidth=1.2, linestyle=(0, (1, 2)))
    axes.plot(alarms, misses, color=BLUE, linewidth=2.4)
    least = 1.0 - account.reading.detection
    axes.plot([FALSE_ALARM], [least], **_DOT)
    detected = rounded(100.0 * account.reading.detection, 3, ROUND_CEILING)
    axes.annotate(
        f"5% false alarms:\nat most {detected}% detected",
        (FALSE_ALARM, least),
        xytext=(0.33, 0.93),
        textcoords="data",
        va="top",
        fontsize=10,
        arrowprops={"arrowstyle": "-", "color": INK, "linewidth": 0.8, "shrinkB": 4},
    )
    if account.trade_off.misses_at(0.35) > 0.15:
        axes.text(0.04, 0.05, "no attack reaches this", color=BLUE, fontsize=9.5)
    axes.text(0.67, 0.36, "guessing", color=GREY, fontsize=9.5)
    axes.set(xlim=(0.0, 1.0), xlabel="false alarms: accused, but not in the table")
    axes.set(ylim=(0.0, 1.005), ylabel="misses: in the table, but not detected")


def _renyi(axes: Axes, account: PricedEvents) -> None:
    orders = 1.0 + np.geomspace(1e-2, 255.0, _MANY_POINTS)
    try:
        divergences = account.composition.renyi_curve(orders)
    except AccountingError:
        divergences = np.full_like(orders, math.inf)
    shown = (divergences > 0.0) & np.isfinite(divergences)
    if not shown.any():
        why = "nothing is released" if not account.composition.releases else "no finite Rényi curve"
        axes.text(0.5, 0.5, why, ha="center", transform=axes.transAxes, color=INK)
        return
    axes.plot(orders[shown], divergences[shown], color=GREEN, linewidth=2.4)
    axes.set(xscale="log", yscale="log", xlabel="order α", ylabel="divergence")


def _steps(axes: Axes, account: Account) -> None:
    steps, found = epsilon_by_steps(account)
    for name, epsilons in found.items():
        shown = np.where(epsilons > 0.0, epsilons, np.nan)
        if np.isfinite(shown).any():
            axes.plot(steps, shown, **_line(name, account))
    epsilon = account.smallest.epsilon
    if 0.0 < epsilon < math.inf:
        axes.plot([account.run.steps], [epsilon], **_DOT)
    axes.set(xscale="log", yscale="log", xlabel="steps", ylabel="ε")


def _loss(axes: Axes, account: PricedEvents) -> None:
    law = loss_density(account)
    axes.set(xlabel="privacy loss", yticks=[])
    if law is None:
        axes.set_xticks([])
        axes.text(0.5, 0.5, "out of its numerical range", ha="center", transform=axes.transAxes, color=INK)
        return
    densities = ((law.within, BLUE, 0.22), (law.without, ORANGE, 0.16))
    for (density, color, alpha), world in zip(densities, _WORLDS[str(account.relation)], strict=True):
        axes.fill_between(law.losses, density, color=color, alpha=alpha, linewidth=0.0)
        axes.plot(law.losses, density, color=color, linewidth=1.8, label=world)
    epsilon = account.smallest.epsilon
    if math.isfinite(epsilon):
        axes.axvline(epsilon, color=INK, linewidth=1.0, **_DASHED)
        axes.text(epsilon, 0.97, " ε", transform=axes.get_xaxis_transform(), va="top", fontsize=11)
    # Room for the legend above the curves.
    axes.set_ylim(0.0, 1.3 * float(max(law.within.max(), law.without.max())))
    axes.set_ylabel("density")


def _relation(account: PricedEvents) -> str:
    return "" if account.relation is None else f", {account.relation}"


def _line(name: str, account: PricedEvents) -> dict[str, Any]:
    label = {"label": f"best ({account.smallest.accountant})"} if name == BEST else {}
    return {"zorder": 3 if name == BEST else 2, **_LINES[name], **label}


@dataclass(frozen=True)
class LossDensity:
    """Density of the privacy loss at increasing losses, with the person in the table and without."""

    losses: Floats
    within: Floats

    @property
    def without(self) -> Floats:
        """`within` times e to the minus loss, as for every privacy loss."""
        return np.asarray(self.within * np.exp(-np.clip(self.losses, -700.0, 700.0)))


def profile(account: PricedEvents) -> Mapping[str, tuple[Floats, Floats]]:
    """Epsilons and deltas: the best and the Rényi curve, never below the truth, and the forecast if there is one."""
    found = account.composition
    largest = found.epsilon(max(account.delta, _TABLE_DELTA**2) * _DEEP)
    if not 0.0 < largest < math.inf:
        largest = 1.0
    deep_enough = account.delta * _DEEP >= _LEAST_DELTA
    distributions = _distributions(account, largest) if deep_enough else []
    quick = found.mu is not None or bool(distributions)
    epsilons = np.linspace(0.0, largest, _MANY_POINTS if quick else _FEW_POINTS)
    if math.isfinite(account.smallest.epsilon):
        epsilons = np.union1d(epsilons, account.smallest.epsilon)

    def at(epsilon: float) -> float:
        return max(each.delta(epsilon) for each in distributions) if distributions else found.delta(epsilon)

    curves = {BEST: (epsilons, _values(at, epsilons))}
    curve = total_curve(found.releases, found.relation)
    if curve is not None and curve.leak == 0.0 and found.mu is None:
        orders = np.union1d(default_orders(), 1.0 + np.geomspace(0.1, 30.0, 30))
        values = curve.curve(orders)
        deltas = _values(lambda it: conversion.delta_from_values(orders, values, it), epsilons)
        curves["rdp"] = (epsilons, deltas)
    mu = math.inf if account.forecast is None else account.forecast.approximate_mu
    if found.mu is None and math.isfinite(mu):
        curves["gdp-clt"] = (epsilons, _values(lambda it: gaussian.delta(it, mu), epsilons))
    return curves


def trade_off_points(account: PricedEvents) -> tuple[Floats, Floats]:
    """Rates of false alarms, dense near 0 and 1, and the least misses at each."""
    near = np.geomspace(1e-4, 0.5, 80)
    alarms = np.concatenate([[0.0], near, 1.0 - near[-2::-1], [1.0]])
    return alarms, _values(account.trade_off.misses_at, alarms)


def epsilon_by_steps(account: Account) -> tuple[Floats, Mapping[str, Floats]]:
    """Numbers of steps, that of the run among them, and epsilon by several accountants; NaN where one has no price."""
    steps = account.run.steps
    around = np.geomspace(max(1.0, steps / 100.0), 10.0 * steps, _STEP_POINTS)
    counts = sorted({*(round(float(it)) for it in around), steps})
    found = {name: np.array([_at_steps(account, name, count) for count in counts]) for name in STEPS_SHOWN}
    return np.array(counts, dtype=np.float64), found


def loss_density(account: PricedEvents) -> LossDensity | None:
    """Density of the privacy loss in its worse direction; None where it cannot be computed."""
    mu = account.composition.mu
    if mu is not None:
        if not 0.0 < mu < 1e6:
            return None
        ends = mu * (0.5 * mu - _HALF_WIDTH), mu * (0.5 * mu + _HALF_WIDTH)
        losses = np.linspace(*ends, 4 * _BINS + 1)
        scaled = (losses - 0.5 * mu * mu) / mu
        return LossDensity(losses, np.exp(-0.5 * scaled * scaled) / (mu * math.sqrt(2.0 * math.pi)))
    epsilon = account.smallest.epsilon
    distributions = _distributions(account, epsilon) if math.isfinite(epsilon) else []
    if not distributions:
        return None
    law = max(distributions, key=lambda each: each.delta(epsilon))
    masses = np.maximum(law.masses, 0.0) * math.exp(law.log_scale)
    grid = (law.first + np.arange(masses.size)) * law.step
    sums = np.cumsum(masses)
    first = int(np.searchsorted(sums, _TAIL))
    last = min(int(np.searchsorted(sums, sums[-1] - _TAIL)) + 1, masses.size - 1)
    # A whole number of grid losses in each bin, or the bars would flicker.
    per_bin = max(round((last - first) / _BINS), 1)
    number = (last - first) // per_bin + 1
    cuts = first + per_bin * np.arange(number + 1)
    padded = np.append(masses, np.zeros(per_bin + 1))
    width = per_bin * law.step
    heights = np.add.reduceat(padded[: cuts[-1] + 1], cuts)[:-1] / width
    centers = grid[first] + (np.arange(number) + 0.5) * width - 0.5 * law.step
    return LossDensity(centers, heights) if number > 1 else None


def _distributions(account: PricedEvents, epsilon: float) -> list[Transform]:
    """The composed loss in each direction, not tilted; nothing where it is out of range."""
    items = pairs_of(account.composition.releases, account.composition.relation)
    if not items or account.composition.mu is not None or not epsilon > 0.0:
        return []
    ways = DIRECTIONS[:1] if all(pair.symmetric for pair, _ in items) else DIRECTIONS
    try:
        return [composed_loss(items, way, max(account.delta * _DEEP, _LEAST_DELTA)) for way in ways]
    except (pld.GridTooLong, pld.BelowRoundOff):
        return []


def _at_steps(account: Account, name: str, steps: int) -> float:
    run: Run = replace(account.run, steps=steps)
    events, delta, relation = [run.event], account.delta, run.relation
    try:
        if name == "gdp-clt":
            # Without sampling the limit is the exact price, which is drawn as the best one.
            if account.composition.mu is not None:
                return math.nan
            found = forecast(events, relation=relation).approximate_epsilon(delta)
        elif name == BEST:
            found = best(events, delta=delta, relation=relation).epsilon
        else:
            found = price(name, events, delta=delta, relation=relation).epsilon
    except AccountingError:
        return math.nan
    return found if math.isfinite(found) else math.nan


def _values(function: Callable[[float], float], points: Floats) -> Floats:
    return np.array([function(float(point)) for point in points])


_WORLDS = {
    "add-remove": ("the person is in the table", "the person is not"),
    "zero-out": ("the person's record counts", "it is blank"),
    "replace-one": ("the person's record is this one", "it is another one"),
    "None": ("one table", "its neighbour"),
}
Panels = Mapping[str, tuple[str, Callable[["Axes", Any], None]]]
_PANELS: Panels = {
    "curve": ("Privacy profile: δ at each ε", _curve),
    "tradeoff": ("What an attacker can do", _trade_off),
    "steps": ("ε against steps, at δ = {delta:g}", _steps),
    "loss": ("Privacy-loss distribution", _loss),
}
_COMPOSITION_PANELS: Panels = {
    **{name: panel for name, panel in _PANELS.items() if name != "steps"},
    "renyi": ("Rényi divergence at each order", _renyi),
}
