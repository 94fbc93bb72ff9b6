import itertools
import math
import warnings

import mpmath
import numpy as np
import pytest
from dp_accounting.rdp import rdp_privacy_accountant as oracle

from tacit.accounting.renyi.mechanism_curves import gaussian, laplace, tcdp, zcdp
from tacit.errors import BudgetError, SettingError

TIGHT = 1e-12
ORDERS = [1.0, 1.0 + 1e-9, 1.001, 1.5, 2.0, 7.3, 64.0, 1e4, 1e8]
EPSILONS = [1e-9, 1e-4, 0.1, 1.0, 10.0, 700.0]


def exact_laplace(order: float, epsilon: float) -> mpmath.mpf:
    with mpmath.workdps(80):
        a, e = mpmath.mpf(order), mpmath.mpf(epsilon)
        if order == 1.0:
            return e + mpmath.exp(-e) - 1
        moment = a / (2 * a - 1) * mpmath.exp((a - 1) * e)
        moment += (a - 1) / (2 * a - 1) * mpmath.exp(-a * e)
        return mpmath.log(moment) / (a - 1)


@pytest.mark.parametrize("order", ORDERS)
def test_laplace_is_above_the_oracle_and_tight(order: float) -> None:
    for epsilon in EPSILONS:
        value, exact = float(laplace(order, epsilon)), exact_laplace(order, epsilon)
        assert exact <= value <= exact * (1 + TIGHT), epsilon


def test_laplace_agrees_with_dp_accounting() -> None:
    for order, epsilon in itertools.product([1.0, 1.05, 2.0, 16.0], [0.01, 0.5, 3.0]):
        expected = oracle._laplace_rdp(epsilon, order)
        assert float(laplace(order, epsilon)) == pytest.approx(expected, rel=1e-9)


def test_laplace_bounds_every_spread_of_the_sensitivity() -> None:
    for order, share in itertools.product([1.0, 1.5, 4.0, 100.0], [0.1, 0.3, 0.5]):
        parts = laplace(order, 2.0 * share) + laplace(order, 2.0 * (1.0 - share))
        assert float(parts) <= float(laplace(order, 2.0))


def test_gaussian_is_above_the_exact_rational_and_tight() -> None:
    with mpmath.workdps(60):
        for order, mu in itertools.product(ORDERS, [1e-6, 0.1, 0.3, 1.0, 100.0]):
            exact = mpmath.mpf(order) * mpmath.mpf(mu) ** 2 / 2
            assert exact <= float(gaussian(order, mu)) <= exact * (1 + TIGHT)


def test_the_discrete_gaussian_obeys_its_curve() -> None:
    # Exact sums over the integers; 40 standard deviations leave less than 1e-300.
    for sigma, shift, order in itertools.product([0.5, 1.0, 3.0], [1, 2], [1.5, 2.0, 8.0]):
        with mpmath.workdps(40):
            reach = int(40 * sigma) + 10 * shift * int(order)
            support = range(-reach, reach + 1)
            weight = {x: mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * sigma**2)) for x in support}
            total = mpmath.fsum(weight.values())
            moment = mpmath.fsum(
                (weight[x] / total) ** order * (weight[x - shift] / total) ** (1 - order)
                for x in range(-reach + shift, reach + 1)
            )
            exact = mpmath.log(moment) / (order - 1)
        value = float(gaussian(order, shift / sigma))
        assert exact <= value * (1 + 1e-15)


def test_the_concentrated_curves_are_their_definitions() -> None:
    orders = np.array([1.0, 2.0, 7.999, 8.0, 9.0])
    values = tcdp(orders, 0.25, 8.0)
    assert values[:3] == pytest.approx(0.25 * orders[:3])
    assert np.all(values[:3] >= 0.25 * orders[:3])
    assert np.all(np.isinf(values[3:]))
    assert zcdp(orders, 0.25) == pytest.approx(0.25 * orders)


def test_curves_keep_the_shape_of_the_orders() -> None:
    for shape in [(), (3,), (2, 3)]:
        orders = np.full(shape, 4.0)
        for values in (gaussian(orders, 1.0), laplace(orders, 1.0)):
            assert values.shape == shape


def test_curves_grow_with_the_order_and_the_parameter() -> None:
    orders = np.geomspace(1.0, 1e6, 200)
    for curve in (gaussian, zcdp, laplace):
        table = np.array([curve(orders, value) for value in np.geomspace(1e-6, 1e3, 60)])
        assert np.all(np.diff(table, axis=0) >= -TIGHT * table[:-1])
        assert np.all(np.diff(table, axis=1) >= -TIGHT * table[:, :-1])


def test_t26_nothing_overflows_or_is_nan() -> None:
    orders = np.array([1.0, 1.0 + 2.0**-52, 2.0, 1e8, 1e300])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for value in (0.0, 5e-324, 1e-200, 1.0, 1e160, 1.7e308, math.inf):
            for curve in (gaussian, zcdp, laplace):
                values = curve(orders, value)
                assert np.all(values >= 0.0)
                assert (value == 0.0) == bool(np.all(values == 0.0))


@pytest.mark.parametrize("wrong", [-1.0, math.nan])
def test_arguments_outside_their_range_are_refused(wrong: float) -> None:
    for curve in (gaussian, zcdp, laplace):
        with pytest.raises(BudgetError, match=r"expected|must"):
            curve(2.0, wrong)
        with pytest.raises(SettingError, match=r"expected|must"):
            curve(wrong, 1.0)
    with pytest.raises(SettingError, match=r"expected|must"):
        tcdp(2.0, 1.0, 1.0)
