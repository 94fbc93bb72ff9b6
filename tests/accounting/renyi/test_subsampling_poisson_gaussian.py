import itertools
import math
import warnings
from functools import partial

import mpmath
import numpy as np
import pytest
from dp_accounting.rdp import rdp_privacy_accountant as oracle
from scipy import integrate

from tacit.accounting.renyi import conversion
from tacit.accounting.renyi.curve import default_orders
from tacit.accounting.renyi.mechanism_curves import gaussian
from tacit.accounting.renyi.subsampling import poisson_gaussian


def exact(order: float, mu: float, rate: float) -> mpmath.mpf:
    """The divergence of the mixture from the plain Gaussian, by adaptive quadrature."""
    with mpmath.workdps(18):
        a, m, q = mpmath.mpf(order), mpmath.mpf(mu), mpmath.mpf(rate)

        def integrand(x: mpmath.mpf) -> mpmath.mpf:
            shift = q * mpmath.expm1(m * x - m * m / 2)
            return ((1 + shift) ** a - 1 - a * shift) * mpmath.npdf(x)

        peak, middle = order * mu, math.log(1 / rate - 1) / mu + mu / 2
        marks = {-13.0, -2.0, 2.0, 2 * mu, peak - 3, peak, peak + 3, peak + 13, middle}
        points = sorted(mark for mark in marks if -13.0 <= mark <= peak + 13)
        return mpmath.log(1 + mpmath.quad(integrand, points)) / (a - 1)


def exact_integer(order: int, mu: float, rate: float) -> mpmath.mpf:
    with mpmath.workdps(60):
        m, q = mpmath.mpf(mu), mpmath.mpf(rate)
        moment = mpmath.fsum(
            mpmath.binomial(order, i) * (1 - q) ** (order - i) * q**i
            * mpmath.exp((i * i - i) * m * m / 2)
            for i in range(order + 1)
        )  # fmt: skip
        return mpmath.log(moment) / (order - 1)


@pytest.mark.parametrize("order", [2, 3, 17, 200])
def test_integer_orders_are_above_the_oracle_and_tight(order: int) -> None:
    for mu, rate in itertools.product([1e-5, 0.1, 1.0, 30.0], [1e-9, 0.01, 0.5, 1 - 1e-9]):
        value, truth = float(poisson_gaussian(order, mu, rate)), exact_integer(order, mu, rate)
        assert truth <= value <= truth * (1 + 1e-9), (mu, rate)


@pytest.mark.parametrize(
    ("order", "mu", "rate"), [(1.001, 1.0, 0.01), (1.5, 0.01, 0.1), (2.7, 3.9, 1e-4), (9.3, 7.9, 0.5)]
)
def test_fractional_orders_are_above_the_oracle_and_tight(order: float, mu: float, rate: float) -> None:
    value, truth = float(poisson_gaussian(order, mu, rate)), exact(order, mu, rate)
    assert truth <= value <= truth * (1 + 1e-8)


@pytest.mark.parametrize(("order", "mu", "rate"), [(1.001, 8.1, 0.01), (4.2, 20.0, 0.9)])
def test_the_series_for_large_mu_is_above_the_oracle(order: float, mu: float, rate: float) -> None:
    value, truth = float(poisson_gaussian(order, mu, rate)), exact(order, mu, rate)
    assert truth <= value <= truth * (1 + 1e-4)


def test_interpolated_orders_lie_on_the_safe_side() -> None:
    value, truth = float(poisson_gaussian(40.1, 0.5, 0.1)), exact(40.1, 0.5, 0.1)
    assert truth <= value <= truth * 1.02


def test_values_agree_with_dp_accounting() -> None:
    for rate, noise in itertools.product([0.001, 0.01, 0.2], [0.7, 1.1, 4.0]):
        orders = [2, 3, 8, 32, 64, 128]
        expected = oracle._compute_rdp_poisson_subsampled_gaussian(rate, noise, orders)
        values = poisson_gaussian(orders, 1.0 / noise, rate)
        # It takes the logarithm of a moment near 1 and loses digits there.
        assert values == pytest.approx(expected, rel=1e-7, abs=1e-13)


def test_t22_epsilon_agrees_with_dp_accounting() -> None:
    for rate, noise, steps in [(0.01, 0.8, 1000), (0.004, 0.7, 2500), (0.05, 2.0, 400)]:
        grid = default_orders()
        integers = grid[(grid == np.floor(grid)) & (grid <= 512)]
        known = oracle._compute_rdp_poisson_subsampled_gaussian(rate, noise, integers)
        expected = oracle.compute_epsilon(integers, steps * known, 1e-5)[0]
        values = steps * poisson_gaussian(integers, 1.0 / noise, rate)
        assert conversion.epsilon_from_values(integers, values, 1e-5) == pytest.approx(expected, rel=1e-9)


def test_both_directions_are_covered() -> None:
    for order, mu, rate in itertools.product([1.2, 2.0, 5.5], [0.3, 1.0, 2.5], [0.05, 0.5, 0.95]):

        def reverse(x: float, order: float = order, mu: float = mu, rate: float = rate) -> float:
            ratio = 1.0 + rate * math.expm1(mu * x - 0.5 * mu * mu)
            density = math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
            return float(ratio ** (1.0 - order) * density)

        moment, _ = integrate.quad(reverse, -12.0, 12.0, epsabs=1e-12, epsrel=1e-12, limit=200)
        backward = math.log(moment) / (order - 1.0)
        assert backward <= float(poisson_gaussian(order, mu, rate)) + 1e-10


def test_ends_of_the_rate() -> None:
    orders = np.array([1.0, 1.5, 4.0])
    assert np.all(poisson_gaussian(orders, 1.0, 0.0) == 0.0)
    assert np.all(poisson_gaussian(orders, 0.0, 0.5) == 0.0)
    assert np.array_equal(poisson_gaussian(orders, 1.0, 1.0), gaussian(orders, 1.0))
    assert np.all(poisson_gaussian(orders, 1.0, 1.0 - 1e-9) <= gaussian(orders, 1.0))


def test_the_curve_is_monotone() -> None:
    orders = np.array([1.0, 1.01, 1.3, 2.0, 2.5, 8.0, 31.0, 33.3, 64.0, 1000.0, 1e5])
    for mu in (0.1, 1.0, 5.0):
        table = np.array([poisson_gaussian(orders, mu, rate) for rate in (1e-4, 0.01, 0.1, 0.9)])
        assert np.all(np.diff(table, axis=0) >= 0.0)
        assert np.all(np.diff(table, axis=1) >= -1e-9 * table[:, 1:])
    table = np.array([poisson_gaussian(orders, mu, 0.1) for mu in (1e-3, 0.1, 1.0, 7.9, 8.1, 90)])
    assert np.all(np.diff(table, axis=0) > 0.0)


def test_t26_epsilon_is_finite_and_non_negative_everywhere() -> None:
    with warnings.catch_warnings(), np.errstate(over="raise", divide="raise", invalid="raise"):
        warnings.simplefilter("error")
        for noise, rate in itertools.product([0.01, 1.0, 1e6], [0.0, 1e-9, 0.01, 0.5, 1.0]):
            curve = partial(poisson_gaussian, mu=1.0 / noise, sampling_rate=rate)
            values = curve(default_orders())
            assert np.all(values >= 0.0)
            for steps, delta in itertools.product([1, 10**6], [1e-20, 1e-6, 0.1]):
                found = conversion.epsilon_from_values(default_orders(), steps * values, delta)
                assert 0.0 <= found < math.inf
