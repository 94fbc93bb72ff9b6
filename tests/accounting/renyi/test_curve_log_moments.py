import math

import mpmath
import numpy as np
import pytest

from tacit.accounting.renyi.curve import interpolated, log_expm1, log_moments_at, log_one_plus, log_sum
from tacit.accounting.renyi.mechanism_curves import gaussian


@pytest.mark.parametrize("exponent", [1e-300, 1e-8, 0.3, 0.999, 1.0, 40.0, 1e4])
def test_logarithms_of_small_and_large_numbers_keep_their_digits(exponent: float) -> None:
    with mpmath.workdps(400):
        exact = mpmath.log(mpmath.expm1(mpmath.mpf(exponent)))
        above = mpmath.log(1 + mpmath.exp(mpmath.mpf(exponent)))
        below = mpmath.log(1 + mpmath.exp(-mpmath.mpf(exponent)))
    assert float(log_expm1(np.asarray(exponent))) == pytest.approx(float(exact), rel=1e-13)
    assert log_one_plus(exponent) == pytest.approx(float(above), rel=1e-13)
    assert log_one_plus(-exponent) == pytest.approx(float(below), rel=1e-13)


def test_sums_of_exponentials_do_not_overflow() -> None:
    assert log_sum(np.array([1e4, 1e4])) == pytest.approx(1e4 + math.log(2.0))
    assert log_sum(np.array([-math.inf, 3.0])) == 3.0
    assert log_sum(np.empty(0)) == -math.inf


def test_chords_between_integer_orders_bound_the_curve() -> None:
    orders = np.array([1.0, 1.5, 2.0, 2.3, 7.0, 2000.0])

    def moment(order: int, values: np.ndarray) -> float:
        return (order - 1.0) * float(values[order - 1])

    moments = log_moments_at(orders, moment, lambda at: gaussian(at, 0.7))
    found = interpolated(orders, moments)
    assert sorted(moments) == [1, 2, 3, 7, 8]
    assert np.all(found >= gaussian(orders, 0.7) * (1 - 1e-12))
    assert found[[2, 4]] == pytest.approx(gaussian(orders[[2, 4]], 0.7), rel=1e-12)
    assert math.isinf(found[-1])
