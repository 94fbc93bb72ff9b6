import itertools
import math
import warnings

import mpmath
import numpy as np
import pytest

from tacit.accounting import gaussian
from tacit.accounting.renyi import conversion
from tacit.accounting.renyi.mechanism_curves import pure
from tacit.errors import BudgetError, SettingError


def bun_steinke(rho: float, delta: float) -> float:
    return rho + 2.0 * math.sqrt(rho * math.log(1.0 / delta))


@pytest.mark.parametrize(("mu", "exact", "tight", "loose"), [(0.3, 1.132, 1.235, 1.485), (1.0, 4.377, 4.728, 5.299)])
def test_epsilon_matches_the_published_table(mu: float, exact: float, tight: float, loose: float) -> None:
    rho = mu * mu / 2.0
    assert round(gaussian.epsilon(mu, 1e-5), 3) == exact
    assert round(conversion.zcdp_to_epsilon(rho, 1e-5), 3) == tight
    assert round(bun_steinke(rho, 1e-5), 3) == loose


def test_t24_epsilon_lies_between_the_exact_and_the_loose_one() -> None:
    for rho, delta in itertools.product(np.geomspace(1e-12, 1e9, 22), [1e-20, 1e-6, 0.1]):
        found = conversion.zcdp_to_epsilon(rho, delta)
        assert gaussian.epsilon(math.sqrt(2.0 * rho), delta) <= found * (1 + 1e-9)
        assert found <= bun_steinke(rho, delta)


def test_epsilon_is_the_infimum_rounded_up() -> None:
    for rho, delta in [(1e-4, 1e-6), (0.5, 1e-5), (20.0, 1e-10)]:
        with mpmath.workdps(40):
            r, d = mpmath.mpf(rho), mpmath.mpf(delta)

            def bound(x: mpmath.mpf, r: mpmath.mpf = r, d: mpmath.mpf = d) -> mpmath.mpf:
                return r * (1 + x) + mpmath.log(x / (1 + x)) - mpmath.log((1 + x) * d) / x

            start = mpmath.sqrt(-mpmath.log(d) / r)
            steps = (mpmath.mpf(2) ** (mpmath.mpf(i) / 200) for i in range(-600, 200))
            infimum = min(bound(start * step) for step in steps)
        found = conversion.zcdp_to_epsilon(rho, delta)
        assert infimum * (1 - mpmath.mpf(10) ** -6) <= found <= infimum * (1 + 1e-6)


def test_truncation_only_costs() -> None:
    for rho, delta in itertools.product([1e-4, 0.1], [1e-9, 1e-5]):
        free = conversion.zcdp_to_epsilon(rho, delta)
        found = [conversion.tcdp_to_epsilon(rho, omega, delta) for omega in (1.1, 3, 30, 1e6)]
        assert all(later <= earlier for earlier, later in itertools.pairwise(found))
        assert found[-1] >= free * (1 - 1e-6)
        assert found[-1] == pytest.approx(free, rel=1e-6)
        assert conversion.tcdp_to_epsilon(rho, math.inf, delta) == free
    # At one usable order the formula is the formula.
    single = 0.1 * 3 + math.log(2 / 3) - math.log(3 * 1e-6) / 2
    assert conversion.tcdp_to_epsilon(0.1, 3.0, 1e-6) == pytest.approx(single, rel=1e-9)


def test_pure_privacy_is_concentrated_with_the_best_rho() -> None:
    for epsilon in (1e-8, 0.1, 1.0, 20.0):
        rho = conversion.pure_to_zcdp(epsilon)
        with mpmath.workdps(40):
            exact = mpmath.mpf(epsilon) * mpmath.tanh(mpmath.mpf(epsilon) / 2)
        assert exact <= rho <= exact * (1 + 1e-12)
        orders = np.geomspace(1.0, 1e3, 40)
        assert np.all(pure(orders, epsilon) <= orders * rho * (1 + 1e-12))
        assert rho <= epsilon**2 / 2 * (1 + 1e-12)


def test_t26_ends_of_the_range() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert conversion.zcdp_to_epsilon(0.0, 0.0) == 0.0
        assert conversion.zcdp_to_epsilon(1.0, 0.0) == math.inf
        assert conversion.zcdp_to_epsilon(math.inf, 1e-6) == math.inf
        assert conversion.pure_to_zcdp(0.0) == 0.0
        assert conversion.pure_to_zcdp(1e-200) > 0.0
        for rho in (1e-300, 1e-20, 1e-12, 1e9, 1e15):
            for delta in (1e-20, 0.1):
                assert 0.0 <= conversion.zcdp_to_epsilon(rho, delta) < math.inf


def test_arguments_outside_their_range_are_refused() -> None:
    with pytest.raises(BudgetError, match=r"expected|must"):
        conversion.zcdp_to_epsilon(-1.0, 1e-6)
    with pytest.raises(BudgetError, match=r"expected|must"):
        conversion.zcdp_to_epsilon(1.0, 2.0)
    with pytest.raises(SettingError, match=r"expected|must"):
        conversion.tcdp_to_epsilon(1.0, 1.0, 1e-6)
