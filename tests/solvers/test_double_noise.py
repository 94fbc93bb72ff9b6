"""Newton's method with double noise: where it goes without any, and that it never runs away."""

from typing import Any

import numpy as np
from scipy import special

from tacit.contract.plan import Penalty, Plan
from tacit.contract.query import KIND_OF, Answer, CurvatureTrace, DampedDirection, GradientSum, Query
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.choice import make_plan
from tacit.solvers.double_noise import damping_of
from tacit.solvers.interval_rules import DOUBLE_NOISE
from tacit.solvers.solver import PublicFacts, SolverOptions

RNG = np.random.default_rng(37)
N = 2000
ROWS = np.column_stack([RNG.uniform(-1, 1, (N, 2)), np.ones(N)])
TRUTH = np.array([1.5, -1.0, 0.3])
LABELS = (RNG.random(N) < 1 / (1 + np.exp(-ROWS @ TRUTH))).astype(float)


def plan_of(epsilon: float = 4.0, **wishes: Any) -> Plan:
    design = matrix_design(["a", "b"], Binary("y", (0, 1)), bounds=(-1, 1), row_norm=None, intercept=True)
    budget = Budget(epsilon=epsilon, delta=1e-6)
    facts = PublicFacts(design, N, Relation.REPLACE_ONE, "row", budget, Penalty())
    return make_plan(facts, SolverOptions("double-noise-newton", **wishes))


class NoiselessGate:
    """Answers from a public table, without noise, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Query] = []

    def ask(self, query: Query) -> Answer:
        self.asked.append(query)
        assert isinstance(query, GradientSum | DampedDirection | CurvatureTrace)
        share = special.expit(ROWS @ query.theta)
        if isinstance(query, GradientSum):
            return Answer(ROWS.T @ (share - LABELS), 1e-9)
        hessian = (ROWS.T * (share * (1 - share))) @ ROWS
        if isinstance(query, CurvatureTrace):
            return Answer(np.array([np.trace(hessian)]), 1e-9)
        damped = hessian + query.damping * np.eye(3)
        return Answer(np.asarray(np.linalg.solve(damped, query.gradient), dtype=np.float64), 1e-9)


def test_without_noise_the_gradient_vanishes() -> None:
    gate, plan = NoiselessGate(), plan_of(iterations=30)
    theta = plan.solver.run(gate, plan).theta
    share = 1 / (1 + np.exp(-ROWS @ theta))
    assert np.linalg.norm(ROWS.T @ (share - LABELS)) < 1e-3 * N
    np.testing.assert_allclose(theta, TRUTH, atol=0.3)
    asked = [KIND_OF[type(query)] for query in gate.asked]
    assert asked == [step.kind for step in plan.steps for _ in range(step.times)]


def test_the_damping_grows_as_the_budget_shrinks() -> None:
    """As μ^(-2/3): (tr / ρ)^⅓ in units of the squared row norm, and 1 at least."""
    found = {e: damping_of(NoiselessGate(), plan_of(e)) for e in (0.1, 1.0, 30.0)}
    assert found[0.1] > found[1.0] > found[30.0] >= plan_of().design.row_norm ** 2


def test_no_answer_makes_it_crash_or_run_away() -> None:
    """Answers of enormous size, of any sign: the iterates stay finite and within the ball."""

    class Wild(NoiselessGate):
        def ask(self, query: Query) -> Answer:
            answer = super().ask(query)
            noise = RNG.normal(size=answer.value.shape) * 10.0 ** RNG.integers(-3, 60)
            return Answer(answer.value + noise, 1.0)

    for _ in range(50):
        plan = plan_of()
        theta = plan.solver.run(Wild(), plan).theta
        assert np.linalg.norm(theta) * plan.design.row_norm <= DOUBLE_NOISE.farthest * (1 + 1e-9)
