"""Bisection by counts that are doubted as much as their noise is large.

Where a rising share of the records reaches what is wanted is a random place x to begin with, even
between two ends. The median of its law is asked about, and the answer a ~ N(F, σ²), F the share up
to there, changes the law by Bayes' rule: F is anywhere between what is wanted and 1 on one side,
between 0 and that on the other,

    P(a | x ≤ t) ∝ mean over F in (w, 1) of φ((a - F)/σ),   P(a | x > t) ∝ the same over (0, w)

Without noise this is bisection. With much of it an answer that noise explains is not held against
the ones to come, so that one mistake does not settle the result (probabilistic bisection, Horstein
1963). All is a public function of noised answers, and the number of questions is fixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

SMALLEST = 1e-300
DOUBTFUL = 0.1
"""Noise on a share of the records from which answers are doubted; below, bisection hardly errs."""

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


def seek(
    share: Callable[[Vector], tuple[Vector, float]],
    low: Vector,
    high: Vector,
    rounds: int,
    wanted: float,
) -> Vector:
    """Return where rising shares reach what is wanted, one a column, after so many questions.

    Parameters
    ----------
    share
        Noised shares of the records up to some places, and the deviation of the noise on them.
    low, high
        Where the places lie.
    wanted
        In (0, 1).
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


def doubted(noise: float) -> float:
    """Noise that answers are doubted by: none where it is small."""
    return noise if noise > DOUBTFUL else 0.0


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
    part = np.where(mass > 0, (half[:, 0] - start) / np.maximum(mass, SMALLEST), 0.5)
    middle = edges[row, piece] + part * (edges[row, piece + 1] - edges[row, piece])
    return middle, np.diff(np.sort(np.column_stack([total, half]), axis=1), axis=1)
