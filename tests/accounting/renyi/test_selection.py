import itertools
import math
import warnings
from functools import partial

import mpmath
import numpy as np
import pytest
from dp_accounting.rdp import rdp_privacy_accountant as oracle

from tacit.accounting.renyi import selection
from tacit.accounting.renyi.curve import default_orders
from tacit.accounting.renyi.mechanism_curves import gaussian
from tacit.accounting.rounding import Floats
from tacit.errors import SettingError


def test_the_mean_number_of_runs_is_exact() -> None:
    for shape, gamma in itertools.product([-0.5, 1e-9, 0.0, 0.5, 1.0, 3.0], [1e-6, 0.1, 0.999]):
        with mpmath.workdps(40):
            s, g = mpmath.mpf(shape), mpmath.mpf(gamma)
            if shape == 0.0:
                truth = (1 / g - 1) / mpmath.log(1 / g)
            else:
                truth = s * (1 / g - 1) / (1 - g**s)
        found = selection.negative_binomial_mean(shape, gamma)
        assert truth <= found <= truth * (1 + 1e-12)


@pytest.mark.parametrize(("shape", "mean"), [(0.0, 10.0), (0.5, 30.0), (1.0, 5.0)])
def test_selection_is_as_tight_as_dp_accounting(shape: float, mean: float) -> None:
    orders = default_orders()
    orders = orders[orders < 1e4]
    for mu in (0.05, 0.3, 1.0):
        gamma = oracle._gamma_truncated_negative_binomial(shape, mean)
        expected = oracle._compute_rdp_repeat_and_select(orders, np.array(gaussian(orders, mu)), mean, shape)
        found = selection.negative_binomial_selection(orders, partial(gaussian, mu=mu), shape, gamma)
        assert np.all(found <= expected * (1 + 1e-6))
        assert found[:60] == pytest.approx(expected[:60], rel=1e-2)


def test_poisson_selection_is_as_tight_as_dp_accounting() -> None:
    orders = default_orders()
    orders = orders[orders < 1e4]
    for mu, mean in itertools.product([0.05, 0.3], [2.0, 20.0]):
        expected = oracle._compute_rdp_repeat_and_select(orders, np.array(gaussian(orders, mu)), mean, math.inf)
        found = selection.poisson_selection(orders, partial(gaussian, mu=mu), mean)
        assert np.all(found <= expected * (1 + 1e-6))
        assert np.all(found >= gaussian(orders, mu))


def test_pure_candidates_cost_three_epsilon_under_the_geometric_law() -> None:
    def flat(orders: Floats) -> Floats:
        return np.full_like(orders, 0.5)

    for shape in (0.0, 1.0):
        value = selection.negative_binomial_selection(1e8, flat, shape, 0.01)
        assert float(value) == pytest.approx((2.0 + shape) * 0.5, rel=1e-3)


def test_the_bound_holds_for_exact_small_selections() -> None:
    # Candidates with outputs 0 < 1 < 2 ranked by value; the best of K runs has a closed law.
    generator = np.random.default_rng(3)
    for _ in range(30):
        p, q = generator.dirichlet(np.full(3, 3.0), size=2)
        shape, gamma = 1.0, float(generator.uniform(0.1, 0.9))

        def best(law: np.ndarray, gamma: float = gamma) -> np.ndarray:
            below = np.concatenate([[0.0], np.cumsum(law)])
            # Geometric K: E[x^K] = gamma x / (1 - (1 - gamma) x).
            return np.diff(gamma * below / (1 - (1 - gamma) * below))

        def divergence(first: np.ndarray, second: np.ndarray, order: float) -> float:
            logs = order * np.log(first) + (1 - order) * np.log(second)
            return float(np.logaddexp.reduce(logs) / (order - 1))

        def base(orders: Floats, p: np.ndarray = p, q: np.ndarray = q) -> Floats:
            largest = [
                max(divergence(p, q, x), divergence(q, p, x)) if 1.0 < x < 500.0 else 50.0
                for x in np.maximum(orders, 1.0 + 1e-6).ravel()
            ]
            return np.array(largest).reshape(orders.shape)

        for order in (1.5, 4.0, 32.0):
            bound = float(selection.negative_binomial_selection(order, base, shape, gamma))
            assert divergence(best(p), best(q), order) <= bound


def test_more_runs_cost_more() -> None:
    orders = np.array([1.0, 2.0, 32.0, 1e4])
    curve = partial(gaussian, mu=0.2)
    gammas = (0.9, 0.5, 0.1, 1e-4)
    table = [selection.negative_binomial_selection(orders, curve, 1.0, gamma) for gamma in gammas]
    assert np.all(np.diff(np.array(table), axis=0) >= 0.0)
    assert np.all(np.diff(np.array(table), axis=1) >= 0.0)


def test_t26_nothing_overflows_or_is_nan() -> None:
    orders = default_orders()[::12]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for mu in (0.0, 1e-6, 1.0, 100.0):
            curve = partial(gaussian, mu=mu)
            for values in (
                selection.negative_binomial_selection(orders, curve, 0.0, 1e-9),
                selection.poisson_selection(orders, curve, 0.5),
                selection.poisson_selection(1.0, curve, 100.0),
            ):
                assert np.all(values >= 0.0)


@pytest.mark.parametrize(("shape", "gamma"), [(-1.0, 0.5), (1.0, 0.0), (1.0, 1.0), (math.nan, 0.5), (1.0, math.nan)])
def test_laws_that_are_none_are_refused(shape: float, gamma: float) -> None:
    with pytest.raises(SettingError, match=r"expected|must"):
        selection.negative_binomial_selection(2.0, partial(gaussian, mu=1.0), shape, gamma)


def test_a_poisson_law_needs_a_mean() -> None:
    with pytest.raises(SettingError, match=r"expected|must"):
        selection.poisson_selection(2.0, partial(gaussian, mu=1.0), 0.0)
