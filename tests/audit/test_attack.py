"""What an attack is made of."""

import pytest

from tacit.accounting import gaussian
from tacit.audit.attack import DELTA, Subject, approximate_budget


@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
def test_what_has_no_mu_is_given_the_epsilon_of_mu(mu: float) -> None:
    budget = approximate_budget(mu)
    assert budget.delta == DELTA
    assert budget.epsilon is not None
    assert gaussian.delta(budget.epsilon, mu) <= DELTA
    assert budget.epsilon == pytest.approx(gaussian.epsilon(mu, DELTA))


def test_subjects_are_words() -> None:
    assert [str(subject) for subject in Subject] == ["estimator", "solver", "mechanism"]
