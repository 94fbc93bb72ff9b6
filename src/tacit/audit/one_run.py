"""A lower bound on ε from one run with many canaries, each in the table by a fair coin.

The auditor guesses r of m coins from the release and v guesses are right. Under (ε, δ) the chance of v or more is at
most P[B ≥ v] + 2mδ max_i P[v > B ≥ v - i] / i with B ~ Bin(r, e^ε/(1 + e^ε)): Steinke, Nasr, Jagielski,
NeurIPS 2023. The ε at which it is 1 - confidence is a lower bound.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from tacit.errors import SettingError
from tacit.validate import whole, within

LARGEST_EPSILON = 60.0
STEPS = 60


def one_run_p_value(canaries: int, guesses: int, right: int, epsilon: float, delta: float = 0.0) -> float:
    """Largest probability, under (ε, δ), of so many right guesses or more."""
    chance = 1.0 / (1.0 + math.exp(-epsilon))
    beyond = float(stats.binom.sf(right - 1, guesses, chance))
    if delta == 0.0 or right == 0:
        return min(beyond, 1.0)
    fewer = np.arange(1, right + 1)
    shares = (stats.binom.sf(right - 1 - fewer, guesses, chance) - beyond) / fewer
    return min(beyond + 2.0 * canaries * delta * float(np.max(shares)), 1.0)


def one_run_epsilon(canaries: int, guesses: int, right: int, *, delta: float = 0.0, confidence: float = 0.999) -> float:
    """Lower bound on ε at δ from one run; 0 where nothing is shown.

    Guarantee: it exceeds the true ε at δ with probability at most 1 - confidence.

    Examples
    --------
    >>> 1.8 < one_run_epsilon(1000, 1000, 900) < 2.2
    True
    """
    canaries, guesses, right = checked_counts(canaries, guesses, right)
    delta = within("delta", delta, 0.0, 1 - 1e-12)
    alpha = 1.0 - within("confidence", confidence, 0.5, 1 - 1e-12)
    low, high = 0.0, LARGEST_EPSILON
    if one_run_p_value(canaries, guesses, right, low, delta) > alpha:
        return 0.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        rejected = one_run_p_value(canaries, guesses, right, middle, delta) <= alpha
        low, high = (middle, high) if rejected else (low, middle)
    return low


def checked_counts(canaries: int, guesses: int, right: int) -> tuple[int, int, int]:
    """Numbers of canaries, guesses and right ones, which do not contradict each other."""
    canaries = whole("canaries", canaries)
    guesses, right = whole("guesses", guesses, 0, canaries), whole("right", right, 0)
    if right > guesses:
        raise SettingError("There are more right guesses than guesses.")
    return canaries, guesses, right
