"""Lower bounds on the privacy loss from the scores of an attack in two worlds.

An attack gives each run a score and guesses the second world where the score is above a threshold. Under a μ-GDP
guarantee the rates of false alarms and of misses obey

    FPR + FNR ≥ 2 Φ(-μ/2),

and under (ε, δ) every event A has P₁(A) ≤ e^ε P₀(A) + δ, in both orders. Clopper-Pearson bounds on the rates turn that
round. Thresholds are fixed beforehand, or chosen by pilot runs that are not counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from tacit.accounting.interpretation import group_approximate

Floats = NDArray[np.float64]

GRID = 201
HALVINGS = 60
"""Steps of the search for the ε of a group."""
PILOT_ALPHA = 0.05
"""Level of the margins with which an event is chosen."""
CANDIDATES = 64
"""Quantiles of the pilot runs that are tried as thresholds of an event."""
SAFE = 1.0 - 1e-9
"""Factor on every bound: scipy's quantiles have relative errors of about 1e-12."""
TRIMMED = 0.1
"""Share of the scores that is left out at either end where their centre is estimated."""
ALIKE = 1.5
"""Spreads that differ by less than this factor are taken as equal: the best threshold is then halfway."""
QUARTILES = 1.349
"""Distance of the quartiles of a standard Gaussian."""


@dataclass(frozen=True)
class Scores:
    """Scores of an attack in the first and in the second world; of equally many runs."""

    first: Floats
    second: Floats

    def split(self, pilot: int) -> tuple[Scores, Scores]:
        """Return the first runs and the others."""
        return Scores(self.first[:pilot], self.second[:pilot]), Scores(self.first[pilot:], self.second[pilot:])

    def roc(self) -> tuple[Floats, Floats]:
        """Rates of false alarms and of detections, for thresholds from high to low, ends included."""
        cuts = np.concatenate([[np.inf], np.unique(np.concatenate([self.first, self.second]))[::-1], [-np.inf]])
        rates = [1.0 - np.searchsorted(np.sort(it), cuts, side="right") / len(it) for it in (self.first, self.second)]
        return rates[0], rates[1]


def upper_rate(events: float, runs: int, alpha: float) -> float:
    """One-sided Clopper-Pearson upper bound on a probability; wrong with probability at most alpha."""
    return 1.0 if events >= runs else float(stats.beta.ppf(1.0 - alpha, events + 1.0, runs - events))


def lower_rate(events: float, runs: int, alpha: float) -> float:
    """One-sided Clopper-Pearson lower bound on a probability; wrong with probability at most alpha."""
    return 0.0 if events <= 0 else float(stats.beta.ppf(alpha, events, runs - events + 1.0))


def mu_lower(counted: Scores, threshold: float, alpha: float) -> float:
    """Lower bound on μ from the number of wrong guesses in both worlds together.

    With N runs a world, rates p and q, and E wrong guesses, E has the law of N Bernoulli(p) and N Bernoulli(q). Among
    all laws of 2N Bernoulli variables with this mean, P(E ≤ e) is largest for equal rates where e is at least 1 below
    the mean (Hoeffding 1956, theorem 4). So one Clopper-Pearson bound r on E out of 2N holds for (p + q) / 2, and
    μ ≥ -2 Φ⁻¹(r). That is tighter than a bound for each rate. With alpha < 1/4 the condition on e is always met.

    Guarantee: for every pair of worlds with a μ-GDP guarantee, and a threshold that was fixed before the counted runs,
    the bound exceeds μ with probability at most alpha.
    """
    wrong = int(np.sum(counted.first > threshold) + np.sum(counted.second <= threshold))
    rate = upper_rate(wrong, 2 * len(counted.first), alpha)
    return max(0.0, -2.0 * float(special.ndtri(rate))) * SAFE


def epsilon_shown(likely: float, rare: float, delta: float, group: int = 1) -> float:
    """The least ε at δ that allows two rates of an event: log((P₁ - δ) / P₀), or -inf where all do.

    Where the worlds differ in a `group` of k records, it is the least ε with P₁ ≤ e^(kε) P₀ + δ (e^(kε) - 1)/(e^ε - 1).
    """
    if likely - delta <= 0.0:
        return -math.inf
    if group == 1:
        return math.log((likely - delta) / rare)
    low, high = 0.0, math.log((likely - delta) / rare) / group
    for _ in range(HALVINGS if high > 0.0 else 0):
        middle = (low + high) / 2
        total, leak = group_approximate(middle, delta, group)
        low, high = (middle, high) if likely > math.exp(total) * rare + leak else (low, middle)
    return min(low, high)


def epsilon_lower(pilot: Scores, counted: Scores, delta: float, alpha: float, group: int = 1) -> float:
    """Lower bound on ε at δ, log((P₁(A) - δ) / P₀(A)) for the best event A of the pilot runs.

    A is a half-line of scores; both half-lines and both orders of the worlds are tried. The worlds differ in a `group`
    of so many records, and the bound is for one of them.

    Guarantee: for every pair of worlds with an (ε, δ) guarantee the bound exceeds ε with probability at most alpha.
    """
    runs, pilots = len(counted.first), len(pilot.first)
    levels = np.linspace(0.0, 1.0, CANDIDATES)
    cuts = np.unique(np.quantile(np.concatenate([pilot.first, pilot.second]), levels))

    def value(likely: float, rare: float) -> float:
        return epsilon_shown(lower_rate(likely, runs, alpha / 2), upper_rate(rare, runs, alpha / 2), delta, group)

    best, chosen = -math.inf, (0.0, False, False)
    for cut in cuts:
        for above in (True, False):
            for swapped in (True, False):
                likely, rare = _hits(pilot, float(cut), above=above, swapped=swapped)
                # With a margin: the best of many events looks better in the pilot runs than it is.
                found = value(
                    runs * lower_rate(likely, pilots, PILOT_ALPHA), runs * upper_rate(rare, pilots, PILOT_ALPHA)
                )
                if found > best:
                    best, chosen = found, (float(cut), above, swapped)
    cut, above, swapped = chosen
    return max(0.0, value(*_hits(counted, cut, above=above, swapped=swapped))) * SAFE


def best_cut(pilot: Scores) -> float:
    """The threshold with the fewest wrong guesses, for Gaussians with the centres and quartiles of the pilot runs."""
    low, high = (float(stats.trim_mean(it, TRIMMED)) for it in (pilot.first, pilot.second))
    spreads = [float(np.subtract(*np.quantile(it, [0.75, 0.25]))) for it in (pilot.first, pilot.second)]
    if high <= low or max(spreads) <= ALIKE * min(spreads):
        return (low + high) / 2
    cuts = np.linspace(low, high, GRID)
    scales = np.maximum(np.array(spreads) / QUARTILES, (high - low) / GRID)
    wrong = special.ndtr((low - cuts) / scales[0]) + special.ndtr((cuts - high) / scales[1])
    return float(cuts[int(np.argmin(wrong))])


def _hits(scores: Scores, cut: float, *, above: bool, swapped: bool) -> tuple[int, int]:
    """How often the event happens in the world where it is to be likely, and in the other."""
    first, second = (int(np.sum((it > cut) == above)) for it in (scores.first, scores.second))
    return (first, second) if swapped else (second, first)
