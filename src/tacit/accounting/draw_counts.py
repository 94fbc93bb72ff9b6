r"""How often one record is among draws with replacement, certified on both sides.

.. math:: w_k = \binom{m}{k} n^{-k} (1 - 1/n)^{m - k}

Numbers of copies whose weights vanish are not listed: their total weight is `tail`, which goes to
delta. Where too many are left, neighbouring numbers are read as the largest of them, which is
safe because more copies dominate fewer. Proof: ``proofs/accounting/draw_counts.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.accounting.arguments import Floats

# Weight of all numbers that are not listed: no delta in use comes near it.
_NEGLIGIBLE = 1e-40
# So many different numbers are listed one by one.
_MOST_NUMBERS = 400
# Beyond this many the largest stands for all: it is then within 1.5% of the mean.
_MOST_LISTED = 10**6
_SLACK = 2.0**-46
# Relative distance of the lower bound of the weight of no copy from that weight, at most.
NONE_WIDTH = 2.0**-38


@dataclass(frozen=True)
class Copies:
    """The distribution of the number of copies of one record, numbers of at least 1 listed.

    Guarantee
    ---------
    - Every number is listed as itself or as a larger one, but for a total weight of `tail`.
    - `upper` and `lower` are on the two sides of the exact weights of what is listed.

    Parameters
    ----------
    none, drawn
        Lower bound of the probability of no copy, upper bound of that of at least one.
    tail
        Upper bound of the probability of everything that is not listed.
    """

    numbers: Floats
    upper: Floats
    lower: Floats
    none: float
    drawn: float
    tail: float


def copies(draws: int, population: int) -> Copies:
    """Return the distribution of the number of copies of one record.

    Guarantee
    ---------
    - The time does not grow with the number of draws.
    """
    if draws == 0:
        return Copies(np.empty(0), np.empty(0), np.empty(0), 1.0, 0.0, 0.0)
    if population == 1:
        one = np.ones(1)
        return Copies(float(draws) * (1.0 + _SLACK) * one, one, one, 0.0, 1.0, 0.0)
    exponent = draws * math.log1p(-1.0 / population)
    none = math.exp(exponent * (1.0 + 2.0**-50)) * (1.0 - _SLACK)
    drawn = min(-math.expm1(exponent) * (1.0 + _SLACK), 1.0)
    last, tail = _last(draws, population)
    if last > _MOST_LISTED:
        return Copies(np.array([float(last)]), np.ones(1), np.zeros(1), none, drawn, tail)
    before = np.arange(0.0, float(last))
    steps = np.log((draws - before) / ((before + 1.0) * (population - 1.0)))
    logs = exponent + np.cumsum(steps)
    largest = np.maximum.accumulate(np.abs(logs) + np.abs(steps)) + abs(exponent) + 2.0
    slack = 2.0**-50 * (before + 4.0) * largest
    upper = np.exp(np.minimum(logs + slack, 0.0))
    lower = np.exp(logs - slack)
    above = np.cumsum(upper[::-1])[::-1] * (1.0 + _SLACK)
    listed = above > _NEGLIGIBLE
    listed[0] = True
    tail += float(above[~listed].max(initial=0.0))
    numbers, upper, lower = before[listed] + 1.0, upper[listed], lower[listed]
    return Copies(*_merged(numbers, upper, lower), none, drawn, tail)


def _last(draws: int, population: int) -> tuple[int, float]:
    """A number and, by Bernstein's inequality, the most probability to exceed it."""
    mean, level = draws / population, -math.log(_NEGLIGIBLE)
    excess = level / 3.0 + math.sqrt(level * level / 9.0 + 2.0 * level * mean)
    last = math.ceil((mean + excess) * (1.0 + _SLACK)) + 1
    return (draws, 0.0) if draws <= last else (last, _NEGLIGIBLE)


def _merged(numbers: Floats, upper: Floats, lower: Floats) -> tuple[Floats, Floats, Floats]:
    """Read numbers as the next larger one of at most `_MOST_NUMBERS`."""
    if numbers.size <= _MOST_NUMBERS:
        return numbers, upper, lower
    # Smaller numbers than the first cell are so rare that reading them as its end costs nothing.
    first = numbers[np.searchsorted(np.cumsum(upper), 1e-20)]
    edges = np.unique(np.ceil(np.linspace(first, numbers[-1], _MOST_NUMBERS)))
    cells = np.searchsorted(edges, numbers)
    size = edges.size
    above: Floats = np.minimum(np.bincount(cells, upper, size) * (1.0 + _SLACK), 1.0)
    below: Floats = np.asarray(np.bincount(cells, lower, size) * (1.0 - _SLACK), dtype=np.float64)
    return edges, above, below
