"""Draw the pictures of docs/theory/generalisation.md: what an unpaid choice leaks, and a holdout that is used again.

python -m tools.selection_pictures [NAME …]
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import optimize, special

import tacit
from tacit.accounting.composition import compose
from tacit.privacy.event import Gaussian, PoissonRuns, RandomStopping
from tacit.report.figure import BLUE, GREY, INK, ORANGE, drawn, empty_figure, tidy
from tacit.schema.columns import NumericColumn
from tacit.schema.schema import Schema

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
Floats = NDArray[np.float64]
MU, DELTA = 0.25, 1e-6
RECORDS, COLUMNS = 10_000, 500


def best_of(runs: int, delta: float = DELTA) -> float:
    """ε at δ of the best of so many runs, where one record shifts every run's outcome by μ deviations.

    The density of the largest of k standard normal numbers is k φ(x) Φ(x)^(k - 1); δ(ε) = ∫ (p₁ - e^ε p₀)₊.
    """
    x = np.linspace(-9.0, 14.0, 200_001)
    step = x[1] - x[0]

    def log_density(at: Floats) -> Floats:
        return np.asarray(math.log(runs) - at**2 / 2 - math.log(2 * math.pi) / 2 + (runs - 1) * special.log_ndtr(at))

    worlds = log_density(x), log_density(x - MU)

    def excess(epsilon: float) -> float:
        both = (np.maximum(np.exp(a) - np.exp(epsilon + b), 0).sum() * step for a, b in (worlds, worlds[::-1]))
        return float(max(both)) - delta

    return float(optimize.brentq(excess, 1e-6, 30.0))


def search_leak() -> Figure:
    """Draw ε of the best of k runs that were paid for as one, and what a private search charges."""
    figure = empty_figure(6.8, 4.4, w_pad=0.14, h_pad=0.1)
    axes = figure.add_subplot()
    counts = [1, 2, 4, 8, 16, 32, 64, 128, 256]
    leaked = [best_of(count) for count in counts]
    trial = Gaussian(MU**2, 1)
    charged = [compose([RandomStopping(trial, PoissonRuns(count))]).epsilon(DELTA) for count in counts]
    axes.plot(counts, leaked, color=ORANGE, marker="o", markersize=4, label="leaked by the best of k, at least")
    axes.axhline(leaked[0], color=INK, linestyle="--", linewidth=1.2, label="charged, if only the winner is paid for")
    axes.plot(counts, charged, color=BLUE, marker="o", markersize=4, label="charged by a search of Poisson(k) runs")
    axes.set(xscale="log", xlabel="settings tried, k", ylabel=f"ε at δ = {DELTA:g}", ylim=(0, None))
    tidy(axes)
    axes.legend(frameon=False, fontsize=9)
    figure.suptitle("The best of k private fits, chosen unpaid", x=0.012, ha="left", fontsize=13, fontweight="bold")
    return figure


def coins_table(seed: int) -> Floats:
    """Uniform features and, last, labels that have nothing to do with them."""
    generator = np.random.default_rng(seed)
    features = generator.uniform(-1, 1, (RECORDS, COLUMNS))
    return np.column_stack([features, generator.choice([-1.0, 1.0], RECORDS)])


def accuracy(rows: Floats, signs: Floats) -> float:
    """Share of labels that a vote of signed features gets right."""
    return float(np.mean((rows[:, :COLUMNS] @ signs) * rows[:, COLUMNS] > 0))


def holdout_reuse() -> Figure:
    """Select features by training and holdout data, naively and through a reusable holdout; labels are coins."""
    train, private, fresh = (coins_table(seed) for seed in (1, 2, 3))
    names = [f"x{j}" for j in range(COLUMNS)]
    schema = Schema({name: NumericColumn(-1.0, 1.0) for name in (*names, "y")})
    table = pa.table(dict(zip((*names, "y"), private.T, strict=True)))
    trained, naive = (rows[:, :COLUMNS].T @ rows[:, COLUMNS] / RECORDS for rows in (train, private))
    counts = [0, 10, 25, 50, 100, 200, 350, 500]
    lines: dict[str, list[float]] = {name: [] for name in ("naive", "naive, fresh", "reusable", "reusable, fresh")}
    terms: dict[str, Any] = {"epsilon": 4.0, "delta": 1e-6, "releases": 20, "threshold": 0.02, "random_state": 7}
    with tacit.ReusableHoldout(table, schema, **terms) as holdout:
        checked = np.array([holdout.check(f"x{j} * y", trained[j]).value for j in range(COLUMNS)])
        for count in counts:
            for name, known in (("naive", naive), ("reusable", checked)):
                signs = chosen_signs(trained, known, count)
                lines[f"{name}, fresh"].append(accuracy(fresh, signs) if count else 0.5)
                if not count:
                    lines[name].append(0.5)
                elif name == "naive":
                    lines[name].append(accuracy(private, signs))
                else:
                    places = np.flatnonzero(signs)
                    vote = total_of([f"{'-' if signs[j] < 0 else ''}x{j}" for j in places])
                    lines[name].append(holdout.check(f"{vote} * y > 0", accuracy(train, signs)).value)
    figure = empty_figure(10.4, 4.2, w_pad=0.14, h_pad=0.1)
    for axes, name in zip(figure.subplots(1, 2, sharey=True), ("naive", "reusable"), strict=True):
        label = "what the holdout says" if name == "naive" else "what the reusable holdout says"
        axes.plot(counts, lines[name], color=ORANGE if name == "naive" else BLUE, marker="o", label=label)
        axes.plot(counts, lines[f"{name}, fresh"], color=INK, linestyle="--", label="fresh records")
        axes.axhline(0.5, color=GREY, linewidth=0.9)
        axes.set(xlabel="features selected", title="used naively" if name == "naive" else "used privately, ε = 4")
        tidy(axes)
        axes.legend(frameon=False, fontsize=9)
    figure.axes[0].set_ylabel("accuracy; labels are coins")
    title = f"One holdout, asked {COLUMNS} times to select features"
    figure.suptitle(title, x=0.012, ha="left", fontsize=13, fontweight="bold")
    return figure


def total_of(terms: list[str]) -> str:
    """A sum of terms as text, halved again and again: a long row of additions would nest too deep to be read."""
    half = len(terms) // 2
    return f"({total_of(terms[:half])} + {total_of(terms[half:])})" if half else f"({terms[0]})"


def chosen_signs(trained: Floats, known: Floats, count: int) -> Floats:
    """Signs of the features with the largest correlations that both data sets agree on, else 0."""
    agreed = np.where(np.sign(trained) == np.sign(known), np.abs(known), 0.0)
    places = np.argsort(-agreed)[:count]
    signs = np.zeros(len(trained))
    signs[places] = np.sign(known[places]) * (agreed[places] > 0)
    return signs


PICTURES: dict[str, Callable[[], Figure]] = {"search-leak": search_leak, "holdout-reuse": holdout_reuse}


def main(names: list[str]) -> None:
    """Draw the pictures that are named, or all."""
    for name in names or list(PICTURES):
        drawn(PICTURES[name], FOLDER / f"{name}.png")
        print(FOLDER / f"{name}.png")


if __name__ == "__main__":
    main(sys.argv[1:])
