import itertools
from functools import partial

import numpy as np
import pytest

from tacit.accounting.renyi import curve as curves
from tacit.accounting.renyi import mechanism_curves
from tacit.accounting.renyi.curve import Curve
from tacit.accounting.renyi.mechanism_curves import bounded_range, one_signed_objective, pure
from tacit.accounting.renyi.subsampling import poisson_gaussian, without_replacement_gaussian
from tacit.errors import SettingError

ORDERS = np.array([1.0, 1.3, 2.0, 8.0, 64.0])
CURVES: dict[str, Curve] = {
    "gaussian": partial(mechanism_curves.gaussian, mu=0.3),
    "laplace": partial(mechanism_curves.laplace, epsilon=0.5),
    "pure": partial(pure, epsilon=0.5),
    "exponential mechanism": partial(bounded_range, eta=0.5),
    "poisson": partial(poisson_gaussian, mu=1.0, sampling_rate=0.01),
    "without replacement": partial(without_replacement_gaussian, mu=1.0, sampling_rate=0.01),
    "objective": partial(one_signed_objective, determinant=0.1, mu=0.5),
}


@pytest.mark.parametrize("name", CURVES)
def test_t21_many_runs_cost_that_many_single_runs(name: str) -> None:
    curve = CURVES[name]
    single = curve(ORDERS)
    for times in (1, 7, 1000, 10**6):
        together = curves.repeat(curve, times)(ORDERS)
        assert np.all(together >= times * single)
        assert together == pytest.approx(times * single, rel=1e-12)
    one_by_one = curves.add([curve] * 50)(ORDERS)
    assert one_by_one == pytest.approx(curves.repeat(curve, 50)(ORDERS), rel=1e-12)


def test_adding_does_not_depend_on_the_order() -> None:
    forward = curves.add(CURVES.values())(ORDERS)
    backward = curves.add(reversed(CURVES.values()))(ORDERS)
    assert forward == pytest.approx(backward, rel=1e-13)
    assert np.all(curves.add([])(ORDERS) == 0.0)
    nothing = partial(mechanism_curves.zcdp, rho=0.0)
    assert np.all(curves.repeat(nothing, 9)(ORDERS) == 0.0)
    assert np.all(curves.group(nothing, 9)(ORDERS) == 0.0)


def test_a_group_of_one_is_one_record() -> None:
    for curve in CURVES.values():
        assert curves.group(curve, 1)(ORDERS) == pytest.approx(curve(ORDERS), rel=1e-12)


def test_groups_of_the_gaussian_are_exact() -> None:
    for size in (2, 3, 10):
        whole = curves.group(partial(mechanism_curves.gaussian, mu=0.3), size)(ORDERS)
        assert np.all(whole >= ORDERS * (size * 0.3) ** 2 / 2 * (1 - 1e-15))
        assert whole == pytest.approx(ORDERS * (size * 0.3) ** 2 / 2, rel=1e-12)


def test_groups_bound_chains_of_random_distributions() -> None:
    generator = np.random.default_rng(2)
    for _ in range(40):
        chain = generator.dirichlet(np.full(4, 2.0), size=3)

        def divergence(p: np.ndarray, q: np.ndarray, order: float) -> float:
            return float(np.log(np.sum(p**order * q ** (1 - order))) / (order - 1))

        def step(orders: np.ndarray, chain: np.ndarray = chain) -> np.ndarray:
            pairs = itertools.permutations
            found = [
                max(divergence(chain[i], chain[j], order) for i, j in pairs(range(3), 2) if abs(i - j) == 1)
                for order in orders.ravel()
            ]
            return np.array(found).reshape(orders.shape)

        for order in (1.5, 2.0, 5.0):
            bound = float(curves.group(step, 2)(np.array(order)))
            assert divergence(chain[0], chain[2], order) <= bound * (1 + 1e-12)


@pytest.mark.parametrize("wrong", [0, -1, 2.0, True])
def test_counts_that_are_no_counts_are_refused(wrong: int) -> None:
    for combine in (curves.repeat, curves.group):
        with pytest.raises(SettingError, match=r"expected|must"):
            combine(partial(mechanism_curves.gaussian, mu=1.0), wrong)
