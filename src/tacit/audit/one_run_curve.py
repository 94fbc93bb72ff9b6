"""A test of a whole trade-off curve by one run with many canaries, each in the table by a fair coin.

Of m coins an auditor guesses r from the release, and v guesses are right. Let p_i be the probability of exactly i right
ones, and f the trade-off curve of the claim, which bounds both directions. Compare, for a random canary, "guessed
right, and j or more are right" with the same where this coin is flipped, "guessed wrong, and j - 1 or more are right":

    Σ_{i ≥ j-1} (r - i)/m · p_i  ≥  f(1 - Σ_{i ≥ j} i/m · p_i).

From P[v or more] = alpha the inequalities for j = v, v - 1, …, 1 bound the p_i from below, one after the other. Where
they add up to more than 1, that probability is impossible: it is below alpha, and so many right guesses refute f at
confidence 1 - alpha (Mahloujifar, Melis and Chaudhuri, ICML 2025).
"""

from __future__ import annotations

from tacit.accounting.classical import Gaussian, TradeOff
from tacit.audit.one_run import checked_counts
from tacit.validate import within

LARGEST_MU = 64.0
STEPS = 48


def one_run_refutes(curve: TradeOff, canaries: int, guesses: int, right: int, *, confidence: float = 0.95) -> bool:
    """Whether so many right guesses, or more, have a probability of less than 1 - confidence under a trade-off curve.

    Guarantee: a true curve is refuted with probability at most 1 - confidence, for guesses that are any function of the
    release, if their number was fixed before.
    """
    canaries, guesses, right = checked_counts(canaries, guesses, right)
    alpha = 1.0 - within("confidence", confidence, 0.5, 1 - 1e-12)
    whole = guesses / canaries
    caught, spared = alpha * right / canaries, alpha * (guesses - right) / canaries
    for number in range(right - 1, -1, -1):
        least = curve.misses_at(1.0 - caught)
        if least > spared:
            caught += number / (guesses - number) * (least - spared)
            spared = least
        if caught + spared > whole:
            return True
    return False


def one_run_mu(canaries: int, guesses: int, right: int, *, confidence: float = 0.95) -> float:
    """Lower bound on μ from one run of what is Gaussian; 0 where nothing is shown.

    Guarantee: it exceeds the true μ with probability at most 1 - confidence.

    Examples
    --------
    >>> 1.0 < one_run_mu(5000, 500, 490) < 1.3
    True
    """
    low, high = 0.0, LARGEST_MU
    if not one_run_refutes(Gaussian(low), canaries, guesses, right, confidence=confidence):
        return 0.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        refuted = one_run_refutes(Gaussian(middle), canaries, guesses, right, confidence=confidence)
        low, high = (middle, high) if refuted else (low, middle)
    return low
