import itertools
import math
import warnings
from collections.abc import Sequence

import mpmath
import numpy as np
import pytest

from tacit.accounting import gaussian
from tacit.accounting.classical import group_approximate, subsampling
from tacit.errors import SettingError
from tacit.privacy.relation import Relation


def hockey_stick(first: Sequence[float], second: Sequence[float], epsilon: float) -> float:
    return sum(max(p - math.exp(epsilon) * q, 0.0) for p, q in zip(first, second, strict=True))


def test_the_formula_is_rounded_up() -> None:
    for epsilon, rate in itertools.product([1e-9, 0.1, 1.0, 50.0, 700.0], [1e-9, 0.01, 0.999]):
        found = subsampling.amplified_by_poisson(epsilon, 1e-6, rate)
        with mpmath.workdps(50):
            truth = mpmath.log(1 + mpmath.mpf(rate) * mpmath.expm1(mpmath.mpf(epsilon)))
            assert truth <= found.epsilon <= truth * (1 + 1e-11)
            share = mpmath.mpf(rate) * mpmath.mpf(1e-6)
            assert share <= found.delta <= share * (1 + 1e-11)
        fixed = subsampling.amplified_without_replacement(epsilon, 1e-6, rate)
        assert (fixed.epsilon, fixed.delta) == (found.epsilon, found.delta)


def test_t28_each_sample_has_its_relation() -> None:
    assert subsampling.amplified_by_poisson(1.0, 0.0, 0.1).relation is Relation.ADD_REMOVE
    zero_out = subsampling.amplified_by_poisson(1.0, 0.0, 0.1, "zero-out")
    assert zero_out.relation is Relation.ZERO_OUT
    fixed = subsampling.amplified_without_replacement(1.0, 0.0, 0.1)
    assert fixed.relation is Relation.REPLACE_ONE
    with pytest.raises(SettingError, match="without replacement"):
        subsampling.amplified_by_poisson(1.0, 0.0, 0.1, Relation.REPLACE_ONE)


def test_ends_of_the_rate() -> None:
    for amplify in (subsampling.amplified_by_poisson, subsampling.amplified_without_replacement):
        nothing, all_of_it = amplify(math.inf, 1e-6, 0.0), amplify(1.0, 1e-6, 1.0)
        assert (nothing.epsilon, nothing.delta) == (0.0, 0.0)
        assert (all_of_it.epsilon, all_of_it.delta) == (1.0, 1e-6)


def test_with_replacement_is_the_formula_rounded_up() -> None:
    for mu, records, draws in itertools.product([0.1, 0.5], [2, 40, 1000], [1, 5, 30]):

        def groups(copies: int, epsilon: float, mu: float = mu) -> float:
            return gaussian.delta(epsilon, copies * mu)

        found = subsampling.amplified_with_replacement(1.0, groups, records, draws)
        with mpmath.workdps(40):
            n = mpmath.mpf(records)
            rate = 1 - (1 - 1 / n) ** draws
            epsilon = mpmath.log(1 + rate * mpmath.expm1(1))
            delta = mpmath.fsum(
                mpmath.binomial(draws, k) * n**-k * (1 - 1 / n) ** (draws - k)
                * mpmath.mpf(gaussian.delta(1.0, k * mu))
                for k in range(1, draws + 1)
            )  # fmt: skip
        assert epsilon <= found.epsilon <= epsilon * (1 + 1e-11)
        assert delta <= found.delta <= delta * (1 + 1e-9)
        assert found.relation is Relation.REPLACE_ONE


def test_with_replacement_holds_for_an_exact_mechanism() -> None:
    # m draws from n bits, each answered by its own randomised response: the count is released.
    for strength, records, draws in itertools.product([0.3, 1.0], [2, 4], [2, 3]):
        truth = math.exp(strength) / (1.0 + math.exp(strength))

        def law(
            ones: int, records: int = records, draws: int = draws, p: float = truth
        ) -> list[float]:
            share = ones / records
            heads = share * p + (1.0 - share) * (1.0 - p)
            return [
                math.comb(draws, j) * heads**j * (1 - heads) ** (draws - j)
                for j in range(draws + 1)
            ]

        def groups(copies: int, epsilon: float, strength: float = strength) -> float:
            # k independent responses are (k strength)-private: nothing better is assumed.
            return 0.0 if epsilon >= copies * strength else 1.0

        for epsilon in (strength, draws * strength):
            found = subsampling.amplified_with_replacement(epsilon, groups, records, draws)
            for ones in range(records):
                one, other = law(ones), law(ones + 1)
                assert hockey_stick(one, other, found.epsilon) <= found.delta + 1e-12
                assert hockey_stick(other, one, found.epsilon) <= found.delta + 1e-12


def test_many_draws_charge_the_tail() -> None:
    found = subsampling.amplified_with_replacement(1.0, lambda k, e: 0.0, 1000, 50_000)
    # P[Binomial(50000, 1/1000) > 64] is about 0.024.
    assert 0.02 < found.delta < 0.03


def test_t26_nothing_overflows_or_is_nan() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for epsilon, rate in itertools.product([0.0, 1e-300, 1e5, math.inf], [1e-300, 0.5]):
            found = subsampling.amplified_by_poisson(epsilon, 1e-20, rate)
            assert 0.0 <= found.epsilon <= epsilon
            assert found.delta > 0.0
        for records, draws in [(1, 1), (1, 10**6), (10**9, 10**6)]:
            found = subsampling.amplified_with_replacement(1.0, lambda k, e: 1e-9, records, draws)
            assert 0.0 <= found.epsilon <= 1.0
            assert 0.0 <= found.delta <= 1.0


@pytest.mark.parametrize("rate", [1e-6, 0.01, 0.5, 1.0 - 1e-12, 1.0])
@pytest.mark.parametrize("epsilon", [1e-8, 0.3, 2.0, 50.0])
def test_replaced_by_poisson_is_the_closed_form_rounded_up(rate: float, epsilon: float) -> None:
    with mpmath.workdps(60):
        q, e = mpmath.mpf(rate), mpmath.mpf(epsilon)
        exact = mpmath.log((1 - q + q * mpmath.exp(e)) / (1 - q + q * mpmath.exp(-e)))
        leak = q * (1 + mpmath.exp(exact - e)) * mpmath.mpf(1e-6)
    found = subsampling.replaced_by_poisson(epsilon, 1e-6, rate)
    assert exact <= found.epsilon <= exact * (1 + 1e-12)
    assert min(leak, 1) <= found.delta <= leak * (1 + 1e-9)
    assert found.relation is Relation.REPLACE_ONE
    once = subsampling.amplified_by_poisson(epsilon, 1e-6, rate)
    twice = group_approximate(once.epsilon, once.delta, 2)
    assert found.epsilon <= twice[0] * (1 + 1e-12)
    assert found.delta <= twice[1] * (1 + 1e-12)


@pytest.mark.parametrize("leak", [0.0, 0.05])
@pytest.mark.parametrize("rate", [0.1, 0.7])
def test_replaced_by_poisson_holds_on_all_sets_of_leaky_responses(rate: float, leak: float) -> None:
    """Outputs: three of the response, and one for each record that only it can cause."""
    epsilon, end = 1.0, 1.0 / (1.0 + math.e)
    high, low = math.exp(epsilon), math.exp(-epsilon)
    absent = np.array([end, 1 - 2 * end, end, 0.0, 0.0])
    old = (1 - leak) * absent * np.array([high, low, low, 0.0, 0.0]) + leak * np.eye(5)[3]
    new = (1 - leak) * absent * np.array([low, low, high, 0.0, 0.0]) + leak * np.eye(5)[4]
    first, second = (1 - rate) * absent + rate * old, (1 - rate) * absent + rate * new
    # What the absence of the old record reveals counts in the base guarantee too.
    directions = [pair for law in (old, new) for pair in ((law, absent), (absent, law))]
    base = max(hockey_stick(p.tolist(), q.tolist(), epsilon) for p, q in directions)
    found = subsampling.replaced_by_poisson(epsilon, base, rate)
    for size in range(6):
        for outputs in itertools.combinations(range(5), size):
            chosen = list(outputs)
            bound = math.exp(found.epsilon) * second[chosen].sum() + found.delta
            assert first[chosen].sum() <= bound * (1 + 1e-12)


def test_replaced_by_poisson_spends_nothing_without_a_sample() -> None:
    found = subsampling.replaced_by_poisson(1.0, 0.5, 0.0)
    assert (found.epsilon, found.delta) == (0.0, 0.0)


def test_an_amplified_epsilon_below_the_smallest_float_is_not_0() -> None:
    for epsilon, rate in itertools.product([1e-300, 0.02, 0.25], [5e-324, 1.5e-323, 1e-310]):
        with mpmath.workdps(700):
            rise = mpmath.log1p(mpmath.mpf(rate) * mpmath.expm1(mpmath.mpf(epsilon)))
            fall = -mpmath.log1p(mpmath.mpf(rate) * mpmath.expm1(-mpmath.mpf(epsilon)))
            assert rise <= subsampling.amplified_by_poisson(epsilon, 0.0, rate).epsilon
            assert rise <= subsampling.amplified_without_replacement(epsilon, 0.0, rate).epsilon
            assert rise + fall <= subsampling.replaced_by_poisson(epsilon, 0.0, rate).epsilon
