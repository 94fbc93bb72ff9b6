"""The route by a perturbed objective: what is asked, and what it is the minimum of."""

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from tacit.contract.plan import Penalty, Plan
from tacit.contract.query import Answer, PerturbedMinimum, Query
from tacit.contract.sensitivity import MinimumPrice, ridge_of
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.choice import make_plan
from tacit.solvers.solver import PublicFacts, SolverOptions

RNG = np.random.default_rng(31)
N = 3000
ROWS = RNG.normal(size=(N, 2)) / 10
LABELS = (RNG.random(N) < 1 / (1 + np.exp(-ROWS @ [8.0, -5.0] - 0.4))).astype(float)
PREPARED = np.column_stack([ROWS, np.ones(N)])


def plan_of(epsilon: float = 4.0) -> Plan:
    design = matrix_design(["a", "b"], Binary("y", (0, 1)), bounds=(-1, 1), row_norm=None, intercept=True)
    budget = Budget(epsilon=epsilon, delta=1e-6)
    facts = PublicFacts(design, N, Relation.REPLACE_ONE, "row", budget, Penalty())
    return make_plan(facts, SolverOptions("objective-perturbation"))


def price_of(plan: Plan) -> MinimumPrice:
    (price,) = (step.price for step in plan.steps if isinstance(step.price, MinimumPrice))
    return price


def minimiser(rows: NDArray[np.float64], weight: NDArray[np.float64], ridge: float) -> NDArray[np.float64]:
    def value(theta: NDArray[np.float64]) -> float:
        z = rows @ theta
        losses = weight @ (np.logaddexp(0, z) - LABELS * z)
        return float(losses + ridge / 2 * theta @ theta)

    found = optimize.minimize(value, np.zeros(rows.shape[1]), method="BFGS", options={"gtol": 1e-6})
    return np.asarray(found.x)


class NoiselessGate:
    """Answers from a public table, without noise, and remembers what it was asked."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.asked: list[Query] = []

    def ask(self, query: Query) -> Answer:
        self.asked.append(query)
        assert isinstance(query, PerturbedMinimum)
        ridge = ridge_of(price_of(self.plan), query.clip, query.loss)
        return Answer(minimiser(PREPARED, np.ones(N), ridge), 7.0)


def test_one_minimum_is_asked_for() -> None:
    plan = plan_of()
    gate = NoiselessGate(plan)
    solution = plan.solver.run(gate, plan)
    theta, sandwich = solution.theta, solution.sandwich
    (query,) = gate.asked
    assert isinstance(query, PerturbedMinimum)
    assert query.clip == plan.design.row_norm
    assert sandwich is None
    ridge = ridge_of(price_of(plan), query.clip, query.loss)
    np.testing.assert_allclose(theta, minimiser(PREPARED, np.ones(N), ridge), atol=1e-4)
