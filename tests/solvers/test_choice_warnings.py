"""n·μ/d, and what a user is told where it is small."""

import warnings
from fractions import Fraction
from typing import Any

import pyarrow as pa
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


@pytest.mark.parametrize(("mu", "warned"), [(0.055, True), (0.057, False)])
def test_intervals_that_will_not_be_offered_are_told(mu: float, warned: bool) -> None:
    """n·μ/d is 14·√d at μ = 0.056 for n = 2000 and d = 4."""
    model = tacit.LogisticRegression(budget=Budget(mu=mu), bounds=(0, 1), classes=(0, 1), inference=True)
    texts = plan_warnings(model.plan(2000, 3))
    assert any("will not be offered" in text for text in texts) is warned


def test_without_noise_nothing_is_warned_of() -> None:
    model = tacit.LogisticRegression(epsilon=float("inf"), bounds=(0, 1), classes=(0, 1))
    assert plan_warnings(model.plan(10, 3)) == ()


@pytest.mark.parametrize(("solver", "warned"), [("gradient", True), ("auto", False)])
def test_short_steps_of_descent_for_amounts_are_told(solver: str, warned: bool) -> None:
    table = pa.table({"x": [0.1, 0.5, 0.9] * 3000, "y": [40.0, 2000.0, 300.0] * 3000})
    bounds = [("x", 0, 1), ("y", 1, 100_000)]
    columns = {name: {"type": "numeric", "lower": low, "upper": high} for name, low, high in bounds}
    schema = tacit.Schema.from_mapping({"columns": columns})
    given: dict[str, Any] = {"epsilon": 2.0, "delta": 1e-6, "solver": solver, "inference": False}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tacit.glm("y ~ x", table, schema, "gamma", **given)
    assert any("far from the minimum" in str(each.message) for each in caught) is warned
