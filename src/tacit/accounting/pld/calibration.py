"""The smallest noise, the largest sampling rate and the most repetitions within a budget.

Every answer is checked by the composition that will price it later. Coarse grids find the
neighbourhood, fine ones end the search. `make_pair` maps the searched number to pairs with counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tacit.accounting.pld.composition import DEFAULT_TOLERANCE, compose
from tacit.accounting.pld.pairs.pair import BelowRoundOff, GridTooLong, Pair
from tacit.errors import BudgetError, SettingError

MakePairs: TypeAlias = Callable[[float], Sequence[tuple[Pair, int]]]

# Relative width of the bracket of epsilon while the neighbourhood is sought.
_COARSE = 0.05
# The search ends when epsilon is below its target by at most this fraction.
_CLOSE = 2e-4
# Logarithms that stand for epsilon of 0 and of infinity.
_FLOOR, _CEILING = -20.0, 20.0
_LONGEST_STEP = 3.0
# Slopes of log epsilon against the logarithm of what is sought are limited to these.
_FLATTEST, _STEEPEST = 0.05, 50.0


def best_within(make_pair: MakePairs, epsilon: float, delta: float, low: float, high: float, *, rising: bool) -> float:
    """Return the smallest noise, or if epsilon is rising the largest rate, within a budget.

    Guarantee: ``compose(make_pair(result)).epsilon(delta)`` has an upper bound of at most epsilon, and of at least
    ``epsilon * (1 - 1e-3)`` unless the result is ``low`` (noise) or ``high`` (rate).
    """
    start = min(max(0.01 if rising else 1.0, low), high)
    return _Search(make_pair, epsilon, delta, low, high, rising).solve(start)


def largest_count(
    make_pair: Callable[[int], Sequence[tuple[Pair, int]]], epsilon: float, delta: float, most: int = 10**7
) -> int:
    """Return the largest number of repetitions, up to `most`, whose composition is within a budget.

    Guarantee: ``compose(make_pair(result)).epsilon(delta)`` has an upper bound of at most epsilon, and for ``result +
    1`` it has not, unless the result is ``most``. 0 if one repetition is too much.
    """
    search = _Search(lambda count: make_pair(max(round(count), 1)), epsilon, delta, 1.0, most, rising=True)
    if search.excess(1.0, DEFAULT_TOLERANCE) > 0.0:
        return 0
    safe, unsafe = 1, most + 1
    trial = min(max(round(search.near(start=100.0)), 1), most)
    width = 1
    while unsafe - safe > 1:
        trial = min(max(trial, safe + 1), unsafe - 1)
        if search.excess(float(trial), DEFAULT_TOLERANCE) <= 0.0:
            safe, trial = trial, trial + width
        else:
            unsafe, trial = trial, trial - width
        width *= 2
        if not safe < trial < unsafe or width > unsafe - safe:
            trial = (safe + unsafe) // 2
    return safe


@dataclass(frozen=True)
class _Search:
    """A search for one number on a logarithmic scale, between `low` and `high`."""

    make_pair: MakePairs
    epsilon: float
    delta: float
    low: float
    high: float
    rising: bool

    def __post_init__(self) -> None:
        if not 0.0 < self.epsilon < math.inf:
            raise BudgetError(f"epsilon is {self.epsilon!r}; expected a finite number above 0")
        if not 0.0 < self.delta < 1.0:
            raise BudgetError(f"delta is {self.delta!r}; expected a number between 0 and 1")
        if not 0.0 < self.low <= self.high < math.inf:
            raise SettingError(f"the range is {self.low!r} to {self.high!r}; expected positive numbers in order")

    def excess(self, value: float, tolerance: float) -> float:
        """Return the logarithm of epsilon over its target; at most 0 is within the budget."""
        try:
            found = compose(self.make_pair(value), tolerance).safe_epsilon(self.delta)
        except (GridTooLong, BelowRoundOff):
            # Not priced here means not within the budget here.
            return _CEILING
        if found == 0.0:
            return _FLOOR
        return min(max(math.log(found / self.epsilon), _FLOOR), _CEILING)

    def near(self, start: float) -> float:
        """Find the neighbourhood on coarse grids."""
        return self._walk(start, _COARSE, (-_COARSE, _COARSE))[0]

    def solve(self, start: float) -> float:
        """Return a value within the budget and close to its limit, or the harmful end."""
        found, within = self._walk(self.near(start), DEFAULT_TOLERANCE, (-_CLOSE, 0.0))
        if not within:
            raise BudgetError(
                f"epsilon {self.epsilon!r} at delta {self.delta!r} is out of reach between "
                f"{self.low!r} and {self.high!r}; expected a wider range or a larger budget"
            )
        return found

    def _walk(self, value: float, tolerance: float, accepted: tuple[float, float]) -> tuple[float, bool]:
        """Take secant steps until the excess is accepted; also say whether it is within budget."""
        safe: float | None = None
        unsafe: float | None = None
        known: tuple[float, float] | None = None
        slope, target = 1.0, 0.5 * (accepted[0] + accepted[1])
        for _ in range(80):
            excess = self.excess(value, tolerance)
            if excess <= 0.0:
                safe = value
            else:
                unsafe = value
            if accepted[0] <= excess <= accepted[1]:
                return value, excess <= 0.0
            point = (math.log(value), excess)
            if known is not None and known[0] != point[0] and abs(excess) < _CEILING:
                slope = abs((excess - known[1]) / (point[0] - known[0]))
                slope = min(max(slope, _FLATTEST), _STEEPEST)
            known = point
            # One step in logarithms, limited to the bracket and to the range.
            step = min(max((excess - target) / slope, -_LONGEST_STEP), _LONGEST_STEP)
            following = value * math.exp(-step if self.rising else step)
            if safe is not None and unsafe is not None:
                inner, outer = min(safe, unsafe), max(safe, unsafe)
                if not inner < following < outer:
                    following = math.sqrt(inner * outer)
            following = min(max(following, self.low), self.high)
            if abs(following / value - 1.0) < 1e-9:
                break
            value = following
        return (value, False) if safe is None else (safe, True)
