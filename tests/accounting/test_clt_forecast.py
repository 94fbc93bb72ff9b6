import math
from fractions import Fraction

import pytest

from tacit.accounting.accountants import price
from tacit.accounting.clt_forecast import Forecast, forecast
from tacit.accounting.filters import Filter
from tacit.errors import AccountingError, InputError
from tacit.privacy.budget import Budget, Guarantee
from tacit.privacy.event import Gaussian, Laplace, PoissonSampled, Repeated, SampledWithoutReplacement
from tacit.privacy.relation import Relation


@pytest.mark.parametrize(
    ("rate", "noise", "steps", "epsilon"),
    [("0.01", "0.8", 1000, 2.51), ("0.004", "0.7", 2500, 2.07), ("0.05", "2", 400, 2.14)],
)
def test_the_published_forecasts(rate: str, noise: str, steps: int, epsilon: float) -> None:
    step = PoissonSampled(Gaussian(1, Fraction(noise) ** 2), Fraction(rate))
    found = forecast([Repeated(step, steps)], relation="add-remove")
    assert found.approximate_epsilon(1e-5) == pytest.approx(epsilon, abs=0.006)


def test_plain_gaussians_are_added_as_they_are() -> None:
    assert forecast([Repeated(Gaussian(1, 100), 25)]).approximate_mu == pytest.approx(0.5)
    fixed = SampledWithoutReplacement(Gaussian(4, 4), 1, 100)
    found = forecast([fixed, Gaussian(1, 100)], relation="replace-one")
    assert found.approximate_mu > 0.1
    assert found.steps == 2


def test_t31_a_forecast_enters_no_guarantee_filter_or_price() -> None:
    found = forecast([Gaussian(1, 4)])
    assert isinstance(found, Forecast)
    assert not hasattr(found, "epsilon")
    assert "not a guarantee" in str(found)
    with pytest.raises(InputError):
        Guarantee(Relation.ADD_REMOVE, "row", found, 1e-6, None)  # type: ignore[arg-type]
    with pytest.raises(InputError):
        Filter(Budget(mu=1.0), Relation.ADD_REMOVE).amount([found])  # type: ignore[list-item]
    with pytest.raises(AccountingError, match="forecast"):
        price("gdp-clt", [Gaussian(1, 4)], delta=1e-6)
    with pytest.raises(TypeError):
        math.isfinite(found)  # type: ignore[arg-type]


def test_events_without_a_limit_are_refused_by_name() -> None:
    with pytest.raises(AccountingError, match="Laplace"):
        forecast([Laplace(1, 1)])
    with pytest.raises(AccountingError, match="PoissonSampled"):
        forecast([PoissonSampled(Gaussian(1, 1), Fraction(1, 2))], relation="replace-one")
