"""Mills' ratio and 1 - e^-m against mpmath."""

import mpmath
import numpy as np
import pytest

from tacit.losses.mills_ratio import mills_ratio, normal_tails, one_less_exp


def exact_ratio(x: float) -> float:
    with mpmath.workdps(40):
        return float(mpmath.ncdf(-mpmath.mpf(x)) / mpmath.npdf(mpmath.mpf(x)))


@pytest.mark.parametrize("x", [0.0, 1e-9, 0.3, 1.0, 2.5, 4.0, 7.999, 20.0, 300.0])
def test_the_ratio_is_that_of_the_normal_law(x: float) -> None:
    assert mills_ratio(x) == pytest.approx(exact_ratio(x), rel=1e-15)


@pytest.mark.parametrize("z", [-8.0, -1.5, -1e-12, 0.0, 0.4, 3.0, 8.0])
def test_both_tails_are_quotients_of_the_density(z: float) -> None:
    with mpmath.workdps(40):
        density = mpmath.npdf(mpmath.mpf(z))
        expected = [density, density / mpmath.ncdf(mpmath.mpf(z)), density / mpmath.ncdf(-mpmath.mpf(z))]
    assert normal_tails(z) == pytest.approx([float(each) for each in expected], rel=1e-14)


def test_small_exponents_do_not_cancel() -> None:
    m = np.concatenate([np.geomspace(1e-300, 0.2499, 50), np.linspace(0.25, 40, 50), [0.0]])
    found = [one_less_exp(float(each)) for each in m]
    np.testing.assert_allclose(found, -np.expm1(-m), rtol=1e-15)
