import itertools
import math
import warnings
from functools import partial

import mpmath
import numpy as np
import pytest
from dp_accounting.rdp import rdp_privacy_accountant as oracle

from tacit.accounting import gaussian as exact_gaussian
from tacit.accounting.renyi import conversion
from tacit.accounting.renyi.curve import default_orders
from tacit.accounting.renyi.mechanism_curves import gaussian, laplace, pure, zcdp
from tacit.accounting.rounding import Floats
from tacit.errors import BudgetError, SettingError


def exact_epsilon(order: float, value: float, delta: float) -> mpmath.mpf:
    with mpmath.workdps(50):
        a, r, d = mpmath.mpf(order), mpmath.mpf(value), mpmath.mpf(delta)
        return r + mpmath.log((a - 1) / a) - mpmath.log(a * d) / (a - 1)


@pytest.mark.parametrize("order", [1.0 + 1e-9, 1.01, 2.0, 30.5, 1e8])
def test_one_order_is_the_formula_rounded_up(order: float) -> None:
    for value, delta in itertools.product([1e-9, 0.1, 30.0, 1e9], [1e-20, 1e-6, 0.01]):
        if 1.0 - math.exp(-value) <= delta**2:
            continue
        found = conversion.epsilon_from_values([order], [value], delta)
        truth = exact_epsilon(order, value, delta)
        assert found >= truth
        assert found <= max(truth, 0) + 1e-13 * (abs(truth) + value + 50 / (order - 1) + 50)


def test_delta_of_one_order_is_the_formula_rounded_up() -> None:
    for order, value, bound in itertools.product([1.5, 8.0, 300.0], [0.1, 2.0], [1.0, 3.0]):
        with mpmath.workdps(50):
            a, r, e = mpmath.mpf(order), mpmath.mpf(value), mpmath.mpf(bound)
            truth = mpmath.exp((a - 1) * (r - e)) / a * (1 - 1 / a) ** (a - 1)
            truth = min(truth, mpmath.sqrt(1 - mpmath.exp(-r)))
        found = conversion.delta_from_values([order], [value], bound)
        assert truth <= found or truth < 1e-300
        assert found <= truth * (1 + 1e-9) + 1e-300


def test_t24_gaussian_epsilon_is_never_below_the_exact_one() -> None:
    generator = np.random.default_rng(1)
    for _ in range(60):
        mu, power = 10.0 ** generator.uniform(-4, 2), generator.uniform(-20, -1)
        found = conversion.epsilon(partial(gaussian, mu=mu), 10.0**power)
        assert found >= exact_gaussian.epsilon(mu, 10.0**power)


def test_epsilon_agrees_with_dp_accounting_on_its_orders() -> None:
    orders = [1.5, 2.0, 4.0, 8.0, 16.0, 64.0, 256.0]
    for mu, delta in itertools.product([0.1, 0.5, 2.0], [1e-10, 1e-5, 1e-2]):
        values = [order * mu * mu / 2.0 for order in orders]
        epsilon, _ = oracle.compute_epsilon(orders, values, delta)
        assert conversion.epsilon_from_values(orders, values, delta) == pytest.approx(epsilon)
        found, _ = oracle.compute_delta(orders, values, 1.0)
        assert conversion.delta_from_values(orders, values, 1.0) == pytest.approx(found)


def test_refinement_reaches_the_infimum() -> None:
    for rho, delta in itertools.product([1e-6, 0.045, 0.5, 40.0], [1e-12, 1e-5]):
        found = conversion.epsilon(partial(zcdp, rho=rho), delta)
        fine = 1.0 + np.geomspace(1e-3, 1e5, 200_001) * math.sqrt(math.log(1 / delta) / rho) / 30
        best = np.min(rho * fine + np.log1p(-1 / fine) - np.log(fine * delta) / (fine - 1))
        assert found <= best * (1 + 1e-6)


def test_delta_and_epsilon_are_inverse() -> None:
    for mu, bound in itertools.product([0.2, 1.0, 3.0], [1.0, 4.0, 20.0]):
        curve = partial(gaussian, mu=mu)
        found = conversion.delta(curve, bound)
        if 0.0 < found < 0.1:
            assert conversion.epsilon(curve, found) <= bound * (1 + 1e-6)
            assert found >= exact_gaussian.delta(bound, mu)


def test_t24_a_small_curve_is_zero_epsilon_at_a_large_delta() -> None:
    # Total variation is at most sqrt(1 - exp(-KL)): 1e-3 here, and no smaller delta will do.
    curve = partial(zcdp, rho=1e-6 / 1.1)
    assert conversion.epsilon(curve, 1.1e-3) == 0.0
    assert conversion.epsilon(curve, 1e-5) > 0.0
    assert conversion.delta(curve, 0.0) <= 1.1e-3
    assert conversion.delta(curve, 0.0) >= exact_gaussian.delta(0.0, math.sqrt(2e-6 / 1.1))


def test_ends_of_the_range() -> None:
    def nothing(orders: Floats) -> Floats:
        return np.zeros_like(orders)

    def everything(orders: Floats) -> Floats:
        return np.full_like(orders, math.inf)

    assert conversion.epsilon(nothing, 0.0) == conversion.epsilon(nothing, 1e-9) == 0.0
    assert conversion.delta(nothing, 0.0) == 0.0
    assert conversion.epsilon(everything, 1e-9) == math.inf
    assert conversion.delta(everything, 1.0) == 1.0
    assert conversion.epsilon(partial(gaussian, mu=1.0), 0.0) == math.inf
    assert conversion.epsilon(partial(gaussian, mu=1.0), 1.0) == 0.0
    assert conversion.delta(partial(gaussian, mu=1.0), math.inf) == 0.0


def test_pure_privacy_is_not_made_worse_by_much() -> None:
    assert conversion.epsilon(partial(pure, epsilon=0.5), 1e-6) <= 0.5 * (1 + 1e-6)
    assert conversion.epsilon(partial(laplace, epsilon=2.0), 1e-6) <= 2.0 * (1 + 1e-6)


def test_epsilon_falls_with_delta() -> None:
    for curve in (partial(gaussian, mu=0.3), partial(laplace, epsilon=1.0)):
        found = [conversion.epsilon(curve, delta) for delta in np.geomspace(1e-20, 0.5, 25)]
        assert all(later <= earlier for earlier, later in itertools.pairwise(found))


def test_t26_epsilon_is_finite_monotone_and_never_negative() -> None:
    with warnings.catch_warnings(), np.errstate(over="raise", divide="raise", invalid="raise"):
        warnings.simplefilter("error")
        for delta in (1e-20, 1e-6, 0.1):
            for steps in (1, 10**6):
                found = [
                    conversion.epsilon(partial(zcdp, rho=steps / (2.0 * scale * scale)), delta)
                    for scale in (0.01, 0.1, 1.0, 1e3, 1e6)
                ]
                assert all(0.0 <= value < math.inf for value in found)
                assert all(later <= earlier for earlier, later in itertools.pairwise(found))


def test_t27_reading_changes_nothing() -> None:
    curve = partial(laplace, epsilon=0.3)
    assert len({conversion.epsilon(curve, 1e-6) for _ in range(5)}) == 1


def test_what_is_no_curve_is_refused() -> None:
    with pytest.raises(SettingError, match=r"expected|must"):
        conversion.epsilon(lambda orders: -orders, 1e-6)
    with pytest.raises(SettingError, match=r"expected|must"):
        conversion.epsilon(lambda orders: orders[:1], 1e-6)
    with pytest.raises(SettingError, match=r"expected|must"):
        conversion.epsilon_from_values([2.0], [1.0, 2.0], 1e-6)
    with pytest.raises(SettingError, match=r"expected|must"):
        conversion.epsilon(partial(zcdp, rho=1.0), 1e-6, [])
    for wrong in (-0.1, 1.1, math.nan):
        with pytest.raises(BudgetError, match=r"expected|must"):
            conversion.epsilon(partial(zcdp, rho=1.0), wrong)
    with pytest.raises(BudgetError, match=r"expected|must"):
        conversion.delta(partial(zcdp, rho=1.0), -1.0)


def test_the_default_orders_are_used() -> None:
    seen: list[int] = []

    def curve(orders: Floats) -> Floats:
        seen.append(orders.size)
        return orders

    conversion.epsilon(curve, 1e-6)
    assert seen[0] == default_orders().size
