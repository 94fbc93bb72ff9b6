"""Calibration: the smallest noise, most steps, largest rate or smallest table within a budget.

Every answer is priced again by the accountant that will price it later, and moved to the safe side until that price is
within the budget. Where loss distributions price a run, coarse grids find the neighbourhood and fine ones end the
search; `make_pair` maps the searched number to pairs with counts. Proof: ``proofs/accounting/calibration.md``.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias, get_args

from tacit.accounting import pld
from tacit.accounting.best_epsilon import best_of_counts
from tacit.accounting.composition import count_events, mu_squared_of, total_mu_squared
from tacit.accounting.dominating_pairs import pairs_of
from tacit.accounting.pld.composition import DEFAULT_TOLERANCE
from tacit.accounting.pld.pairs.pair import Pair
from tacit.accounting.rounding import root_up
from tacit.accounting.training_run import Run
from tacit.errors import AccountingError, BudgetError, SettingError
from tacit.privacy.budget import Budget
from tacit.privacy.event import Event
from tacit.privacy.relation import Relation
from tacit.validate import between, positive

Unknown = Literal["noise", "steps", "sample_rate", "population"]
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
_LEAST_NOISE = 0.01
_ACCURACY = 1e-4


def calibrate(
    budget: Budget,
    *,
    relation: Relation | str,
    find: Unknown = "noise",
    noise: float | Fraction | None = None,
    steps: int = 1,
    sample_rate: float | Fraction | None = None,
    sampling: str = "poisson",
    population: int | None = None,
    sample: int | None = None,
    composed_with: tuple[Event, ...] = (),
) -> Run:
    """Return the run that spends a budget best: one number is found, the others are given.

    Guarantee: the price of the answer is within the budget, never above it. Over the whole table the answer is exact:
    the smallest float of noise, the most steps. Sampled: the price is within 0.2 per cent below the budget, unless an
    end of the range is reached (noise 0.01, rate 1, ten million steps).

    A budget in mu or rho calibrates runs over the whole table only. `find` is ``"noise"`` (smallest), ``"steps"``
    (most), ``"sample_rate"`` (largest) or ``"population"``: the smallest table from which samples of the expected or
    fixed size `sample` may be drawn. The others are as in `Run`: with `composed_with`, what is found leaves their cost.

    Examples
    --------
    >>> run = calibrate(Budget(mu=0.5), relation="add-remove", steps=100)
    >>> run.noise
    Fraction(20, 1)
    """
    if budget.is_infinite:
        raise BudgetError("an infinite budget needs no noise; expected a finite one")
    run = Run(
        noise=1 if noise is None else noise,
        steps=steps,
        relation=Relation.parse(relation),
        sample_rate=sample_rate,
        sampling=sampling,
        population=population,
        composed_with=tuple(composed_with),
    )
    _require_known(find, noise, sample_rate, sample)
    if sample_rate is None and find in ("noise", "steps"):
        return _whole_table(run, budget, find)
    if budget.epsilon is None:
        raise AccountingError("sampled steps have no mu and no rho; expected a budget of epsilon and delta")
    if budget.delta is None:
        raise BudgetError("the budget has no delta; sampled Gaussian steps need one")
    epsilon, delta = budget.epsilon, budget.delta
    if find == "noise":
        return _least_noise(run, budget, epsilon, delta)
    if find == "steps":
        return _most_steps(run, epsilon, delta)
    if find == "sample_rate":
        return _largest_rate(run, epsilon, delta)
    return _smallest_table(run, epsilon, delta, sample or 1)


def _require_known(
    find: str, noise: float | Fraction | None, rate: float | Fraction | None, sample: int | None
) -> None:
    if find not in get_args(Unknown):
        raise SettingError(f"cannot find {str(find)[:40]!r}; expected noise, steps, sample_rate or population")
    if find != "noise" and noise is None:
        raise SettingError(f"noise is missing; finding {find} needs it")
    if find == "noise" and noise is not None:
        raise SettingError("noise is given and sought; leave one of them out")
    if find in ("sample_rate", "population") and rate is not None:
        raise SettingError(f"sample_rate is given where {find} is sought; leave it out")
    if find == "population" and sample is None:
        raise SettingError("sample is missing; the smallest population is one for a sample size")


def _whole_table(run: Run, budget: Budget, find: str) -> Run:
    """Solve a sum of squares exactly."""
    others = total_mu_squared(count_events(run.composed_with, run.relation))
    if others is None:
        raise AccountingError("an event composed with the sums has no mu; expected Gaussian events")
    allowed = mu_squared_of(budget) - others
    if allowed <= 0:
        raise BudgetError("what is composed with the sums costs the whole budget; expected a larger one")
    one = total_mu_squared(count_events([replace(run, noise=1, steps=1).sums])) or Fraction(1)
    if find == "noise":
        return replace(run, noise=Fraction(root_up(one * run.steps / allowed)))
    steps = math.floor(allowed * Fraction(run.noise) ** 2 / one)
    if steps < 1:
        raise BudgetError("one step already costs more than the budget; expected more noise")
    return replace(run, steps=steps)


def _least_noise(run: Run, budget: Budget, epsilon: float, delta: float) -> Run:
    # Without sampling the same noise costs more, so that noise is a safe end of the range.
    whole = _whole_table(replace(run, sample_rate=None), budget, "noise")
    high = max(float(whole.noise) * (1.0 + _ACCURACY), _LEAST_NOISE)
    if run.sampling == "with-replacement":
        high *= max(math.ceil(Fraction(run.sample_rate or 0) * (run.population or 1)), 1)
    found = _search(lambda noise: replace(run, noise=noise), epsilon, delta, _LEAST_NOISE, high, rising=False)
    return _settled(found, epsilon, delta, lambda it, part: replace(it, noise=Fraction(it.noise) * (1 + part)))


def _largest_rate(run: Run, epsilon: float, delta: float) -> Run:
    found = _search(lambda rate: replace(run, sample_rate=rate), epsilon, delta, 1e-9, 1.0, rising=True)

    def safer(it: Run, part: Fraction) -> Run:
        return replace(it, sample_rate=float(it.sample_rate or 0) * float(1 - part))

    return _settled(found, epsilon, delta, safer)


def _smallest_table(run: Run, epsilon: float, delta: float, sample: int) -> Run:
    def at(records: int) -> Run:
        return replace(run, sample_rate=Fraction(sample, records), population=records)

    if run.sampling == "with-replacement":
        # More records cost less; the answer is the least number to one per cent.
        low, high = sample - 1, sample
        while _epsilon(at(high), delta) > epsilon:
            low, high = high, 4 * high
            if high > 10**12:
                raise BudgetError("no table is large enough for the budget; expected more noise")
        while high - low > max(1, low // 100):
            middle = (low + high) // 2
            fits = _epsilon(at(middle), delta) <= epsilon
            low, high = (low, middle) if fits else (middle, high)
        return at(high)
    rate = Fraction(_largest_rate(replace(run, population=None), epsilon, delta).sample_rate or 0)
    start = at(max(math.ceil(sample / rate), sample))
    return _settled(start, epsilon, delta, lambda it, part: at(math.ceil((it.population or 1) * (1 + part))))


def _most_steps(run: Run, epsilon: float, delta: float) -> Run:
    steps = largest_count(lambda steps: _pairs(replace(run, steps=steps)), epsilon, delta, most=10**7)
    if steps == 0 and _epsilon(replace(run, steps=1), delta) > epsilon:
        raise BudgetError("one step already costs more than the budget; expected more noise")

    def safer(it: Run, part: Fraction) -> Run:
        return replace(it, steps=max(math.floor(it.steps * (1 - part)), 1))

    return _settled(replace(run, steps=max(steps, 1)), epsilon, delta, safer)


def _search(at: Callable[[float], Run], epsilon: float, delta: float, low: float, high: float, *, rising: bool) -> Run:
    """Search by loss distributions, and by bisection of the best price where these end."""
    try:
        found = best_within(lambda value: _pairs(at(value)), epsilon, delta, low, high, rising=rising)
        if _epsilon(at(found), delta) >= (1.0 - 2e-3) * epsilon:
            return at(found)
        # The loss distributions end here, not the budget.
        safe, unsafe = (found, high) if rising else (found, low)
    except (BudgetError, pld.GridTooLong, pld.BelowRoundOff):
        safe, unsafe = (low, high) if rising else (high, low)
    if _epsilon(at(safe), delta) > epsilon:
        expected = "a larger budget, more noise or a smaller sample"
        raise BudgetError(f"no value between {low:.3g} and {high:.3g} is within the budget; expected {expected}")
    if _epsilon(at(unsafe), delta) <= epsilon:
        return at(unsafe)
    while abs(math.log(safe / unsafe)) > _ACCURACY:
        middle = math.sqrt(safe * unsafe)
        fits = _epsilon(at(middle), delta) <= epsilon
        safe, unsafe = (middle, unsafe) if fits else (safe, middle)
    return at(safe)


def _settled(run: Run, epsilon: float, delta: float, safer: Callable[[Run, Fraction], Run]) -> Run:
    """Move to the safe side, further each time, until the best price is within the budget."""
    # A relative step to the safe side, where the two ways of pricing differ by less than this.
    part = Fraction(1, 10**4)
    while _epsilon(run, delta) > epsilon:
        moved = safer(run, part)
        if moved == run or part > 1:
            raise BudgetError("no value is within the budget; expected a larger one")
        run, part = moved, 2 * part
    return run


@functools.lru_cache(maxsize=16)
def _epsilon(run: Run, delta: float) -> float:
    return best_of_counts(count_events([run.event], run.relation), run.relation, delta).epsilon


def _pairs(run: Run) -> list[tuple[Pair, int]]:
    found = pairs_of(count_events([run.event], run.relation), run.relation)
    if found is None:
        raise AccountingError("the run has no dominating pair; expected Gaussian steps")
    return found


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
        positive("epsilon", self.epsilon, BudgetError)
        between("delta", self.delta, 0.0, 1.0, BudgetError)
        if not 0.0 < self.low <= self.high < math.inf:
            raise SettingError(f"the range is {self.low!r} to {self.high!r}; expected positive numbers in order")

    def excess(self, value: float, tolerance: float) -> float:
        """Return the logarithm of epsilon over its target; at most 0 is within the budget."""
        try:
            found = pld.compose(self.make_pair(value), tolerance).safe_epsilon(self.delta)
        except (pld.GridTooLong, pld.BelowRoundOff):
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
            limits = f"{self.low!r} and {self.high!r}; expected a wider range or a larger budget"
            raise BudgetError(f"epsilon {self.epsilon!r} at delta {self.delta!r} is out of reach between {limits}")
        return found

    def _walk(self, value: float, tolerance: float, accepted: tuple[float, float]) -> tuple[float, bool]:
        """Take secant steps until the excess is accepted; also say whether it is within budget."""
        safe: float | None = None
        unsafe: float | None = None
        known: tuple[float, float] | None = None
        slope, target = 1.0, 0.5 * (accepted[0] + accepted[1])
        for _ in range(80):
            excess = self.excess(value, tolerance)
            safe, unsafe = (value, unsafe) if excess <= 0.0 else (safe, value)
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
