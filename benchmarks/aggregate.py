"""Subsample and aggregate: n times the mean squared error as n grows, for several numbers of blocks.

The rate of an exponential law is estimated by 1 / mean on every block. Its bias is of order 1 / rows, and the best
variance is c/n with c = 1. Noise is added for μ = 1 and bounds [0, 4]. With k = √n blocks neither noise nor bias
becomes small against c/n. With the jackknife and k = n^0.7 both do: k must grow faster than √n.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.record import Figure, write
from tacit.mechanisms.jackknife import jackknifed
from tacit.report.figure import BLUE, GREY, INK, ORANGE, STYLE, empty_figure, tidy
from tacit.solvers.block_rules import BLOCKS

SIZES = (1_000, 10_000, 100_000, 1_000_000)
POWERS = (0.4, 0.5, 0.6, 0.7)
MU, WIDTH, RUNS = 1.0, 4.0, 400
PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "aggregate.png"


def error(n: int, power: float, *, jackknife: bool, runs: int = RUNS) -> tuple[float, float, float]:
    """N times the mean squared error of the released mean, of its bias alone, and of its noise alone."""
    rng = np.random.default_rng([n, int(100 * power), jackknife])
    blocks = max(2, round(n**power))
    rows = n // blocks
    groups = BLOCKS.groups if jackknife else 0
    released = np.empty(runs)
    for number in range(runs):
        # Sums of groups of exponential variables are Gamma variables.
        sums = rng.gamma(rows / BLOCKS.groups, size=(BLOCKS.groups, blocks))

        def estimate(mask: np.ndarray, sums: np.ndarray = sums) -> np.ndarray:
            return np.asarray(np.clip(mask.sum() * rows / BLOCKS.groups / sums[mask].sum(axis=0), 0.0, 1e6))

        found = np.clip(jackknifed(estimate, BLOCKS.groups, groups), 0.0, WIDTH)
        released[number] = found.mean() + rng.normal() * WIDTH / (blocks * MU)
    bias, noise = float(released.mean() - 1.0), WIDTH / (blocks * MU)
    return n * float(np.mean((released - 1.0) ** 2)), n * bias**2, n * noise**2


def run() -> None:
    """Measure and draw."""
    found = {
        (power, jackknife): [error(n, power, jackknife=jackknife, runs=RUNS if n < 10**6 else RUNS // 4) for n in SIZES]
        for power in POWERS
        for jackknife in (False, True)
    }
    details = {
        f"n^{power:g} blocks{', jackknife' if jackknife else ''}": {
            str(n): {"n·MSE": total, "n·bias²": bias, "n·noise²": noise}
            for n, (total, bias, noise) in zip(SIZES, cells, strict=True)
        }
        for (power, jackknife), cells in found.items()
    }
    last = {key: cells[-1][0] for key, cells in found.items()}
    figures = [
        Figure("n·MSE over c, n^0.7 blocks with jackknife", last[0.7, True], "", "≤ 1.5", last[0.7, True] <= 1.5),
        Figure("the same without jackknife", last[0.7, False], "", "> 100", last[0.7, False] > 100),
        Figure("n·MSE over c, n^0.5 blocks with jackknife", last[0.5, True], "", "> 5", last[0.5, True] > 5),
    ]
    _draw(found)
    write("aggregate", figures, details)


def _draw(found: dict[tuple[float, bool], list[tuple[float, float, float]]]) -> None:
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        figure = empty_figure(8.0, 4.2)
        axes = figure.add_subplot()
        for (power, jackknife), cells in found.items():
            colour = {0.4: GREY, 0.5: ORANGE, 0.6: BLUE, 0.7: INK}[power]
            axes.plot(
                SIZES,
                [cell[0] for cell in cells],
                "-o" if jackknife else "--",
                color=colour,
                label=f"n^{power:g} blocks{', jackknife' if jackknife else ''}",
            )
        axes.axhline(1.0, color=INK, linewidth=0.8)
        axes.set(xscale="log", yscale="log", xlabel="records n", ylabel="n · mean squared error / c")
        figure.legend(fontsize=8, frameon=False, loc="outside right upper")
        tidy(axes)
        figure.savefig(PICTURE, dpi=110, metadata={"Software": None})
