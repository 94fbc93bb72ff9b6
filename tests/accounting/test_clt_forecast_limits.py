import math
import warnings

import pytest

from tacit.accounting.clt_forecast import Forecast, limit_mu
from tacit.privacy.budget import Guarantee


@pytest.mark.parametrize(
    ("rate", "noise", "steps", "claimed", "true"),
    [(0.01, 0.8, 1000, 2.51, 3.141), (0.004, 0.7, 2500, 2.07, 2.808), (0.05, 2.0, 400, 2.14, 2.247)],
)
def test_t31_the_forecast_is_below_the_truth(
    rate: float, noise: float, steps: int, claimed: float, true: float
) -> None:
    found = Forecast(limit_mu(1.0 / noise, rate, steps, poisson=True), steps).approximate_epsilon(1e-5)
    assert round(found, 2) == claimed
    assert found < true


def test_t31_a_forecast_is_no_number_and_no_guarantee() -> None:
    found = Forecast(limit_mu(1.0, 0.01, 100, poisson=True), 100)
    assert not isinstance(found, Guarantee)
    assert "not a guarantee" in str(found)
    for name in ("epsilon", "delta", "mu", "rho"):
        assert not hasattr(found, name)
    with pytest.raises(TypeError):
        float(found)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        assert found <= 1.0  # type: ignore[operator]


def test_without_replacement_follows_the_formula() -> None:
    def cdf(x: float) -> float:
        return 0.5 * math.erfc(-x / math.sqrt(2.0))

    for mu in (0.3, 1.0, 3.0):
        inside = math.exp(mu * mu) * cdf(1.5 * mu) + 3.0 * cdf(-0.5 * mu) - 2.0
        expected = math.sqrt(2.0) * 0.02 * math.sqrt(500.0 * inside)
        assert limit_mu(mu, 0.02, 500, poisson=False) == pytest.approx(expected, rel=1e-9)


def test_small_mu_keeps_its_digits() -> None:
    # Both forms are q mu sqrt(T) to first order.
    for poisson in (True, False):
        found = limit_mu(1e-6, 0.01, 10**4, poisson=poisson)
        assert found == pytest.approx(1e-6, rel=1e-5)


def test_t26_nothing_overflows_or_is_nan() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for poisson in (True, False):
            for mu in (0.0, 1e-300, 1e-6, 100.0, 1e200, math.inf):
                for rate in (0.0, 1e-9, 1.0):
                    found = limit_mu(mu, rate, 10**6, poisson=poisson)
                    assert found >= 0.0
                    assert Forecast(found, 10**6).approximate_epsilon(1e-6) >= 0.0
