"""What answers cost, computed by the textbook and by nothing of the library: a second opinion on every price.

Sensitivities are from the proofs by hand. Compositions are from discretised privacy losses, rounded down: what the
library states is above them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import optimize, signal, special, stats

from tacit.contract.batches import BatchPrice
from tacit.contract.query import QueryKind
from tacit.contract.sensitivity import LaplacePrice, Price
from tacit.privacy.relation import Relation

FACTORS = {"gradient": 4, "second-moments": 2, "column-moments": 4, "sandwich": 2, "counts": 1, "means": 4}
FACTORS["damped-direction"] = 1
"""Squared change of a sum under replace-one, in squares of the bound on a record; under the other relations 1."""
STEP = 1e-3
FARTHEST = 30.0


def squared_sensitivity(kind: QueryKind, bound: int, relation: Relation, size: int) -> int:
    """Largest squared change of k integers of a record that are bounded by `bound`."""
    several = size if kind in {QueryKind.COUNTS, QueryKind.MEANS, QueryKind.GROUP_MEANS} else 1
    if relation is not Relation.REPLACE_ONE:
        return several * bound**2
    if kind is QueryKind.GROUP_MEANS:
        return max(4 * (size - 1), 2 * size) * bound**2
    return FACTORS[str(kind)] * several * bound**2


def mu_squared(kind: QueryKind, price: Price, relation: Relation, size: int) -> Fraction:
    """Squared μ of one answer."""
    return Fraction(squared_sensitivity(kind, price.bound, relation, size), 4**price.bits)


def pure_epsilon(price: LaplacePrice, relation: Relation) -> float:
    """ε of one sum with Laplace noise: the L1 norm is at most √width times the L2 norm."""
    moved = (2 if relation is Relation.REPLACE_ONE else 1) * price.bound
    return float(math.sqrt(price.width) * moved / 2**price.bits)


def gaussian_epsilon(mu: float, delta: float) -> float:
    """ε of μ-GDP at δ (Balle and Wang 2018)."""

    def excess(epsilon: float) -> float:
        first = special.ndtr(-epsilon / mu + mu / 2)
        return float(first - math.exp(epsilon) * special.ndtr(-epsilon / mu - mu / 2) - delta)

    return 0.0 if excess(0.0) <= 0.0 else float(optimize.brentq(excess, 0.0, mu * (mu / 2 + 12.0), xtol=1e-12))


def sampled_loss(mu: float, rate: float, *, removing: bool) -> Any:
    """Losses of a Gaussian answer over a Poisson sample, on the grid of whole steps, rounded down."""
    edges = np.linspace(-12.0, 12.0 + mu, 60_001)
    middles = (edges[1:] + edges[:-1]) / 2
    blank = np.diff(special.ndtr(edges))
    mixed = (1 - rate) * blank + rate * np.diff(special.ndtr(edges - mu))
    ratio = np.log1p(rate * np.expm1(mu * middles - mu**2 / 2))
    likely, loss = (mixed, ratio) if removing else (blank, -ratio)
    places = np.floor(loss / STEP).astype(int)
    half = int(FARTHEST / STEP)
    return np.bincount(np.clip(places, -half, half) + half, weights=likely, minlength=2 * half + 1)


def laplace_loss(epsilon: float) -> Any:
    """Losses of an answer with Laplace noise at ε."""
    edges = np.linspace(-40.0, 40.0 + epsilon, 60_001)
    middles = (edges[1:] + edges[:-1]) / 2

    def cumulative(x: Any) -> Any:
        return np.where(x < 0, 0.5 * np.exp(np.minimum(x, 0)), 1 - 0.5 * np.exp(-np.maximum(x, 0)))

    loss = np.abs(middles - epsilon) - np.abs(middles)
    places = np.floor(-loss / STEP).astype(int)
    half = int(FARTHEST / STEP)
    return np.bincount(places + half, weights=np.diff(cumulative(edges - epsilon)), minlength=2 * half + 1)


def composed_epsilon(losses: Sequence[tuple[Any, int]], delta: float) -> float:
    """ε at δ of independent losses, each so many times, by convolution on the grid."""
    half = int(FARTHEST / STEP)
    total = np.zeros(2 * half + 1)
    total[half] = 1.0
    for loss, times in losses:
        power, base = times, loss
        while power:
            if power & 1:
                total = signal.fftconvolve(total, base, mode="same")
            power >>= 1
            if power:
                base = signal.fftconvolve(base, base, mode="same")
    grid = (np.arange(2 * half + 1) - half) * STEP
    total = np.maximum(total, 0.0)

    def excess(epsilon: float) -> float:
        above = grid > epsilon
        return float(np.sum(total[above] * -np.expm1(epsilon - grid[above])) - delta)

    return float(optimize.brentq(excess, 0.0, FARTHEST - 1.0, xtol=1e-6)) if excess(0.0) > 0.0 else 0.0


def sampled_epsilon(mu: float, rate: float, times: int, delta: float) -> float:
    """ε of so many Gaussian answers over Poisson samples, in the worse of both directions."""
    found = [composed_epsilon([(sampled_loss(mu, rate, removing=it), times)], delta) for it in (True, False)]
    return max(found)


def drawn_epsilon(mu: float, draws: int, population: int, delta: float) -> float:
    """ε of a Gaussian sum over draws with replacement, where one record moves the sum by μ each time it is drawn."""
    grid = np.linspace(-12.0, 12.0 + mu * draws, 100_001)
    step = grid[1] - grid[0]
    blank = stats.norm.pdf(grid) * step
    weights = stats.binom.pmf(np.arange(draws + 1), draws, 1 / population)
    mixed = sum(weight * stats.norm.pdf(grid - copies * mu) * step for copies, weight in enumerate(weights))

    def excess(epsilon: float) -> float:
        return float(np.sum(np.maximum(mixed - math.exp(epsilon) * blank, 0.0)) - delta)

    return float(optimize.brentq(excess, 0.0, FARTHEST))


def batch_epsilon(price: BatchPrice, relation: Relation, times: int, delta: float) -> float:
    """At least this ε is spent by so many sums over Poisson batches: one record is in a batch or is not."""
    del relation
    mu = price.bound / 2**price.bits
    return sampled_epsilon(mu, float(price.batches.rate), times, delta)


def poisson_search_epsilon(mu: float, mean: float, delta: float) -> float:
    """ε of the best of a Poisson number of Gaussian trials (Papernot and Steinke 2022, theorem 6)."""
    best = math.inf
    for order in np.concatenate([np.linspace(1.05, 20, 400), np.linspace(20.5, 300, 560)]):
        hat = math.log1p(1.0 / (order - 1.0))
        rest = special.ndtr(-hat / mu + mu / 2) - math.exp(hat) * special.ndtr(-hat / mu - mu / 2)
        renyi = order * mu**2 / 2 + mean * rest + math.log(mean) / (order - 1.0)
        best = min(best, renyi + math.log(1 / (delta * order)) / (order - 1.0) + math.log1p(-1.0 / order))
    return best
