import itertools
import math
import warnings
from functools import partial

import mpmath
import numpy as np
import pytest

from tacit.accounting.renyi import subsampling
from tacit.accounting.renyi.mechanism_curves import gaussian, laplace, pure
from tacit.accounting.renyi.subsampling import poisson_gaussian
from tacit.accounting.rounding import Floats
from tacit.errors import BudgetError, SettingError


def divergence(first: Floats, second: Floats, order: float) -> float:
    return float(np.log(np.sum(first**order * second ** (1.0 - order))) / (order - 1.0))


def test_poisson_bounds_random_mechanisms_in_both_directions() -> None:
    generator = np.random.default_rng(4)
    for _ in range(60):
        p, q = generator.dirichlet(np.full(3, generator.choice([0.4, 2.0])), size=2) + 1e-6
        p, q = p / p.sum(), q / q.sum()

        def base(orders: Floats, p: Floats = p, q: Floats = q) -> Floats:
            read = np.maximum(orders, 1.0 + 1e-9).ravel()
            found = [max(divergence(p, q, x), divergence(q, p, x)) for x in read]
            return np.asarray(np.maximum(np.reshape(found, orders.shape), 0.0))

        for rate, order in itertools.product([0.01, 0.3, 0.9], [1.5, 2.0, 5.0, 12.0]):
            mixed = (1.0 - rate) * q + rate * p
            bound = float(subsampling.poisson(order, base, rate)) * (1 + 1e-9) + 1e-13
            assert divergence(mixed, q, order) <= bound
            assert divergence(q, mixed, order) <= bound


def test_poisson_of_the_gaussian_is_close_to_the_exact_curve() -> None:
    orders = np.array([2.0, 3.0, 8.0, 16.0])
    for mu, rate in itertools.product([0.1, 1.0], [0.001, 0.01]):
        generic = subsampling.poisson(orders, partial(gaussian, mu=mu), rate)
        exact = poisson_gaussian(orders, mu, rate)
        assert np.all(generic >= exact * (1 - 1e-9))
        assert np.all(generic <= 1.25 * exact)


def test_poisson_at_the_ends_of_the_rate() -> None:
    orders = np.array([1.0, 1.5, 2.0, 30.0, 2000.0])
    curve = partial(laplace, epsilon=1.0)
    assert np.all(subsampling.poisson(orders, curve, 0.0) == 0.0)
    assert np.array_equal(subsampling.poisson(orders, curve, 1.0), curve(orders))
    found = subsampling.poisson(orders, curve, 0.2)
    assert np.all(found <= curve(orders))
    assert np.all(np.diff(found) >= -1e-12)


def test_poisson_agrees_with_the_pure_theorem_at_large_orders() -> None:
    # log(1 + q(e^eps - 1)) is the limit; the curve of one order may not be below the truth.
    limit = math.log1p(0.1 * math.expm1(1.0))
    found = float(subsampling.poisson(1000.0, partial(pure, epsilon=1.0), 0.1))
    assert limit * 0.95 <= found


def exact_with_replacement(order: float, mu: float, records: int, draws: int) -> mpmath.mpf:
    with mpmath.workdps(40):
        n = mpmath.mpf(records)
        moment = mpmath.fsum(
            mpmath.binomial(draws, k) * n**-k * (1 - 1 / n) ** (draws - k)
            * mpmath.exp(order * (order - 1) * (k * mpmath.mpf(mu)) ** 2 / 2)
            for k in range(draws + 1)
        )  # fmt: skip
        return mpmath.log(moment) / (order - 1)


@pytest.mark.parametrize(("records", "draws"), [(2, 3), (50, 5), (1000, 40)])
def test_with_replacement_is_the_formula_rounded_up(records: int, draws: int) -> None:
    for order, mu in itertools.product([1.5, 2.0, 8.0], [0.01, 0.3]):
        value = float(subsampling.with_replacement_gaussian(order, mu, records, draws))
        truth = exact_with_replacement(order, mu, records, draws)
        assert truth <= value <= truth * (1 + 1e-9)


def test_with_replacement_bounds_the_true_divergence() -> None:
    # Two records, m draws, contribution 0 of one and 0 or 1 of the other, unit noise times 1/mu.
    mu, draws, order = 0.7, 3, 2.5
    grid = np.linspace(-14.0, 16.0, 20_001)
    weights = [math.comb(draws, k) * 0.5**draws for k in range(draws + 1)]
    scaled = -0.5 * (grid[:, None] - mu * np.arange(draws + 1)) ** 2
    first = np.exp(scaled) @ np.array(weights) / math.sqrt(2 * math.pi)
    second = np.exp(-0.5 * grid**2) / math.sqrt(2 * math.pi)
    bound = float(subsampling.with_replacement_gaussian(order, mu, 2, draws))
    step = grid[1] - grid[0]
    for one, other in ((first, second), (second, first)):
        moment = float(np.sum(one**order * other ** (1 - order)) * step)
        assert math.log(moment) / (order - 1) <= bound


def test_one_record_drawn_always_is_no_sample() -> None:
    orders = np.array([1.5, 2.0, 9.0])
    found = subsampling.with_replacement_gaussian(orders, 0.3, 1, 4)
    assert found == pytest.approx(gaussian(orders, 1.2), rel=1e-9)


def test_t26_nothing_overflows_or_is_nan() -> None:
    orders = np.array([1.0, 1.0 + 2.0**-40, 2.0, 64.5, 1024.0, 1025.0, 1e8])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for mu, rate in itertools.product([0.0, 1e-6, 1.0, 100.0], [1e-12, 0.5, 1 - 1e-12]):
            values = subsampling.poisson(orders, partial(gaussian, mu=mu), rate)
            assert np.all(values >= 0.0)
            assert np.all(values <= gaussian(orders, mu))
        for mu in (0.0, 1e-6, 100.0, 1e200):
            for records, draws in [(1, 1), (10**6, 1000)]:
                found = subsampling.with_replacement_gaussian(orders, mu, records, draws)
                assert np.all(found >= 0.0)


def test_arguments_outside_their_range_are_refused() -> None:
    with pytest.raises(BudgetError, match=r"expected|must"):
        subsampling.poisson(2.0, partial(gaussian, mu=1.0), 1.5)
    with pytest.raises(SettingError, match=r"expected|must"):
        subsampling.with_replacement_gaussian(2.0, 1.0, 0, 5)
