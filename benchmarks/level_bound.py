"""What one noised mean can do: `python -m benchmarks level_bound` (a minute).

A response in [0, 1] of deviation sd has its mean a gap g from the middle, and x is the mean with normal noise of
1/(n·μ). Asked of an estimator of x are the squared errors of benchmarks/levels.py, here as bounds b(g):

    .05 sd²                               where n·μ ≥ 5/sd, or g ≤ .2 sd
    .1 sd² + 1.1·min(g², 1/(n·μ)²)        elsewhere

For any weights w over gaps the Bayes rule of prior w/b has Σ w R(g)/b(g) no larger than that of any other estimator,
so max R/b is at least this sum for every estimator. The table has the largest sum found, by multiplying weights; the
estimator may even know sd. Above 1 no estimator of one noised mean reaches what is asked at every gap. That says
neither which gap is missed, nor anything of plans that ask for more than this mean: a count, a median, a cut mean.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.record import RESULTS

Floats = NDArray[np.float64]
N_MU, DEVIATIONS = (1.5, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 30.0, 45.0, 65.0, 79.0), (0.05, 0.1, 0.2, 0.29, 0.4)
ROUNDS, POINTS, GAPS, SPREAD = 1500, 1201, 101, 6.0


def asked(n_mu: float, sd: float, gaps: Floats) -> Floats:
    """The squared error that is allowed at each gap."""
    if n_mu * sd >= 5:
        return np.full(len(gaps), 0.05 * sd**2)
    return np.where(gaps <= 0.2 * sd + 1e-12, 0.05 * sd**2, 0.1 * sd**2 + 1.1 * np.minimum(gaps**2, n_mu**-2))


def least_excess(n_mu: float, sd: float, rounds: int = ROUNDS) -> tuple[float, float]:
    """A lower and an upper bound on min over estimators of max over gaps of R(g) / b(g)."""
    noise = 1 / n_mu
    gaps = np.unique(np.concatenate([np.linspace(0, 0.5, GAPS), [0.2 * sd, 0.2 * sd + 1e-6]]))
    gaps = gaps[gaps**2 + sd**2 <= 0.25]
    allowed = asked(n_mu, sd, gaps)
    seen = np.linspace(-0.5 - SPREAD * noise, 0.5 + SPREAD * noise, POINTS)
    above, below = (_normal(seen[None] - sign * gaps[:, None], noise) for sign in (1, -1))

    def errors(estimate: Floats) -> Floats:
        return np.asarray(above @ estimate**2 - 2 * gaps * (above @ estimate) + gaps**2 * above.sum(axis=1))

    weights, least, best = np.full(len(gaps), 1 / len(gaps)), 0.0, np.inf
    mean, total = np.zeros(POINTS), 0.0
    for number in range(1, rounds + 1):
        prior = weights / allowed
        bayes = ((prior * gaps) @ (above - below)) / (prior @ (above + below) + 1e-300)
        ratios = errors(bayes) / allowed
        least = max(least, float(weights @ ratios))
        mean, total = mean + number * bayes, total + number
        if number % 20 == 0:
            best = min(best, float(ratios.max()), float((errors(mean / total) / allowed).max()))
        weights = weights * np.exp(1.5 / np.sqrt(number) * ratios / ratios.max())
        weights /= weights.sum()
    return least, best


def _normal(distance: Floats, noise: float) -> Floats:
    found = np.exp(-0.5 * (distance / noise) ** 2)
    return np.asarray(found / (noise * np.sqrt(2 * np.pi)) * (distance[0, 1] - distance[0, 0]))


def table() -> str:
    """One line a deviation, one column an n·μ: the largest lower bound found."""
    lines = [f"| sd | {' | '.join(f'n·μ {n:g}' for n in N_MU)} |", "|---" * (len(N_MU) + 1) + "|"]
    for sd in DEVIATIONS:
        found = [least_excess(n_mu, sd)[0] for n_mu in N_MU]
        shown = [f"**{value:.2f}**" if value > 1 else f"{value:.2f}" for value in found]
        lines.append(f"| {sd:g} | {' | '.join(shown)} |")
    return "\n".join(lines)


def run(arguments: Sequence[str] = ()) -> None:
    """Compute and write the page."""
    argparse.ArgumentParser(prog="python -m benchmarks level_bound").parse_args(list(arguments))
    text = f"# The best level from one noised mean\n\n{__doc__}\n{table()}\n"
    (RESULTS / "level_bound.md").write_text(text, encoding="utf-8")
