"""Sufficient statistics: what is planned, refused and predicted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit
from tacit.accounting.composition import compose, mu_squared_of
from tacit.contract.plan import Penalty
from tacit.contract.query import QueryKind
from tacit.design.design import matrix_design
from tacit.design.response import Binary, Continuous
from tacit.errors import SettingError
from tacit.losses import classification, regression
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers import moments
from tacit.solvers import staged_gradient as staged
from tacit.solvers.choice import make_plan
from tacit.solvers.moments import predicted_error
from tacit.solvers.solver import PublicFacts, SolverOptions


def facts(records: int = 20_000, width: int = 20, epsilon: float = 1.0, **changes: Any) -> PublicFacts:
    response = changes.pop("response", Continuous("y", -3.0, 3.0, 0.0, 3.0))
    design = matrix_design([f"x{j}" for j in range(width - 1)], response, bounds=(-1, 1), row_norm=None, intercept=True)
    chosen: dict[str, Any] = {"loss": regression.SQUARED, **changes}
    budget = Budget(epsilon=epsilon, delta=1e-6)
    return PublicFacts(design, records, Relation.REPLACE_ONE, "row", budget, Penalty(), **chosen)


def test_one_gradient_follows_the_looks_within_the_budget() -> None:
    known = facts()
    plan = make_plan(known, SolverOptions(solver="moments"))
    assert plan.solver.name == "moments"
    assert [step.times for step in plan.steps if step.kind is QueryKind.GRADIENT] == [1]
    allowed = mu_squared_of(known.budget)
    assert 0.999 * allowed < compose(plan.events()).mu_squared <= allowed


@pytest.mark.parametrize("wishes", [{"iterations": 3}, {"step_size": 0.5}])
def test_it_takes_no_steps(wishes: dict[str, Any]) -> None:
    with pytest.raises(SettingError, match="takes no steps"):
        make_plan(facts(), SolverOptions(solver="moments", **wishes))


@pytest.mark.parametrize("inference", [False, True])
def test_it_is_for_squared_loss_alone(inference: bool) -> None:
    for known in (facts(loss=regression.huber(0.3)), facts(loss=classification.LOGISTIC, response=Binary("y", (0, 1)))):
        with pytest.raises(SettingError, match="LinearRegression"):
            make_plan(known, SolverOptions(solver="moments", inference=inference))


def test_it_has_no_intervals_and_says_so() -> None:
    with pytest.raises(SettingError, match="no intervals"):
        make_plan(facts(), SolverOptions(solver="moments", inference=True))


def test_it_is_chosen_where_passes_allow_no_more() -> None:
    known = facts()
    few = make_plan(known, SolverOptions(solver="moments")).queries
    assert make_plan(known, SolverOptions()).solver.name == "staged-gradient"
    assert make_plan(known, SolverOptions(max_passes=few)).solver.name == "moments"


@pytest.mark.parametrize("epsilon", [0.3, 3.0])
def test_the_smaller_predicted_error_is_the_smaller_measured_one(epsilon: float) -> None:
    rng = np.random.default_rng(5)
    X = rng.uniform(-0.4, 0.4, (20_000, 19))
    signal = X @ rng.standard_normal(19)
    y = signal + signal.std() * rng.standard_normal(len(X))
    found = {}
    for solver in ("auto", "moments"):
        model = tacit.LinearRegression(
            epsilon=epsilon, delta=1e-6, bounds=(-1, 1), y_bounds=(-6, 6), solver=solver, random_state=1
        ).fit(X, y)
        found[solver] = np.mean((model.predict(X) - signal) ** 2) / y.var()
    known = facts(epsilon=epsilon)
    allowed = mu_squared_of(known.budget)
    once = predicted_error(known, moments.plan(known, SolverOptions(), allowed))
    stages = predicted_error(known, staged.plan(known, SolverOptions(), allowed))
    assert (stages < once) == (found["auto"] < found["moments"])
    assert (make_plan(known, SolverOptions()).solver.name == "moments") == (once < stages)
    assert found["moments"] < 3 * once + 0.01
