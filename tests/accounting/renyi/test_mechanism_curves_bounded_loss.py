import math
import warnings

import mpmath
import numpy as np
import pytest

from tacit.accounting.renyi import mechanism_curves
from tacit.errors import BudgetError

ORDERS = [1.0, 1.0 + 1e-9, 1.001, 1.5, 2.0, 7.3, 64.0, 1e4, 1e8]
EPSILONS = [1e-9, 1e-4, 0.1, 1.0, 10.0, 700.0]


def exact_pure(order: float, epsilon: float) -> mpmath.mpf:
    with mpmath.workdps(80):
        a, e = mpmath.mpf(order), mpmath.mpf(epsilon)
        if order == 1.0:
            return e * mpmath.tanh(e / 2)
        ratio = (1 + mpmath.exp(-e)) / (1 + mpmath.exp(-(2 * a - 1) * e))
        return e - mpmath.log(ratio) / (a - 1)


def exact_range(order: float, eta: float, top: mpmath.mpf) -> mpmath.mpf:
    """Divergence of the two-point mechanism with losses top and top - eta."""
    a = mpmath.mpf(order)
    high, low = mpmath.exp(top), mpmath.exp(top - eta)
    weight = (1 - low) / (high - low)
    return mpmath.log(weight * high**a + (1 - weight) * low**a) / (a - 1)


@pytest.mark.parametrize("order", ORDERS)
def test_pure_is_above_the_oracle_and_tight(order: float) -> None:
    for epsilon in EPSILONS:
        value, exact = float(mechanism_curves.pure(order, epsilon)), exact_pure(order, epsilon)
        assert exact <= value <= exact * (1 + 1e-12), epsilon


def test_pure_lies_below_its_concentrated_line() -> None:
    orders = np.geomspace(1.0, 1e4, 50)
    for epsilon in EPSILONS:
        line = orders * epsilon * math.tanh(epsilon / 2.0)
        assert np.all(mechanism_curves.pure(orders, epsilon) <= line * (1 + 1e-12))


@pytest.mark.parametrize("order", [1.2, 2.0, 9.0])
@pytest.mark.parametrize("eta", [0.05, 1.0, 6.0])
def test_bounded_range_is_the_largest_two_point_divergence(order: float, eta: float) -> None:
    with mpmath.workdps(30):
        tops = [mpmath.mpf(eta) * i / 100 for i in range(1, 100)]
        largest = max(exact_range(order, eta, top) for top in tops)
    value = float(mechanism_curves.bounded_range(order, eta))
    assert largest <= value
    # The grid misses the maximum by the square of its step.
    assert value <= largest * (1 + 1e-3)
    assert value <= order * eta**2 / 8 * (1 + 1e-12)


def test_bounded_range_near_its_limits() -> None:
    for eta in EPSILONS:
        values = mechanism_curves.bounded_range(np.array(ORDERS), eta)
        assert np.all(values <= np.minimum(np.array(ORDERS) * eta**2 / 8, eta) * (1 + 1e-12))
        assert np.all(np.diff(values) >= -1e-12 * values[1:])
    # The Kullback-Leibler limit log a + eta/(1 - exp(-eta)) - 1 with a = (1 - exp(-eta))/eta.
    for eta in (0.5, 3.0):
        limit = math.log(-math.expm1(-eta) / eta) + eta / -math.expm1(-eta) - 1.0
        value = float(mechanism_curves.bounded_range(1.0 + 1e-6, eta))
        assert limit <= value <= limit * 1.001
        assert limit <= float(mechanism_curves.bounded_range(1.0, eta)) <= limit * 1.001


def test_t23_permute_and_flip_has_no_bounded_range() -> None:
    # Two candidates, scores (0, 0) against (1, -1), sensitivity 1: the exact probabilities.
    for epsilon in (0.1, 0.5, 1.0):
        first = np.array([0.5, 0.5])
        second = np.array([1.0 - 0.5 * math.exp(-epsilon), 0.5 * math.exp(-epsilon)])
        losses = np.log(first / second)
        assert losses.max() - losses.min() > 1.2 * epsilon
        divergence = math.log(float(np.sum(first**1.01 * second**-0.01))) / 0.01
        assert divergence > float(mechanism_curves.bounded_range(1.01, epsilon))
        assert divergence <= float(mechanism_curves.pure(1.01, epsilon))


def test_t26_nothing_overflows_or_is_nan() -> None:
    orders = np.array([1.0, 1.0 + 2.0**-52, 2.0, 1e8, 1e300])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for value in (0.0, 5e-324, 1e-200, 1e-8, 1.0, 1e160, 1.7e308, math.inf):
            for curve in (mechanism_curves.pure, mechanism_curves.bounded_range):
                values = curve(orders, value)
                assert np.all(values >= 0.0)
                assert np.all(values <= value * (1 + 1e-12) + 1e-300)


@pytest.mark.parametrize("wrong", [-1.0, math.nan])
def test_arguments_outside_their_range_are_refused(wrong: float) -> None:
    for curve in (mechanism_curves.pure, mechanism_curves.bounded_range):
        with pytest.raises(BudgetError, match=r"expected|must"):
            curve(2.0, wrong)
