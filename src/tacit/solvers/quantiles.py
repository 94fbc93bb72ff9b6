"""Bisection by noisy counts: of numbers, of places on a grid, and with noisy answers.

Every rule here is a public function of noised answers, and the number of questions is fixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tacit.contract.query import ColumnCounts, Gate, Measure, ResidualSize
from tacit.solvers.coordinates import Matrix, Vector

SMALLEST = 1e-300
FARTHEST = 1e6
"""Predictions are limited to it where they have no other limits."""

Places = NDArray[np.int64]


def bisect(count: Callable[[float], float], low: float, high: float, rounds: int, wanted: float) -> float:
    """Return where a rising count reaches what is wanted, after so many halvings of [low, high]."""
    for _ in range(rounds):
        middle = (low + high) / 2
        if count(middle) < wanted:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def bisect_octaves(count: Callable[[float], float], top: float, octaves: int, rounds: int, wanted: float) -> float:
    """The same for a radius between top / 2^octaves and top, by its logarithm."""
    power = bisect(lambda x: count(top * 2.0**x), -float(octaves), 0.0, rounds, wanted)
    return float(top * 2.0**power)


def bisect_places(
    enough: Callable[[Places], NDArray[np.bool_]], farthest: int, columns: int, rounds: int | None = None
) -> Places:
    """Return for each column the least whole number in ±farthest that is enough.

    After `rounds` halvings, or as many as it takes.
    """
    low = np.full(columns, -farthest, dtype=np.int64)
    high = np.full(columns, farthest, dtype=np.int64)
    taken = 0
    while (high - low).max() > 1 if rounds is None else taken < rounds:
        middle = (low + high) >> 1
        found = enough(middle)
        low, high = np.where(found, low, middle), np.where(found, middle, high)
        taken += 1
    return high


def bisect_noisy(
    share: Callable[[Vector], tuple[Vector, float]], low: Vector, high: Vector, rounds: int, wanted: float
) -> Vector:
    """Return where rising shares reach what is wanted: probabilistic bisection (Horstein 1963).

    The place x has a law, even between low and high to begin with. Each question is about the
    median t of the law. The answer a ~ N(F, σ²), F the share up to t, changes it by Bayes' rule,
    with F even in (wanted, 1) where x ≤ t and in (0, wanted) where x > t. Without noise this is
    bisection; with much noise, one wrong answer does not settle the result. `share` gives noised
    shares of the records up to some places, and the deviation of the noise on them.
    """
    edges, law = np.column_stack([low, high]), np.ones((len(low), 1))
    for _ in range(rounds):
        middle, law = _halve(edges, law)
        edges = np.sort(np.column_stack([edges, middle]), axis=1)
        before = edges[:, 1:] <= middle[:, None]
        reached, missed = likelihoods(*share(middle), wanted)
        law = law * np.where(before, reached[:, None], missed[:, None])
        law /= np.maximum(law.sum(axis=1, keepdims=True), SMALLEST)
    return _halve(edges, law)[0]


def considered_noise(noise: float) -> float:
    """Noise that the law of places goes by: none where it is small, and bisection hardly errs."""
    # The rules of intervals take a fiftieth of a second to load, and a start without a fit needs none of them.
    from tacit.solvers.interval_rules import START

    return noise if noise > START.noisy else 0.0


def likelihoods(seen: Vector, noise: float, wanted: float) -> tuple[Vector, Vector]:
    """Return how likely shares are where what is wanted is reached, and where it is not yet."""
    # A noised share beyond its ends tells no more than the end does.
    seen = np.clip(seen, 0.0, 1.0)
    top, middle, bottom = (_below(end - seen, noise) for end in (1.0, wanted, 0.0))
    return (top - middle) / (1 - wanted), (middle - bottom) / wanted


def _below(distance: Vector, noise: float) -> Vector:
    """Share of the noise below a distance."""
    scaled = distance / max(noise, SMALLEST) / math.sqrt(2.0)
    return np.array([(1 + math.erf(one)) / 2 for one in scaled.tolist()])


def _halve(edges: Matrix, law: Matrix) -> tuple[Vector, Matrix]:
    """Medians of laws that are even between edges, and the laws with these as further edges."""
    total = np.column_stack([np.zeros(len(law)), np.cumsum(law, axis=1)])
    half = total[:, -1:] / 2
    piece = np.argmax(total[:, 1:] >= half, axis=1)
    row = np.arange(len(law))
    start, mass = total[row, piece], law[row, piece]
    share = np.where(mass > 0, (half[:, 0] - start) / np.maximum(mass, SMALLEST), 0.5)
    middle = edges[row, piece] + share * (edges[row, piece + 1] - edges[row, piece])
    return middle, np.diff(np.sort(np.column_stack([total, half]), axis=1), axis=1)


def residuals_within(
    gate: Gate,
    theta: Vector,
    low: float,
    high: float,
    matrix: Matrix | None = None,
    *,
    predictions: tuple[float, float] = (-FARTHEST, FARTHEST),
    exponential: bool = False,
    one_in: int = 1,
) -> float:
    """Ask how many residuals y - p lie in (low, high]; p is limited to `predictions`."""
    within = Measure.WITHIN
    query = ResidualSize(theta, high - low, matrix, *predictions, within, low, exponential=exponential, every=one_in)
    return float(gate.ask(query).value[0])


def records_below(gate: Gate, column: int, end: float) -> float:
    """Ask how many records have a value of at most `end` in a column."""
    query = ColumnCounts((column,), np.array([-math.inf]), np.array([end]))
    return float(gate.ask(query).value[0])


def around(center: Vector, radius: Vector) -> tuple[Vector, Vector]:
    """Ends of the counts that hold the closed interval center ± radius."""
    return np.nextafter(center - radius, -math.inf), center + radius
