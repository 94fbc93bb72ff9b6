import itertools
import math
import warnings
from functools import partial

import mpmath
import numpy as np
import pytest
from dp_accounting.rdp import rdp_privacy_accountant as oracle

from tacit.accounting.renyi import subsampling
from tacit.accounting.renyi.mechanism_curves import gaussian, pure
from tacit.accounting.renyi.subsampling import poisson_gaussian
from tacit.errors import BudgetError


def test_even_moments_are_above_the_oracle_and_tight() -> None:
    for mu in (0.01, 0.5, 2.0):
        logs = subsampling._even_moments(mu)
        for power in (2, 4, 16, 64):
            with mpmath.workdps(400):
                m = mpmath.mpf(mu)
                truth = mpmath.log(
                    mpmath.fsum(
                        (-1) ** i * mpmath.binomial(power, i) * mpmath.exp(i * (i - 1) * m * m / 2)
                        for i in range(power + 1)
                    )
                )
            assert truth <= logs[power] <= truth + 1e-9


def test_the_gaussian_curve_agrees_with_dp_accounting() -> None:
    orders = [2, 3, 4, 8, 16, 32, 60]
    for mu, rate in itertools.product([0.3, 1.0, 1.8], [0.001, 0.01, 0.1]):
        expected = oracle._compute_rdp_sample_wor_gaussian(rate, 1.0 / mu, orders)
        found = subsampling.without_replacement_gaussian(orders, mu, rate)
        plain = gaussian(np.array(orders), mu)
        # It has no cap at the plain curve; its differences lose digits for small mu.
        assert found == pytest.approx(np.minimum(expected, plain), rel=1e-3)


def test_the_gaussian_curve_is_never_above_the_generic_one() -> None:
    orders = np.array([1.0, 2.0, 2.5, 10.0, 63.0, 64.0, 200.0, 1500.0])
    for mu, rate in itertools.product([0.05, 0.5, 1.9, 2.1], [0.01, 0.3]):
        generic = subsampling.without_replacement(orders, partial(gaussian, mu=mu), rate)
        special = subsampling.without_replacement_gaussian(orders, mu, rate)
        assert np.all(special <= generic * (1 + 1e-12))
        assert np.all(special >= 0.0)


def test_generic_bound_holds_for_exact_small_samples() -> None:
    # Randomised response on one record drawn from n: both laws are known exactly.
    for epsilon, records, order in itertools.product([0.2, 1.0, 3.0], [2, 5, 50], [2.0, 3.5, 9.0]):
        truth = math.exp(epsilon) / (1.0 + math.exp(epsilon))
        for ones in (0, records // 2, records - 1):
            share = np.array([ones, ones + 1]) / records
            heads = share * truth + (1.0 - share) * (1.0 - truth)
            first, second = np.array([heads[0], 1 - heads[0]]), np.array([heads[1], 1 - heads[1]])
            for one, other in ((first, second), (second, first)):
                moment = float(np.sum(one**order * other ** (1 - order)))
                bound = subsampling.without_replacement(order, partial(pure, epsilon=epsilon), 1.0 / records, epsilon)
                assert math.log(moment) / (order - 1) <= float(bound) * (1 + 1e-9) + 1e-13


def test_t28_fixed_size_samples_have_their_own_bound() -> None:
    # Replace-one doubles the sensitivity and the bound is not the one of Poisson samples.
    orders = np.array([2.0, 4.0, 16.0])
    assert np.all(subsampling.without_replacement_gaussian(orders, 2 * 0.5, 0.01) > poisson_gaussian(orders, 0.5, 0.01))


def test_ends_of_the_rate_and_monotonicity() -> None:
    orders = np.array([1.0, 1.5, 2.0, 8.0, 2000.0])
    assert np.all(subsampling.without_replacement_gaussian(orders, 1.0, 0.0) == 0.0)
    assert np.array_equal(subsampling.without_replacement_gaussian(orders, 1.0, 1.0), gaussian(orders, 1.0))
    rates = (1e-6, 1e-3, 0.1, 0.9)
    table = np.array([subsampling.without_replacement_gaussian(orders, 1.0, x) for x in rates])
    assert np.all(np.diff(table, axis=0) >= 0.0)
    assert np.all(np.diff(table, axis=1) >= -1e-12)
    assert np.all(table <= gaussian(orders, 1.0))


def test_a_pure_base_is_used() -> None:
    curve = partial(pure, epsilon=0.1)
    plain = subsampling.without_replacement(8.0, curve, 0.1)
    better = subsampling.without_replacement(8.0, curve, 0.1, pure_epsilon=0.1)
    assert float(better) < float(plain)


def test_t26_nothing_overflows_or_is_nan() -> None:
    orders = np.array([1.0, 1.0 + 2.0**-40, 2.0, 64.5, 1024.0, 1025.0, 1e8])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for mu, rate in itertools.product([0.0, 1e-9, 1e-6, 1.0, 100.0], [1e-12, 0.5, 1 - 1e-12]):
            values = subsampling.without_replacement_gaussian(orders, mu, rate)
            assert np.all(values >= 0.0)
            assert np.all(values <= gaussian(orders, mu))


def test_arguments_outside_their_range_are_refused() -> None:
    with pytest.raises(BudgetError, match=r"expected|must"):
        subsampling.without_replacement_gaussian(2.0, 1.0, -0.1)
    with pytest.raises(BudgetError, match=r"expected|must"):
        subsampling.without_replacement(2.0, partial(gaussian, mu=1.0), 0.1, pure_epsilon=-1.0)
