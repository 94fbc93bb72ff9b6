"""The budget of a trial. Oracle: Papernot and Steinke's bounds, summed by hand on a fine grid of orders."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tacit.accounting.best_of_runs import require_few_runs, search_events
from tacit.accounting.composition import compose
from tacit.errors import BudgetError, SettingError
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian, NegativeBinomial, PoissonRuns, Pure, RunCountLaw

LAWS: list[RunCountLaw] = [
    PoissonRuns(10),
    NegativeBinomial(1, Fraction(1, 10)),
    NegativeBinomial(0, Fraction(1, 50)),
    NegativeBinomial(Fraction(-1, 2), Fraction(1, 100)),
]


def by_hand(mu: float, eta: float, gamma: float, delta: float) -> float:
    """ε at δ of Theorem 2 by the improved conversion, over a grid of orders: an upper bound of the best over all."""
    orders = 1 + np.geomspace(1e-2, 1e3, 4000)
    curve = orders * mu**2 / 2
    mean = (1 / gamma - 1) / math.log(1 / gamma) if eta == 0 else eta * (1 / gamma - 1) / (1 - gamma**eta)
    inner = np.min((1 - 1 / orders) * curve + math.log(1 / gamma) / orders)
    total = curve + (1 + eta) * inner + math.log(mean) / (orders - 1)
    epsilons = total + np.log1p(-1 / orders) - (math.log(delta) + np.log(orders)) / (orders - 1)
    return float(np.min(epsilons))


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("ratio", [None, Fraction(2)])
def test_the_search_is_within_the_budget_and_uses_it(law: RunCountLaw, ratio: Fraction | None) -> None:
    found = search_events(Budget(epsilon=1.0, delta=1e-6), law, ratio)
    stated = compose(found.events(), "replace-one").epsilon(1e-6)
    assert 0.999 < stated <= 1.0
    assert (found.refit is None) == (ratio is None)


@pytest.mark.parametrize("law", LAWS[1:], ids=str)
def test_trial_as_by_hand(law: RunCountLaw) -> None:
    found = search_events(Budget(epsilon=1.0, delta=1e-6), law)
    assert isinstance(found.trial, Gaussian)
    assert isinstance(law, NegativeBinomial)
    mu = math.sqrt(found.trial.mu_squared)
    assert by_hand(mu, float(law.shape), float(law.gamma), 1e-6) == pytest.approx(1.0, rel=0.01)


def test_pure_search_costs_two_plus_shape() -> None:
    found = search_events(Budget(epsilon=3.0, delta=0), NegativeBinomial(1, Fraction(1, 10)))
    assert isinstance(found.trial, Pure)
    assert found.trial.epsilon == 1
    assert compose(found.events()).epsilon(0.0) <= 3.0


@pytest.mark.parametrize("budget", [Budget(mu=1.0), Budget(rho=1.0), Budget(epsilon=math.inf), Budget(epsilon=1.0)])
def test_budgets_without_epsilon_and_delta_are_refused(budget: Budget) -> None:
    with pytest.raises(BudgetError, match="epsilon"):
        search_events(budget, LAWS[0])


def test_pure_poisson_is_refused() -> None:
    with pytest.raises(BudgetError, match="geometric"):
        search_events(Budget(epsilon=1.0, delta=0), PoissonRuns(5))


@pytest.mark.parametrize(
    "law", [PoissonRuns(10**5), NegativeBinomial(1, Fraction(1, 10**5)), NegativeBinomial(10**5, Fraction(1, 2))]
)
def test_too_many_runs_are_refused(law: RunCountLaw) -> None:
    with pytest.raises(SettingError, match="too many"):
        require_few_runs(law)
