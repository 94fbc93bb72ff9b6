import itertools
import math
import warnings

import mpmath
import numpy as np
import pytest

from tacit.accounting.renyi.mechanism_curves import gaussian, one_signed_objective, two_signed_objective
from tacit.errors import BudgetError

CASES = list(itertools.product([1.0 + 1e-6, 1.5, 2.0, 10.0, 200.0], [1e-4, 0.3, 1.0, 5.0]))


def exact_one_signed(order: float, mu: float) -> mpmath.mpf:
    with mpmath.workdps(60):
        a, m = mpmath.mpf(order), mpmath.mpf(mu)
        moment = mpmath.ncdf(-m / 2)
        moment += mpmath.exp(a * (a - 1) * m * m / 2) * mpmath.ncdf(m * (a - mpmath.mpf(1) / 2))
        return mpmath.log(moment) / (a - 1)


@pytest.mark.parametrize(("order", "mu"), CASES)
def test_one_signed_is_above_the_oracle_and_tight(order: float, mu: float) -> None:
    value, truth = (float(one_signed_objective(order, 0.0, mu)), exact_one_signed(order, mu))
    assert truth <= value <= truth * (1 + 1e-9)


@pytest.mark.parametrize(("order", "mu"), CASES)
def test_two_signed_is_above_the_oracle_and_tight(order: float, mu: float) -> None:
    with mpmath.workdps(60):
        a, m = mpmath.mpf(order), mpmath.mpf(mu)
        truth = a * m * m / 2 + mpmath.log(2 * mpmath.ncdf((a - 1) * m)) / (a - 1)
    value = float(two_signed_objective(order, 0.0, mu))
    assert truth <= value <= truth * (1 + 1e-12)


@pytest.mark.parametrize(("order", "mu"), CASES)
@pytest.mark.parametrize("vertices", [3, 16])
def test_several_vertices_are_above_the_oracle_and_tight(order: float, mu: float, vertices: int) -> None:
    with mpmath.workdps(60):
        a, m = mpmath.mpf(order), mpmath.mpf(mu)
        start = mpmath.sqrt(2) * mpmath.erfinv(1 - mpmath.mpf(2) / vertices)
        truth = a * m * m / 2 + mpmath.log(vertices * mpmath.ncdf((a - 1) * m - start)) / (a - 1)
    value = float(two_signed_objective(order, 0.0, mu, vertices))
    assert truth <= value <= truth * (1 + 1e-6)
    assert value >= float(two_signed_objective(order, 0.0, mu)) * (1 - 1e-12)


def test_the_curves_are_the_moments_of_the_dominating_losses() -> None:
    # E exp((alpha - 1) Y) by quadrature over the normal variable of each loss.
    for order, mu in [(1.5, 1.0), (4.0, 0.5)]:
        for signs, curve in [(1, one_signed_objective), (2, two_signed_objective)]:
            with mpmath.workdps(20):

                def loss(x: mpmath.mpf, signs: int = signs, mu: float = mu) -> mpmath.mpf:
                    folded = abs(mu * x) + mu * mu / 2
                    return max(mu * x + mu * mu / 2, 0) if signs == 1 else folded

                def integrand(x: mpmath.mpf, order: float = order) -> mpmath.mpf:
                    return mpmath.exp((order - 1) * loss(x)) * mpmath.npdf(x)

                moment = mpmath.quad(integrand, [-12, -mu / 2, 0, 6, 14])
                truth = 0.1 + mpmath.log(moment) / (order - 1)
            assert float(curve(order, 0.1, mu)) == pytest.approx(float(truth), rel=1e-9)


def test_replacing_a_record_stays_below_the_curve_at_twice_the_gradient() -> None:
    # The loss is at most the maximum of V_h over h in {0, a, e, a + e}, |a| = |e| = mu, for any
    # angle; midpoint sums on a grid of 10 deviations err by less than 1e-6 here.
    points = np.linspace(-9.0, 13.0, 441)
    first, second = np.meshgrid(points, points, indexing="ij")
    density = np.exp(-0.5 * (first**2 + second**2)) / (2.0 * math.pi) * (points[1] - points[0]) ** 2
    for mu, order in itertools.product([0.2, 0.7], [1.2, 2.0, 3.0]):
        bound = float(one_signed_objective(order, 0.0, 2.0 * mu))
        for cosine in np.linspace(-1.0, 1.0, 9):
            a = mu * np.array([1.0, 0.0])
            e = mu * np.array([cosine, math.sqrt(max(1.0 - cosine**2, 0.0))])
            loss = np.zeros_like(first)
            for h in (a, e, a + e):
                loss = np.maximum(loss, h[0] * first + h[1] * second + 0.5 * (h @ h))
            moment = float(np.sum(np.exp((order - 1.0) * loss) * density))
            assert math.log(moment) / (order - 1.0) <= bound * (1 + 1e-5)


def test_order_one_is_the_mean_loss() -> None:
    for mu in (0.01, 1.0, 4.0):
        density = math.exp(-mu * mu / 8.0) / math.sqrt(2.0 * math.pi)
        mean = mu * mu / 2.0 * 0.5 * math.erfc(-mu / 2.0 / math.sqrt(2.0)) + mu * density
        assert float(one_signed_objective(1.0, 0.2, mu)) == pytest.approx(0.2 + mean)
        folded = mu * mu / 2.0 + mu * math.sqrt(2.0 / math.pi)
        assert float(two_signed_objective(1.0, 0.2, mu)) == pytest.approx(0.2 + folded)


def test_objective_perturbation_is_no_gaussian_release() -> None:
    orders = np.array([1.0, 1.1, 2.0, 30.0])
    for mu in (0.01, 0.5, 3.0):
        one = one_signed_objective(orders, 0.0, mu)
        two = two_signed_objective(orders, 0.0, mu)
        plain = gaussian(orders, mu)
        assert np.all(one > plain)
        assert np.all(two >= one * (1 - 1e-12))
        with np.errstate(divide="ignore"):
            assert np.all(one <= plain + math.log(2.0) / (orders - 1.0) + 1e-12)


def test_t26_nothing_overflows_or_is_nan() -> None:
    orders = np.array([1.0, 1.0 + 2.0**-52, 2.0, 1e8])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for mu in (0.0, 1e-200, 1e-6, 1.0, 1e6, 1e200, math.inf):
            for curve in (one_signed_objective, two_signed_objective):
                assert np.all(curve(orders, 0.5, mu) >= 0.5)


def test_arguments_outside_their_range_are_refused() -> None:
    for curve in (one_signed_objective, two_signed_objective):
        for arguments in ((2.0, -1.0, 1.0), (2.0, 0.1, -1.0), (2.0, math.nan, 1.0)):
            with pytest.raises(BudgetError, match=r"expected|must"):
                curve(*arguments)
