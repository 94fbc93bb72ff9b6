"""n·μ/d, and what a user is told where it is small."""

from fractions import Fraction

import pytest

import tacit
from tacit.contract.plan import Penalty, signal
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.choice import plan_warnings
from tacit.solvers.solver import PublicFacts


def test_the_signal_is_records_times_mu_over_coefficients() -> None:
    design = matrix_design(["a", "b", "c"], Binary("y", (0, 1)), bounds=(0, 1), row_norm=None, intercept=True)
    facts = PublicFacts(design, 2000, Relation.REPLACE_ONE, "row", Budget(mu=0.5), Penalty())
    assert facts.signal(Fraction(1, 4)) == signal(2000, 0.5, 4) == 250.0
    assert facts.n_mu(Fraction(1, 4)) == 1000.0


@pytest.mark.parametrize(("mu", "warned"), [(0.0149, True), (0.0151, False)])
def test_a_small_budget_is_warned_of(mu: float, warned: bool) -> None:
    """n·μ/√d is 15 at μ = 0.015 for n = 2000 and d = 4."""
    model = tacit.LogisticRegression(budget=Budget(mu=mu), bounds=(0, 1), classes=(0, 1))
    assert bool(plan_warnings(model.plan(2000, 3))) is warned


@pytest.mark.parametrize(("mu", "warned"), [(0.049, True), (0.051, False)])
def test_intervals_that_will_not_be_offered_are_told(mu: float, warned: bool) -> None:
    """n·μ/d is 25 at μ = 0.05 for n = 2000 and d = 4."""
    model = tacit.LogisticRegression(budget=Budget(mu=mu), bounds=(0, 1), classes=(0, 1), inference=True)
    texts = plan_warnings(model.plan(2000, 3))
    assert any("will not be offered" in text for text in texts) is warned


def test_without_noise_nothing_is_warned_of() -> None:
    model = tacit.LogisticRegression(epsilon=float("inf"), bounds=(0, 1), classes=(0, 1))
    assert plan_warnings(model.plan(10, 3)) == ()
