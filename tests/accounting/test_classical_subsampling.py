import itertools
import math
import warnings
from collections.abc import Sequence

import mpmath
import numpy as np
import pytest

from tacit.accounting import classical
from tacit.accounting.interpretation import group_approximate
from tacit.errors import SettingError
from tacit.privacy.relation import Relation


def hockey_stick(first: Sequence[float], second: Sequence[float], epsilon: float) -> float:
    return sum(max(p - math.exp(epsilon) * q, 0.0) for p, q in zip(first, second, strict=True))


def test_the_formula_is_rounded_up() -> None:
    for epsilon, rate in itertools.product([1e-9, 0.1, 1.0, 50.0, 700.0], [1e-9, 0.01, 0.999]):
        found = classical.amplified_by_poisson(epsilon, 1e-6, rate)
        with mpmath.workdps(50):
            truth = mpmath.log(1 + mpmath.mpf(rate) * mpmath.expm1(mpmath.mpf(epsilon)))
            assert truth <= found.epsilon <= truth * (1 + 1e-11)
            share = mpmath.mpf(rate) * mpmath.mpf(1e-6)
            assert share <= found.delta <= share * (1 + 1e-11)
        fixed = classical.amplified_without_replacement(epsilon, 1e-6, rate)
        assert (fixed.epsilon, fixed.delta) == (found.epsilon, found.delta)


def test_t28_each_sample_has_its_relation() -> None:
    assert classical.amplified_by_poisson(1.0, 0.0, 0.1).relation is Relation.ADD_REMOVE
    zero_out = classical.amplified_by_poisson(1.0, 0.0, 0.1, "zero-out")
    assert zero_out.relation is Relation.ZERO_OUT
    fixed = classical.amplified_without_replacement(1.0, 0.0, 0.1)
    assert fixed.relation is Relation.REPLACE_ONE
    with pytest.raises(SettingError, match="without replacement"):
        classical.amplified_by_poisson(1.0, 0.0, 0.1, Relation.REPLACE_ONE)


def test_ends_of_the_rate() -> None:
    for amplify in (classical.amplified_by_poisson, classical.amplified_without_replacement):
        nothing, all_of_it = amplify(math.inf, 1e-6, 0.0), amplify(1.0, 1e-6, 1.0)
        assert (nothing.epsilon, nothing.delta) == (0.0, 0.0)
        assert (all_of_it.epsilon, all_of_it.delta) == (1.0, 1e-6)


def test_t26_nothing_overflows_or_is_nan() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for epsilon, rate in itertools.product([0.0, 1e-300, 1e5, math.inf], [1e-300, 0.5]):
            found = classical.amplified_by_poisson(epsilon, 1e-20, rate)
            assert 0.0 <= found.epsilon <= epsilon
            assert found.delta > 0.0


@pytest.mark.parametrize("rate", [1e-6, 0.01, 0.5, 1.0 - 1e-12, 1.0])
@pytest.mark.parametrize("epsilon", [1e-8, 0.3, 2.0, 50.0])
def test_replaced_by_poisson_is_the_closed_form_rounded_up(rate: float, epsilon: float) -> None:
    with mpmath.workdps(60):
        q, e = mpmath.mpf(rate), mpmath.mpf(epsilon)
        exact = mpmath.log((1 - q + q * mpmath.exp(e)) / (1 - q + q * mpmath.exp(-e)))
        leak = q * (1 + mpmath.exp(exact - e)) * mpmath.mpf(1e-6)
    found = classical.replaced_by_poisson(epsilon, 1e-6, rate)
    assert exact <= found.epsilon <= exact * (1 + 1e-12)
    assert min(leak, 1) <= found.delta <= leak * (1 + 1e-9)
    assert found.relation is Relation.REPLACE_ONE
    once = classical.amplified_by_poisson(epsilon, 1e-6, rate)
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
    found = classical.replaced_by_poisson(epsilon, base, rate)
    for size in range(6):
        for outputs in itertools.combinations(range(5), size):
            chosen = list(outputs)
            bound = math.exp(found.epsilon) * second[chosen].sum() + found.delta
            assert first[chosen].sum() <= bound * (1 + 1e-12)


def test_replaced_by_poisson_spends_nothing_without_a_sample() -> None:
    found = classical.replaced_by_poisson(1.0, 0.5, 0.0)
    assert (found.epsilon, found.delta) == (0.0, 0.0)


def test_an_amplified_epsilon_below_the_smallest_float_is_not_0() -> None:
    for epsilon, rate in itertools.product([1e-300, 0.02, 0.25], [5e-324, 1.5e-323, 1e-310]):
        with mpmath.workdps(700):
            rise = mpmath.log1p(mpmath.mpf(rate) * mpmath.expm1(mpmath.mpf(epsilon)))
            fall = -mpmath.log1p(mpmath.mpf(rate) * mpmath.expm1(-mpmath.mpf(epsilon)))
            assert rise <= classical.amplified_by_poisson(epsilon, 0.0, rate).epsilon
            assert rise <= classical.amplified_without_replacement(epsilon, 0.0, rate).epsilon
            assert rise + fall <= classical.replaced_by_poisson(epsilon, 0.0, rate).epsilon
