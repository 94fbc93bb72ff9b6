"""Rounds of preconditioned steps: they arrive without noise, and no noise carries them away."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from benchmarks.newton import plan_for, truth
from tacit.contract.plan import Plan
from tacit.contract.query import Answer, GradientSum, Query, SecondMoments, Weights
from tacit.losses import classification, regression
from tacit.losses.loss import Loss
from tacit.planning.simulated_gate import SimulatedGate
from tacit.solvers.newton import Newton
from tacit.solvers.solver import SolverOptions

SOLVERS = ("newton", "majorised-newton")
LOSSES = (classification.LOGISTIC, regression.SQUARED)


def table(plan: Plan, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((plan.records, plan.design.width - 1))
    beta = truth(plan.design.width)
    linear = beta[0] + X @ beta[1:]
    labels = (rng.random(len(X)) < classification.logistic_probability(linear)).astype(float)
    numbers = np.clip((linear + rng.standard_normal(len(X))) / 20, -1, 1)
    rows = np.column_stack([np.clip(X / 10, -1, 1), np.ones(len(X))])
    return rows, labels if plan.loss.name == "logistic" else numbers


def planned(loss: Loss, solver: str, records: int = 2000, **wishes: Any) -> Plan:
    return plan_for(loss, records, 4, 1.0, SolverOptions(solver=solver, **wishes))


def working(gate: SimulatedGate, theta: Any) -> Any:
    """Coefficients in the coordinates of the gate's last gradient."""
    matrix = next(q.matrix for q in reversed(gate.asked) if isinstance(q, GradientSum))
    return np.linalg.solve(np.asarray(matrix), theta)


def rounds_of(plan: Plan) -> Newton:
    assert isinstance(plan.solver, Newton)
    return plan.solver


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("solver", SOLVERS)
def test_without_noise_the_weighed_score_vanishes(solver: str, loss: Loss) -> None:
    plan = planned(loss, solver, iterations=60, output="last")
    rows, response = table(plan, 1)
    gate = SimulatedGate(plan, rows, response, None)
    found = plan.solver.run(gate, plan)
    query = [q for q in gate.asked if isinstance(q, GradientSum)][-1]
    left = SimulatedGate(plan, rows, response, None).sums.total(replace(query, theta=working(gate, found.theta)))
    assert np.linalg.norm(left) <= 1e-6 * plan.records * loss.smoothness
    assert found.decrements[-1] <= 1e-6


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_plan_is_what_is_asked(solver: str, loss: Loss) -> None:
    plan = planned(loss, solver)
    rows, response = table(plan, 2)
    gate = SimulatedGate(plan, rows, response, np.random.default_rng(2))
    solution = plan.solver.run(gate, plan)
    assert len(gate.asked) == plan.queries
    assert len(solution.decrements) == len(rounds_of(plan).step_sizes)
    assert solution.sandwich is None
    bends = [q for q in gate.asked if isinstance(q, SecondMoments)]
    at_theta = [q for q in bends if q.weights is Weights.CURVATURE]
    expected = {"newton": len(rounds_of(plan).step_sizes), "majorised-newton": 0}
    assert len(at_theta) == expected[solver]
    assert len(bends) - len(at_theta) == (2 if solver == "majorised-newton" else 1)
    assert all(q.downweighted for q in gate.asked if isinstance(q, GradientSum))


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("records", [5, 40])
def test_t40_no_noise_breaks_a_run(solver: str, loss: Loss, records: int) -> None:
    """So few records that every answer is noise: finite results, each step within its cap."""
    plan = plan_for(loss, records, 4, 0.05, SolverOptions(solver=solver))
    for seed in range(10):
        rows, response = table(plan, seed)
        gate = SimulatedGate(plan, rows, response, np.random.default_rng(seed))
        found = plan.solver.run(gate, plan)
        assert np.isfinite(found.theta).all()


class Shouting(SimulatedGate):
    """Its gradients are a million times too large."""

    def ask(self, query: Query) -> Answer:
        answer = super().ask(query)
        return replace(answer, value=answer.value * 1e6) if type(query) is GradientSum else answer


@pytest.mark.parametrize(("loss", "spread"), [(classification.LOGISTIC, 1.0), (regression.SQUARED, 0.1)])
def test_a_step_is_no_longer_than_its_cap(loss: Loss, spread: float) -> None:
    """Three spreads of the response; that of the numbers is √3 of twenty, or about 0.09."""
    plan = planned(loss, "newton")
    gate = Shouting(plan, *table(plan, 3), np.random.default_rng(3))
    plan.solver.run(gate, plan)
    path = [q.theta for q in gate.asked if isinstance(q, GradientSum)]
    lengths = [np.linalg.norm(b - a) for a, b in pairwise(path)]
    np.testing.assert_allclose(lengths, lengths[0])
    assert 1.5 * spread <= lengths[0] <= 3 * spread * (1 + 1e-12)
