import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.accounting.classical import composition
from tacit.accounting.classical.optimal import optimal_epsilon
from tacit.errors import BudgetError, SettingError

amounts = st.lists(st.floats(min_value=0.0, max_value=10.0), min_size=1, max_size=20)


def exact_advanced(epsilon: float, times: int, slack: float) -> mpmath.mpf:
    with mpmath.workdps(50):
        e, d = mpmath.mpf(epsilon), mpmath.mpf(slack)
        spread = e * mpmath.sqrt(2 * times * mpmath.log(1 / d))
        return min(times * e * mpmath.expm1(e) / (mpmath.exp(e) + 1) + spread, times * e)


@settings(max_examples=60, deadline=None)
@given(amounts)
def test_t34_basic_composition_is_the_exact_sum_rounded_up(epsilons: list[float]) -> None:
    total, _ = composition.basic(epsilons, [0.0] * len(epsilons))
    exact = sum((Fraction(part) for part in epsilons), start=Fraction(0))
    assert Fraction(total) >= exact
    assert Fraction(math.nextafter(total, -math.inf)) < exact or total == 0.0


@pytest.mark.parametrize(
    ("epsilon", "times", "slack", "expected"),
    [
        # k eps tanh(eps/2) + eps sqrt(2 k log(1/delta')), worked out by hand to four digits.
        (0.1, 100, 1e-6, 5.7561),
        (0.01, 10_000, 1e-6, 5.7565),
        (0.5, 10, 1e-5, 5.0000),
        (0.05, 1000, 1e-9, 11.4289),
    ],
)
def test_t33_advanced_composition_matches_the_table(
    epsilon: float, times: int, slack: float, expected: float
) -> None:
    found, _ = composition.advanced(epsilon, 0.0, times, slack)
    assert found == pytest.approx(expected, abs=6e-5)


def test_t33_advanced_composition_is_above_the_oracle_and_tight() -> None:
    for epsilon, times, slack in itertools.product(
        [1e-6, 0.01, 0.3, 2.0], [1, 10, 10**6], [1e-20, 1e-6, 0.1]
    ):
        found, delta = composition.advanced(epsilon, 1e-12, times, slack)
        truth = exact_advanced(epsilon, times, slack)
        assert truth <= found <= truth * (1 + 1e-12)
        with mpmath.workdps(50):
            exact = 1 - (1 - mpmath.mpf(1e-12)) ** times * (1 - mpmath.mpf(slack))
        assert exact <= delta <= exact * (1 + 1e-9)


def test_equal_parts_agree_with_the_heterogeneous_form() -> None:
    for epsilon, times in itertools.product([0.01, 0.2], [3, 400]):
        one = composition.advanced(epsilon, 1e-9, times, 1e-6)
        many = composition.advanced_heterogeneous([epsilon] * times, [1e-9] * times, 1e-6)
        assert one == pytest.approx(many, rel=1e-9)


def test_no_theorem_promises_more_than_the_optimal_one() -> None:
    for epsilon, times, slack in itertools.product([0.01, 0.1, 1.0], [5, 200], [1e-8, 1e-4]):
        best = optimal_epsilon(epsilon, 0.0, times, slack)
        assert best <= composition.advanced(epsilon, 0.0, times, slack)[0] * (1 + 1e-9)


def test_the_order_of_the_parts_does_not_matter() -> None:
    generator = np.random.default_rng(1)
    epsilons, deltas = generator.uniform(0, 1, 30).tolist(), [1e-8] * 30
    forward = composition.advanced_heterogeneous(epsilons, deltas, 1e-6)
    assert forward == composition.advanced_heterogeneous(epsilons[::-1], deltas, 1e-6)


def test_t34_shares_neither_exceed_nor_strand_the_budget() -> None:
    for epsilon, delta, parts in itertools.product([0.1, 1.0, 8.0], [1e-6, 1e-3], [1, 3, 10, 777]):
        share = composition.even_split(epsilon, delta, parts)
        total = composition.basic([share[0]] * parts, [share[1]] * parts)
        assert total[0] <= epsilon
        assert total[1] <= delta
        assert total[0] >= epsilon * (1 - 1e-9)
        share = composition.advanced_split(epsilon, delta, parts)
        found = composition.advanced(share[0], share[1], parts, 0.5 * delta)
        assert epsilon * (1 - 1e-6) <= found[0] <= epsilon
        assert found[1] <= delta * (1 + 1e-12)
        assert share[0] >= epsilon / parts * (1 - 1e-9)


def test_delta_is_joint_and_never_above_the_sum() -> None:
    epsilon, delta = composition.basic([1.0, 1.0], [0.5, 0.5])
    assert epsilon == 2.0
    assert delta == pytest.approx(0.75)
    assert delta >= 0.75
    assert composition.basic([0.0], [1.0])[1] == 1.0
    assert composition.basic([], []) == (0.0, 0.0)
    assert composition.advanced(0.0, 0.0, 10, 1e-6) == (0.0, 0.0)
    assert composition.basic([math.inf, 1.0], [0.0, 0.0])[0] == math.inf


def test_arguments_outside_their_range_are_refused() -> None:
    with pytest.raises(BudgetError, match="expected"):
        composition.basic([1.0], [])
    for wrong in (0.0, 1.0, math.nan):
        with pytest.raises(BudgetError, match="expected"):
            composition.advanced(1.0, 0.0, 2, wrong)
    with pytest.raises(BudgetError, match="expected"):
        composition.advanced(-1.0, 0.0, 2, 1e-6)
    with pytest.raises(SettingError, match="expected"):
        composition.advanced(1.0, 0.0, 0, 1e-6)
