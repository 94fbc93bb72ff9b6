"""Draw the pictures of docs/why.md: linkage of an anonymised table, and membership in published means.

python -m tools.attack_pictures [FOLDER]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tacit.audit.linkage import link, simulated_town
from tacit.audit.membership import MembershipResult, attack_means
from tacit.report.figure import BLUE, GREY, INK, ORANGE, drawn, empty_figure, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
PUBLISHED: tuple[tuple[str, ...], ...] = (
    ("sex",),
    ("sex", "postcode"),
    ("sex", "postcode", "year of birth"),
    ("sex", "postcode", "date of birth"),
)
ONE_IN = 10
"""Of the town's people so many are patients."""
SEED, MU, BINS, POINTS = 1, 1.0, 26, 400


def linkage_picture(path: Path | None = None) -> Figure:
    """Draw the share of published records that got their name back, for more and more published columns."""
    return drawn(_linkage, path)


def membership_picture(found: MembershipResult, path: Path | None = None) -> Figure:
    """Draw the q-scores of members and of others, and detections against false alarms under the bound."""
    return drawn(lambda: _membership(found), path)


def _linkage() -> Figure:
    town = simulated_town()
    patients = town[::ONE_IN]
    shares = [link(town, patients, columns).share for columns in PUBLISHED]
    figure = empty_figure(8.4, 3.6, w_pad=0.12, h_pad=0.1)
    axes = figure.add_subplot()
    places = np.arange(len(PUBLISHED))
    axes.barh(places, shares, color=[GREY, GREY, ORANGE, ORANGE], height=0.62)
    axes.set_yticks(places, [", ".join(columns) for columns in PUBLISHED])
    axes.invert_yaxis()
    axes.set(xlim=(0.0, 1.12), xlabel="share of the published records that got their name back")
    axes.set_xticks(np.linspace(0, 1, 6), [f"{tick:.0%}" for tick in np.linspace(0, 1, 6)])
    for place, share in enumerate(shares):
        axes.text(share + 0.01, place, f"{share:.1%}", va="center", color=INK)
    tidy(axes)
    axes.grid(axis="y", visible=False)
    _heading(figure, "An anonymised table and a public register", f"{len(patients):,} patients, {len(town):,} people")
    return figure


def _membership(found: MembershipResult) -> Figure:
    figure = empty_figure(9.6, 4.4, w_pad=0.12, h_pad=0.1)
    _scores(figure.add_subplot(1, 2, 1), found)
    _roc(figure.add_subplot(1, 2, 2), found)
    how = "exact means" if found.mu is None else f"means released with μ = {found.mu:g}"
    told = f"{found.members} members, {found.sites:,} sites; AUC {found.auc:.3f}"
    told += "" if found.mu is None else f", at most {found.largest_auc:.3f} for any attack on average"
    _heading(figure, f"Who was in the study: {how}", told)
    return figure


def _scores(axes: Axes, found: MembershipResult) -> None:
    both = np.concatenate([found.scores.first, found.scores.second])
    edges = np.linspace(both.min(), both.max(), BINS + 1).tolist()
    for scores, colour, name in ((found.scores.first, GREY, "others"), (found.scores.second, ORANGE, "members")):
        axes.hist(scores, bins=edges, color=colour, alpha=0.75, label=name)
    axes.set(xlabel="q-score", ylabel="people")
    axes.margins(y=0.25)
    axes.legend(frameon=False, loc="upper left", ncols=2)
    tidy(axes, spines=("left", "bottom"))
    axes.set_title("scores", loc="left", fontsize=11, fontweight="bold")


def _roc(axes: Axes, found: MembershipResult) -> None:
    alarms = np.linspace(0.0, 1.0, POINTS)
    if found.mu is not None:
        bound = found.bound(alarms)
        axes.fill_between(alarms, bound, 1.0, color=BLUE, alpha=0.1, linewidth=0.0, label="beyond the guarantee")
        axes.plot(alarms, bound, color=BLUE, linewidth=2.2, label=f"guarantee: μ = {found.mu:g}")
    axes.plot(*found.scores.roc(), color=ORANGE, linewidth=2.0, label="attack, as observed", clip_on=False)
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=1.2, linestyle=(0, (1, 2)), label="guessing")
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="false alarms", ylabel="detections")
    axes.set_aspect("equal")
    axes.legend(frameon=False, loc="lower right", fontsize=9)
    tidy(axes, spines=("left", "bottom"))
    axes.set_title("ROC curve", loc="left", fontsize=11, fontweight="bold")


def _heading(figure: Figure, title: str, told: str) -> None:
    figure.suptitle(f"{title}\n{told}", x=0.012, ha="left", fontsize=12, linespacing=1.5)


def main(arguments: Sequence[str]) -> int:
    """Draw all pictures into a folder, by default that of the documentation."""
    folder = Path(arguments[0]) if arguments else PICTURES
    linkage_picture(folder / "linkage.png")
    membership_picture(attack_means(seed=SEED), folder / "membership_exact.png")
    membership_picture(attack_means(mu=MU, seed=SEED), folder / "membership_private.png")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
