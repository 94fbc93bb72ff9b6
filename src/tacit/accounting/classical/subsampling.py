r"""Amplification of (epsilon, delta) by subsampling, each under the relation it holds for.

Amplification counts once for each fresh sample. A sample that is used for several releases is one
mechanism: compose the releases first, then amplify.

References: Balle, Barthe and Gaboardi (2018), Theorems 8 (Poisson) and 9 (without replacement).
Proofs: ``proofs/accounting/classical/subsampling.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tacit.accounting.arguments import non_negative, probability
from tacit.accounting.rounding import ALLOWANCE, float_up
from tacit.errors import SettingError
from tacit.privacy.event import PoissonSampled, SampledWithoutReplacement
from tacit.privacy.relation import Relation

_LARGEST_EXPONENT = 700.0


@dataclass(frozen=True, slots=True)
class Amplified:
    """An amplified guarantee, rounded up, and the relation for which it holds."""

    epsilon: float
    delta: float
    relation: Relation


def amplified_by_poisson(
    epsilon: float,
    delta: float,
    sampling_rate: float,
    relation: Relation | str = Relation.ADD_REMOVE,
) -> Amplified:
    r"""Return the guarantee of a mechanism on a Poisson sample.

    .. math:: (\log(1 + q(e^{\varepsilon} - 1)),\ q\delta)

    Guarantee
    ---------
    - For add-remove and zero-out, given a base guarantee for the same relation; replace-one is
      refused.
    - Rounded up; the base guarantee itself at rate 1, nothing spent at rate 0.
    """
    known = Relation.parse(relation)
    if known is Relation.REPLACE_ONE:
        raise SettingError(
            "Poisson sampling amplifies for add-remove and zero-out; expected one of them. "
            "For replace-one sample a fixed number of records without replacement"
        )
    return _scaled(epsilon, delta, probability("sampling_rate", sampling_rate), known)


def replaced_by_poisson(epsilon: float, delta: float, sampling_rate: float) -> Amplified:
    r"""Return the guarantee for replace-one of a mechanism on a Poisson sample.

    .. math:: \Bigl(\varepsilon^* =
        \log\frac{1 - q + q e^{\varepsilon}}{1 - q + q e^{-\varepsilon}},\
        q\,(1 + e^{\varepsilon^* - \varepsilon})\,\delta\Bigr)

    Guarantee
    ---------
    - For replace-one, given a base guarantee for **adding or removing one record of the sample**.
    - The least epsilon there is at delta 0; at most the group of two steps of add-remove.
    - Rounded up; twice epsilon at rate 1, nothing spent at rate 0.
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
    factor = rate * (1.0 + math.exp(min(size - epsilon, _LARGEST_EXPONENT))) * (1.0 + ALLOWANCE)
    factor *= 1.0 + ALLOWANCE * (size + epsilon)
    small = min(factor * delta + math.ulp(0.0), 1.0) if delta > 0.0 else 0.0
    return Amplified(size, small, Relation.REPLACE_ONE)


def amplified_without_replacement(epsilon: float, delta: float, sampling_rate: float) -> Amplified:
    r"""Return the guarantee of a mechanism on a fixed number m = qn of records, replace-one.

    .. math:: (\log(1 + q(e^{\varepsilon} - 1)),\ q\delta)

    Guarantee
    ---------
    - For replace-one, given a base guarantee for replace-one on tables of m records.
    - Rounded up; the base guarantee itself at rate 1.
    """
    rate = probability("sampling_rate", sampling_rate)
    return _scaled(epsilon, delta, rate, Relation.REPLACE_ONE)


def amplified(
    event: PoissonSampled | SampledWithoutReplacement,
    relation: Relation | None,
    epsilon: float,
    delta: float,
) -> Amplified:
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
