"""Pictures of an account: the profile, the trade-off, epsilon against steps, the privacy loss."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tacit.errors import SettingError
from tacit.report import account_curves as curves
from tacit.report.account import FALSE_ALARM, Account, few_digits, run_line
from tacit.report.figure import (
    BLUE,
    GREEN,
    GREY,
    INK,
    LIGHT,
    ORANGE,
    drawn,
    empty_figure,
    picture_file,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LINES: Mapping[str, Mapping[str, Any]] = {
    "basic": {"color": LIGHT, "linewidth": 1.6, "label": "basic"},
    "advanced": {"color": GREY, "linewidth": 1.6, "label": "advanced"},
    "rdp": {"color": GREEN, "linewidth": 1.8, "label": "Rényi"},
    "gdp-clt": {
        "color": ORANGE,
        "linewidth": 1.8,
        "linestyle": (0, (4, 2)),
        "label": "forecast, no guarantee",
    },
    curves.BEST: {"color": BLUE, "linewidth": 2.4},
}


def account_picture(account: Account, path: str | os.PathLike[str], picture: str = "all") -> None:
    """Draw one picture of an account, or all four in one figure.

    Guarantee
    ---------
    - The same account gives the same file.
    - The forecast is dashed and says that it is no guarantee.

    `picture` is "curve" (delta against epsilon), "tradeoff" (misses against false alarms),
    "steps" (epsilon against steps), "loss" (law of the privacy loss) or "all".
    """
    require_picture(path, picture)
    drawn(lambda: _figure(account, picture), path)


def require_picture(path: str | os.PathLike[str], picture: str) -> None:
    """Refuse a file or a kind of picture that cannot be drawn, before anything is computed."""
    picture_file(path)
    if picture not in ("all", *_PANELS):
        raise SettingError(
            f"unknown picture {str(picture)[:40]!r}; expected one of all, {', '.join(_PANELS)}"
        )


def _figure(account: Account, picture: str) -> Figure:
    shown = list(_PANELS) if picture == "all" else [picture]
    whole = len(shown) > 1
    size = (11.0, 8.6) if whole else (6.6, 5.0)
    figure = empty_figure(*size, w_pad=0.14, h_pad=0.12, wspace=0.02, hspace=0.02)
    for place, name in enumerate(shown, start=1):
        axes = figure.add_subplot(2, 2, place) if whole else figure.add_subplot()
        tidy(axes, spines=("left", "bottom"))
        _PANELS[name](axes, account)
    amount = few_digits(account.smallest.epsilon)
    title = f"ε = {amount} at δ = {account.delta:g}, {account.run.relation}"
    if whole:
        title = f"{title}\n{run_line(account.run)}"
        figure.suptitle(title, x=0.012, ha="left", fontsize=12.5, linespacing=1.5)
    else:
        figure.suptitle(title, x=0.014, ha="left", fontsize=10.5)
    return figure


def _curve(axes: Axes, account: Account) -> None:
    _title(axes, "Privacy profile: δ at each ε")
    for name, (epsilons, deltas) in curves.profile(account).items():
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
    _legend(axes, "upper right")


def _trade_off(axes: Axes, account: Account) -> None:
    _title(axes, "What an attacker can do")
    alarms, misses = curves.trade_off_points(account)
    axes.fill_between(alarms, misses, color=BLUE, alpha=0.09, linewidth=0.0)
    axes.plot([0.0, 1.0], [1.0, 0.0], color=GREY, linewidth=1.2, linestyle=(0, (1, 2)))
    axes.plot(alarms, misses, color=BLUE, linewidth=2.4)
    least = 1.0 - account.reading.detection
    axes.plot([FALSE_ALARM], [least], **_DOT)
    axes.annotate(
        f"5% false alarms:\nat most {_percent_up(account.reading.detection)} detected",
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
    axes.set(xlim=(0.0, 1.0), ylim=(0.0, 1.005))
    axes.set_xlabel("false alarms: accused, but not in the table")
    axes.set_ylabel("misses: in the table, but not detected")


def _steps(axes: Axes, account: Account) -> None:
    _title(axes, f"ε against steps, at δ = {account.delta:g}")
    steps, found = curves.epsilon_by_steps(account)
    for name, epsilons in found.items():
        shown = np.where(epsilons > 0.0, epsilons, np.nan)
        if np.isfinite(shown).any():
            axes.plot(steps, shown, **_line(name, account))
    epsilon = account.smallest.epsilon
    if 0.0 < epsilon < math.inf:
        axes.plot([account.run.steps], [epsilon], **_DOT)
    axes.set(xscale="log", yscale="log", xlabel="steps", ylabel="ε")
    _legend(axes, "upper left")


def _loss(axes: Axes, account: Account) -> None:
    _title(axes, "Privacy-loss distribution")
    law = curves.loss_density(account)
    axes.set(xlabel="privacy loss", yticks=[])
    if law is None:
        axes.set_xticks([])
        text, middle = "out of its numerical range", axes.transAxes
        axes.text(0.5, 0.5, text, ha="center", transform=middle, color=INK)
        return
    densities = ((law.within, BLUE, 0.22), (law.without, ORANGE, 0.16))
    worlds = _WORLDS[str(account.run.relation)]
    for (density, color, alpha), world in zip(densities, worlds, strict=True):
        axes.fill_between(law.losses, density, color=color, alpha=alpha, linewidth=0.0)
        axes.plot(law.losses, density, color=color, linewidth=1.8, label=world)
    epsilon = account.smallest.epsilon
    if math.isfinite(epsilon):
        axes.axvline(epsilon, color=INK, linewidth=1.0, linestyle=(0, (4, 2)))
        axes.text(epsilon, 0.97, " ε", transform=axes.get_xaxis_transform(), va="top", fontsize=11)
    # Room for the legend above the curves.
    axes.set_ylim(0.0, 1.3 * float(max(law.within.max(), law.without.max())))
    axes.set_ylabel("density")
    _legend(axes, "upper left")


def _line(name: str, account: Account) -> dict[str, Any]:
    label = {"label": f"best ({account.smallest.accountant})"} if name == curves.BEST else {}
    return {"zorder": 3 if name == curves.BEST else 2, **_LINES[name], **label}


def _title(axes: Axes, text: str) -> None:
    axes.set_title(text, loc="left", fontsize=11.5, fontweight="bold", pad=9)


def _legend(axes: Axes, place: Literal["upper left", "upper right"]) -> None:
    if len(axes.get_legend_handles_labels()[0]) > 1:
        axes.legend(loc=place, fontsize=9.5, frameon=True, framealpha=0.9, edgecolor="none")


def _percent_up(rate: float) -> str:
    return f"{math.ceil(rate * 1000.0 - 1e-9) / 10.0:g}%"


_WORLDS = {
    "add-remove": ("the person is in the table", "the person is not"),
    "zero-out": ("the person's record counts", "it is blank"),
    "replace-one": ("the person's record is this one", "it is another one"),
}
_DOT: Mapping[str, Any] = {
    "marker": "o", "markersize": 7.5, "color": BLUE, "markeredgecolor": "white",
    "markeredgewidth": 1.4, "linestyle": "none", "zorder": 5,
}  # fmt: skip
_PANELS: Mapping[str, Callable[[Axes, Account], None]] = {
    "curve": _curve,
    "tradeoff": _trade_off,
    "steps": _steps,
    "loss": _loss,
}
