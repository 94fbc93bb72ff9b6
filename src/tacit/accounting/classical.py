"""Classical theorems about (epsilon, delta): subsampling, optimal composition, trade-offs.

Proofs: ``proofs/accounting/classical.md``.
"""

import math
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from scipy import special

from tacit.accounting.renyi.curve import log_sum
from tacit.accounting.rounding import ALLOWANCE, bisect, float_up, non_negative, probability
from tacit.errors import BudgetError, SettingError
from tacit.privacy.event import PoissonSampled, SampledWithoutReplacement
from tacit.privacy.relation import Relation
from tacit.validate import whole

_LARGEST_COUNT = 10**7
RatedSample: TypeAlias = PoissonSampled | SampledWithoutReplacement


def classical_gaussian_sigma(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """Return the textbook noise scale of Gaussian noise, Δ/ε √(2 log(1.25/δ)), for ε < 1 only.

    Guarantee: refused for epsilon of 1 and above, where the formula is no theorem. Rounded up, and always above the
    exact scale.

    Examples
    --------
    >>> round(classical_gaussian_sigma(0.5, 1e-5), 4)
    9.6896
    """
    epsilon, delta = float(epsilon), float(delta)
    if not 0.0 < epsilon < 1.0:
        use = "Use the exact curve: tacit.accounting.gaussian.mu(epsilon, delta)"
        raise BudgetError(f"epsilon is {epsilon!r}; the textbook formula holds above 0 and below 1 only. {use}")
    if not 0.0 < delta < 1.0:
        raise BudgetError(f"delta is {delta!r}; expected a number above 0 and below 1")
    scale = non_negative("sensitivity", sensitivity) / epsilon
    return scale * math.sqrt(2.0 * (math.log(1.25) - math.log(delta))) * (1.0 + ALLOWANCE)


def even_split(epsilon: float, delta: float, parts: int) -> tuple[float, float]:
    """Return (epsilon / k, delta / k) for each of k releases: k shares add up to at most epsilon and delta."""
    epsilon, delta = non_negative("epsilon", epsilon), probability("delta", delta)
    parts = whole("parts", parts)
    return epsilon / parts * (1.0 - ALLOWANCE), delta / parts * (1.0 - ALLOWANCE)


@dataclass(frozen=True, slots=True)
class Amplified:
    """An amplified guarantee, rounded up, and the relation for which it holds."""

    epsilon: float
    delta: float
    relation: Relation


def amplified_by_poisson(
    epsilon: float, delta: float, sampling_rate: float, relation: Relation | str = Relation.ADD_REMOVE
) -> Amplified:
    """Return the guarantee of a mechanism on a Poisson sample, (log(1 + q(e^ε - 1)), qδ).

    Guarantee: for add-remove and zero-out, given a base guarantee for the same; replace-one is refused. Rounded up; the
    base guarantee itself at rate 1, nothing spent at rate 0.
    """
    known = Relation.parse(relation)
    if known is Relation.REPLACE_ONE:
        use = "For replace-one sample a fixed number of records without replacement"
        raise SettingError(f"Poisson sampling amplifies for add-remove and zero-out; expected one of them. {use}")
    return _scaled(epsilon, delta, probability("sampling_rate", sampling_rate), known)


def replaced_by_poisson(epsilon: float, delta: float, sampling_rate: float) -> Amplified:
    """Return the guarantee for replace-one on a Poisson sample, (ε*, q (1 + e^(ε* - ε)) δ).

    ε* = log((1 - q + q e^ε) / (1 - q + q e^(-ε))).

    Guarantee: given a base guarantee for **adding or removing one record of the sample**, the least epsilon there is at
    delta 0, and at most the group of two steps of add-remove. Rounded up; twice epsilon at rate 1, nothing spent at
    rate 0.
    """
    epsilon, delta = non_negative("epsilon", epsilon), probability("delta", delta)
    rate = probability("sampling_rate", sampling_rate)
    if rate == 0.0:
        return Amplified(0.0, 0.0, Relation.REPLACE_ONE)
    lost = -rate * math.expm1(-epsilon)
    # Near 1 the loss itself is rounded, but not what is left of it.
    left = (1.0 - rate) + rate * math.exp(-epsilon)
    fall = -math.log1p(-lost) if lost < 0.5 else (-math.log(left) if left > 0.0 else epsilon)
    fall = min(fall * (1.0 + ALLOWANCE) + math.ulp(0.0), epsilon)
    size = (_log_mixture(epsilon, rate) + fall) * (1.0 + ALLOWANCE)
    factor = rate * (1.0 + math.exp(min(size - epsilon, 700.0))) * (1.0 + ALLOWANCE)
    factor *= 1.0 + ALLOWANCE * (size + epsilon)
    small = min(factor * delta + math.ulp(0.0), 1.0) if delta > 0.0 else 0.0
    return Amplified(size, small, Relation.REPLACE_ONE)


def amplified_without_replacement(epsilon: float, delta: float, sampling_rate: float) -> Amplified:
    """Return the guarantee on a fixed number m = qn of records, (log(1 + q(e^ε - 1)), qδ).

    Guarantee: for replace-one, given a base guarantee for replace-one on tables of m records. Rounded up; the base
    guarantee itself at rate 1.
    """
    rate = probability("sampling_rate", sampling_rate)
    return _scaled(epsilon, delta, rate, Relation.REPLACE_ONE)


def amplified(event: RatedSample, relation: Relation | None, epsilon: float, delta: float) -> Amplified:
    """Return the guarantee of a sampled event whose release of the sample has (epsilon, delta)."""
    rate = float_up(event.rate)
    if isinstance(event, SampledWithoutReplacement):
        return amplified_without_replacement(epsilon, delta, rate)
    if relation is Relation.REPLACE_ONE:
        return replaced_by_poisson(epsilon, delta, rate)
    return amplified_by_poisson(epsilon, delta, rate)


def _scaled(epsilon: float, delta: float, rate: float, relation: Relation) -> Amplified:
    epsilon, delta = non_negative("epsilon", epsilon), probability("delta", delta)
    if rate in {0.0, 1.0}:
        return Amplified(rate * epsilon if rate else 0.0, rate * delta, relation)
    small = min(rate * delta * (1.0 + ALLOWANCE) + math.ulp(0.0), 1.0) if delta > 0.0 else 0.0
    return Amplified(_log_mixture(epsilon, rate), small, relation)


def _log_mixture(epsilon: float, rate: float) -> float:
    """log(1 + q (e^epsilon - 1)), rounded up and at most epsilon."""
    if epsilon == 0.0 or rate == 0.0:
        return 0.0
    if epsilon > 30.0:
        value = epsilon + math.log(rate + (1.0 - rate) * math.exp(-epsilon))
        return min(value + ALLOWANCE * (1.0 + epsilon + abs(math.log(rate))), epsilon)
    # The product may be below the smallest float, and counts are not bounded by it.
    rise = math.log1p(rate * math.expm1(epsilon)) * (1.0 + ALLOWANCE)
    return min(rise + math.ulp(0.0), epsilon)


def optimal_delta(epsilon: float, delta: float, times: int, target: float) -> float:
    """Return the delta at epsilon `target` of k mechanisms with (epsilon, delta) each.

    Guarantee: never below the optimal composition; above it by at most a relative 1e-6 for k to 1e6. One mechanism at
    its own epsilon has its own delta. Falls with `target`, grows with k, which is at most 10^7.
    """
    epsilon, delta = non_negative("epsilon", epsilon), probability("delta", delta)
    times, target = _count(times), non_negative("target", target)
    return _total(_response_delta(epsilon, times, target), delta, times)


def optimal_epsilon(epsilon: float, delta: float, times: int, target: float) -> float:
    r"""Return the epsilon at delta `target` of k mechanisms with (epsilon, delta) each.

    Guarantee: ``optimal_delta(e, d, k, optimal_epsilon(e, d, k, target)) <= target``. Never above basic composition, k
    epsilon; infinite where `target` is below :math:`1 - (1 - \delta)^k`.
    """
    epsilon, delta = non_negative("epsilon", epsilon), probability("delta", delta)
    times, target = _count(times), probability("target", target)
    if _total(0.0, delta, times) > target:
        return math.inf
    if math.isinf(epsilon):
        return 0.0 if target >= 1.0 else math.inf
    if optimal_delta(epsilon, delta, times, 0.0) <= target:
        return 0.0

    def fits(trial: float) -> bool:
        return optimal_delta(epsilon, delta, times, trial) <= target

    return bisect(0.0, times * epsilon * (1.0 + ALLOWANCE), fits, 1e-10)[1]


def _response_delta(epsilon: float, times: int, target: float) -> float:
    """The delta of k-fold randomised response without leak, rounded up."""
    if epsilon == 0.0 or math.isinf(target):
        return 0.0
    if math.isinf(epsilon):
        return 1.0
    rate = math.exp(-epsilon) / (1.0 + math.exp(-epsilon))
    centre = times * rate
    # Chernoff: outside this window less than twice exp(-745) of the mass.
    first = max(0, math.floor(centre - 45.0 * math.sqrt(centre) - 1.0))
    last = min(times, math.ceil(centre + 600.0 + 40.0 * math.sqrt(centre)))
    index = np.arange(float(first), float(last) + 1.0)
    losses = (times - 2.0 * index) * epsilon
    # A loss and the target may each be off by a rounding where they nearly cancel.
    gaps = losses - target + 2.0**-51 * (np.abs(losses) + target)
    # Logarithms of the binomial probabilities, rounded up.
    log_factorial = float(special.gammaln(times + 1.0))
    logs = log_factorial - special.gammaln(index + 1.0) - special.gammaln(times - index + 1.0)
    logs = logs - index * epsilon - times * math.log1p(math.exp(-epsilon))
    logs = logs + 2.0**-50 * (3.0 * log_factorial + index * epsilon + times)
    with np.errstate(divide="ignore"):
        logs = logs + np.log(-np.expm1(-np.maximum(gaps, 0.0)))
    value = math.exp(min(log_sum(logs), 0.0))
    return min(value * (1.0 + ALLOWANCE) + 8.0 * math.ulp(0.0), 1.0)


def _total(response: float, delta: float, times: int) -> float:
    """1 - (1 - delta)^k (1 - response), rounded up."""
    if max(response, delta) >= 1.0:
        return 1.0
    if delta == 0.0:
        return response
    logarithm = times * math.log1p(-delta) + math.log1p(-response)
    most = (times * delta + response) * (1.0 + ALLOWANCE)
    return min(-math.expm1(logarithm) * (1.0 + ALLOWANCE) + math.ulp(0.0), most, 1.0)


def _count(times: int) -> int:
    number = whole("times", times)
    if number > _LARGEST_COUNT:
        raise SettingError(f"times is {number}; expected at most {_LARGEST_COUNT}. Compose by mu or rho instead")
    return number


class TradeOff(Protocol):
    """A lower bound of the misses at each rate of false alarms."""

    def misses_at(self, false_alarm: float) -> float:
        """Return the least rate of misses, rounded down."""


@dataclass(frozen=True, slots=True)
class Approximate:
    """The trade-off max(0, 1 - δ - e^ε α, e^(-ε) (1 - δ - α)), rounded down; its own inverse: both orders hold."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        non_negative("epsilon", self.epsilon)
        probability("delta", self.delta)

    def misses_at(self, false_alarm: float) -> float:
        """Return the least rate of misses, rounded down."""
        alarm = probability("false_alarm", false_alarm)
        rest = 1.0 - self.delta
        steep = rest - math.exp(self.epsilon) * alarm if self.epsilon < 700.0 else 0.0
        if alarm == 0.0:
            steep = rest
        flat = math.exp(-self.epsilon) * (rest - alarm)
        # Absolute slack: both are differences of numbers of at most 1 where they matter.
        return max(max(steep, flat) - ALLOWANCE, 0.0)


@dataclass(frozen=True, slots=True)
class Gaussian:
    """The trade-off of mu-GDP, Φ(Φ⁻¹(1 - α) - μ), rounded down: its own inverse, decreasing and convex."""

    mu: float

    def __post_init__(self) -> None:
        non_negative("mu", self.mu)

    def misses_at(self, false_alarm: float) -> float:
        """Return the least rate of misses, rounded down."""
        alarm = probability("false_alarm", false_alarm)
        if math.isinf(self.mu) or alarm >= 1.0:
            return 0.0
        if alarm == 0.0:
            return 1.0
        point = -float(special.ndtri(alarm)) - self.mu
        # The quantile and the difference err by a few units of their size.
        safe = point - 2.0**-44 * (1.0 + abs(point) + self.mu)
        return max(float(special.ndtr(safe)) * (1.0 - ALLOWANCE) - ALLOWANCE, 0.0)


@dataclass(frozen=True, slots=True)
class Profile:
    """The trade-off of several pairs (epsilon, delta) that hold for one release: the best of them.

    Guarantee: at least the trade-off of each pair; equal to that of a single pair. Symmetric, because every pair holds
    in both orders of the two tables.
    """

    pairs: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        pairs = tuple((float(epsilon), float(delta)) for epsilon, delta in self.pairs)
        if not pairs:
            raise BudgetError("a profile has no pairs; expected at least one (epsilon, delta)")
        for pair in pairs:
            Approximate(*pair)
        object.__setattr__(self, "pairs", pairs)

    def misses_at(self, false_alarm: float) -> float:
        """Return the least rate of misses, rounded down."""
        return max(Approximate(*pair).misses_at(false_alarm) for pair in self.pairs)


def power_at(false_alarm: float, guarantee: TradeOff) -> float:
    """Return the most an attacker detects, rounded up: at least the false alarms, at most 1, and rising with them."""
    alarm = probability("false_alarm", false_alarm)
    power = 1.0 - guarantee.misses_at(alarm)
    return min(max(power * (1.0 + 2.0**-52), alarm), 1.0)
