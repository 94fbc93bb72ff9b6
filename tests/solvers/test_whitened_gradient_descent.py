"""Solvers see a gate and nothing else; with a noiseless gate they solve the problem."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.contract.plan import Penalty, Plan
from tacit.contract.query import KIND_OF, Answer, GradientSum, Query, SecondMoments
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.choice import make_plan
from tacit.solvers.exact import minimise
from tacit.solvers.noisy_steps import Descent
from tacit.solvers.solver import PublicFacts, SolverOptions

RNG = np.random.default_rng(15)
ROWS = RNG.uniform(-1, 1, (4000, 3)) * [1.0, 0.3, 0.1]
LABELS = (RNG.random(4000) < 1 / (1 + np.exp(-ROWS @ [1.0, -2.0, 3.0]))).astype(float)
PREPARED = np.column_stack([ROWS, np.ones(4000)])


class NoiselessGate:
    """Answers from a public table, without noise, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Query] = []

    def ask(self, query: Query) -> Answer:
        assert isinstance(query, GradientSum | SecondMoments)
        self.asked.append(query)
        rows = PREPARED if query.matrix is None else PREPARED @ query.matrix
        if isinstance(query, GradientSum):
            slopes = 1 / (1 + np.exp(-rows @ query.theta)) - LABELS
            norms = np.abs(slopes) * np.linalg.norm(rows, axis=1)
            return Answer(rows.T @ (slopes * np.minimum(1, query.clip / norms)), 1e-9)
        weights = np.ones(len(rows))
        if query.theta is not None:
            probability = 1 / (1 + np.exp(-rows @ query.theta))
            weights = 4 * probability * (1 - probability)
        shrunk = rows / np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True) / query.row_bound)
        return Answer((shrunk.T * weights) @ shrunk, 1e-9)


def plan_of(wishes: SolverOptions, penalty: Penalty | None = None, epsilon: float = 8.0) -> Plan:
    design = matrix_design(["a", "b", "c"], Binary("y", (0, 1)), bounds=(-1, 1), row_norm=None, intercept=True)
    budget = Budget(epsilon=epsilon, delta=1e-6)
    facts = PublicFacts(design, 4000, Relation.REPLACE_ONE, "row", budget, penalty or Penalty())
    return make_plan(facts, wishes)


def mean_loss(theta: NDArray[np.float64]) -> float:
    margins = PREPARED @ theta
    return float(np.mean(np.logaddexp(0, margins) - LABELS * margins))


def best() -> NDArray[np.float64]:
    return minimise(NoiselessGate(), plan_of(SolverOptions(), epsilon=math.inf))


@pytest.mark.parametrize("solver", ["gradient", "whitened-gradient"])
@pytest.mark.parametrize("output", ["average", "tail", "last"])
def test_without_noise_descent_arrives(solver: str, output: str) -> None:
    plan = plan_of(SolverOptions(solver, output, iterations=None if solver != "gradient" else 1000))
    gate = NoiselessGate()
    theta = plan.solver.run(gate, plan).theta
    excess = mean_loss(theta) - mean_loss(best())
    assert excess < (0.02 if output == "average" else 0.003)
    assert len(gate.asked) == plan.queries


def test_queries_are_the_plans_and_their_number_is_public() -> None:
    plan = plan_of(SolverOptions(iterations=7))
    gate = NoiselessGate()
    plan.solver.run(gate, plan)
    kinds = [str(KIND_OF[type(query)]) for query in gate.asked]
    assert kinds == ["second-moments"] * 3 + ["gradient"] * 7


def test_outputs_average_the_iterates_they_name() -> None:
    def first(output: str, iterations: int, averaged: float = 0.5) -> int:
        return Descent(iterations, 1.0, 0.0, None, output, averaged).first_averaged

    assert [first(output, 10) for output in ("average", "tail", "last")] == [0, 5, 9]
    assert [first(output, 1) for output in ("average", "tail", "last")] == [0, 0, 0]
    assert [first("tail", 12, 0.75), first("tail", 7, 3 / 7)] == [3, 4]


def slopes_of(plan: Plan) -> NDArray[np.float64]:
    theta = plan.solver.run(NoiselessGate(), plan).theta
    return np.asarray((plan.design.to_user() @ theta)[1:])


def test_radius_and_prior_mean() -> None:
    ball = plan_of(SolverOptions("gradient"), Penalty(radius=0.5))
    slopes = slopes_of(ball)
    assert np.linalg.norm(slopes) <= 0.5 * (1 + 1e-9)
    strong = plan_of(SolverOptions(), Penalty(l2=1e4, prior_mean=(0.3, -0.2, 0.1)))
    slopes = slopes_of(strong)
    np.testing.assert_allclose(slopes, [0.3, -0.2, 0.1], atol=1e-3)


def test_newton_respects_penalty_and_ball() -> None:
    free = best()
    assert np.abs(_gradient(free)).max() < 1e-8
    inside = plan_of(SolverOptions(), Penalty(radius=1.0), epsilon=math.inf)
    slopes = minimise(NoiselessGate(), inside)[:3]
    assert math.isclose(np.linalg.norm(slopes), 1.0, rel_tol=1e-6)
    loose = replace(inside, penalty=Penalty(radius=100.0))
    np.testing.assert_allclose(minimise(NoiselessGate(), loose), free, atol=1e-9)


def _gradient(theta: NDArray[np.float64]) -> NDArray[np.float64]:
    slopes = 1 / (1 + np.exp(-PREPARED @ theta)) - LABELS
    return np.asarray(PREPARED.T @ slopes / len(PREPARED))
