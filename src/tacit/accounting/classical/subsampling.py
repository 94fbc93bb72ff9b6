r"""Amplification of (epsilon, delta) by subsampling, each under the relation it holds for.

Amplification counts once for each fresh sample. A sample that is used for several releases is one
mechanism: compose the releases first, then amplify.

References
----------
Balle, Barthe and Gaboardi (2018), "Privacy amplification by subsampling: tight analyses via
couplings and divergences", Theorems 8 (Poisson), 9 (without replacement), 10 (with replacement).
Proofs: ``proofs/accounting/classical/subsampling.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy import special

from tacit.accounting.renyi._arguments import ALLOWANCE, count, non_negative, probability
from tacit.errors import SettingError
from tacit.privacy.relation import Relation

# Further multiplicities are charged as if nothing at all were promised for them.
_MOST_COPIES = 64
_LARGEST_EXPONENT = 700.0


@dataclass(frozen=True, slots=True)
class Amplified:
    """An amplified guarantee with the relation it holds for.

    Parameters
    ----------
    epsilon, delta
        The guarantee, rounded up.
    relation
        The relation; the base guarantee must hold for the same one.
    """

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

    Raises
    ------
    SettingError
        If the relation is replace-one.

    Examples
    --------
    >>> round(amplified_by_poisson(1.0, 1e-6, 0.01).epsilon, 6)
    0.017037
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

    Examples
    --------
    >>> round(replaced_by_poisson(1.0, 0.0, 0.1).epsilon, 6)
    0.223863
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

    Examples
    --------
    >>> amplified_without_replacement(1.0, 1e-6, 0.01).relation.value
    'replace-one'
    """
    rate = probability("sampling_rate", sampling_rate)
    return _scaled(epsilon, delta, rate, Relation.REPLACE_ONE)


def amplified_with_replacement(
    epsilon: float, group_delta: Callable[[int, float], float], records: int, draws: int
) -> Amplified:
    r"""Return the guarantee of a mechanism on m draws with replacement from n records, replace-one.

    .. math:: \varepsilon' = \log(1 + \eta(e^{\varepsilon} - 1)), \quad
        \eta = 1 - (1 - 1/n)^m, \qquad
        \delta' = \sum_{k=1}^{m} \binom{m}{k} n^{-k} (1 - 1/n)^{m - k} \delta_k(\varepsilon)

    Guarantee
    ---------
    - For replace-one, given the deltas of groups for replace-one. One pair (epsilon, delta) for
      single records is not enough, which is why the group profile is asked for.
    - Rounded up; multiplicities above 64 are charged with delta 1.

    Parameters
    ----------
    epsilon
        At which the base is read.
    group_delta
        ``group_delta(k, epsilon)``: upper bound of the delta of the base mechanism for k replaced
        records, for example ``lambda k, e: gaussian.delta(e, k * mu)``.
    records, draws
        Public numbers of records n and of draws m.

    Examples
    --------
    >>> from tacit.accounting import gaussian
    >>> result = amplified_with_replacement(1.0, lambda k, e: gaussian.delta(e, 0.2 * k), 1000, 10)
    >>> round(result.epsilon, 5), result.delta < 1e-6
    (0.01696, True)
    """
    epsilon, records = non_negative("epsilon", epsilon), count("records", records)
    draws = count("draws", draws)
    stays = draws * math.log1p(-1.0 / records) if records > 1 else -math.inf
    rate = -math.expm1(stays) * (1.0 + ALLOWANCE)
    terms = []
    for copies in range(1, min(draws, _MOST_COPIES) + 1):
        weight = _binomial(draws, copies, records)
        terms.append(weight * probability("delta", group_delta(copies, epsilon)))
    if draws > _MOST_COPIES:
        # P[k > K] for the binomial, as a regularised incomplete beta function.
        tail = float(special.betainc(_MOST_COPIES + 1.0, draws - _MOST_COPIES, 1.0 / records))
        terms.append(tail * (1.0 + 1e-9) + math.ulp(0.0))
    delta = min(math.fsum(terms) * (1.0 + ALLOWANCE), 1.0)
    return Amplified(_log_mixture(epsilon, min(rate, 1.0)), delta, Relation.REPLACE_ONE)


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


def _binomial(draws: int, copies: int, records: int) -> float:
    """Probability that one record is drawn this often, rounded up."""
    if records == 1:
        return 1.0 if copies == draws else 0.0
    whole = special.gammaln(draws + 1.0)
    parts = special.gammaln(copies + 1.0) + special.gammaln(draws - copies + 1.0)
    rest = (draws - copies) * math.log1p(-1.0 / records)
    logarithm = float(whole - parts) - copies * math.log(records) + rest
    slack = 2.0**-49 * (3.0 * float(whole) + copies * math.log(records) - rest + 1.0)
    return min(math.exp(min(logarithm + slack, 0.0)) + math.ulp(0.0), 1.0)
