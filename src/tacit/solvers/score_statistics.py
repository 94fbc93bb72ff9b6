"""What a noised histogram of scores tells: the area under the ROC curve and calibration, each with its errors.

P_b and Q_b are the noised counts of labels 1 and 0 in interval b, s the deviation of the noise on each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Scored:
    """A score, the deviation of the noise in it, and its standard error: noise and sampling together."""

    name: str
    value: float
    noise: float
    error: float

    @classmethod
    def of(
        cls, name: str, value: float, noise: float, sampling: float, ends: tuple[float, float] = (0.0, 1.0)
    ) -> Scored:
        """Keep a value within its ends; `sampling` is a variance, which noise may have made negative."""
        kept = min(max(value, ends[0]), ends[1])
        return cls(name, kept, noise, math.sqrt(noise**2 + max(sampling, 0.0)))


def total_of(counts: Floats, noise: float, known: float) -> tuple[float, float, bool]:
    """A sum of counts, the same less one deviation of its noise, by which errors go, and whether it tells anything.

    It does where it is more than `known` deviations. Else what is divided by it has an error of 1/2.
    """
    deviation = noise * math.sqrt(counts.size)
    total = max(float(counts.sum()), known * deviation, 1.0)
    return total, max(total - deviation, 1.0), float(counts.sum()) > known * deviation


def area_under_curve(counts: Floats, noise: float, known: float) -> Scored:
    """Σ_b P_b F_b / P with F_b = (Q_0 + … + Q_{b-1} + Q_b / 2) / Q: ties within an interval count one half.

    The sampling variance is DeLong's, Var(F) / P + Var(G) / Q, and the noise is propagated to first order.
    """
    negative, positive = counts
    (P, least_p, known_p), (Q, least_q, known_q) = total_of(positive, noise, known), total_of(negative, noise, known)
    F = (np.cumsum(negative) - negative / 2) / Q
    G = 1.0 - (np.cumsum(positive) - positive / 2) / P
    area = min(max(float(positive @ F / P), 0.0), 1.0)
    if not (known_p and known_q):
        return Scored("auc", area, 0.5, 0.5)
    spread = noise * math.hypot(float(np.linalg.norm(F - area)) / least_p, float(np.linalg.norm(G - area)) / least_q)
    sampling = max(float(positive @ (F - area) ** 2), 0.0) / least_p**2
    sampling += max(float(negative @ (G - area) ** 2), 0.0) / least_q**2
    return Scored.of("auc", area, spread, sampling)


def calibration(counts: Floats, edges: Floats, noise: float, groups: int, known: float) -> list[Scored]:
    """Share of label 1 among the records of every group of neighbouring intervals, named by its probabilities."""
    size = counts.shape[1] // groups
    parts = counts.reshape(2, groups, size)
    ends = [0.0, *(1 / (1 + np.exp(-edges[size - 1 :: size]))).tolist(), 1.0]
    found = []
    for g in range(groups):
        name = f"share of label 1 at a probability of {ends[g]:.3f} to {ends[g + 1]:.3f}"
        total, least, told = total_of(parts[:, g], noise, known)
        share = min(max(float(parts[1, g].sum()) / total, 0.0), 1.0)
        # Records are at least as uncertain as two more of each label would leave them.
        pulled = (share * total + 2) / (total + 4)
        spread = noise * math.sqrt(size) * math.hypot(1 - share, share) / least
        scored = Scored.of(name, share, spread, pulled * (1 - pulled) / least)
        found.append(scored if told else Scored(name, share, 0.5, 0.5))
    return found
