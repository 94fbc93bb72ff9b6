"""The route by a perturbed objective: what is asked, and that the ridge is taken off."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize

from tacit.contract.plan import Penalty, Plan
from tacit.contract.query import Answer, ColumnCounts, CurvatureAndScore, PerturbedMinimum, Query, SecondMoments
from tacit.contract.sensitivity import MinimumPrice, ridge_of
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.errors import SettingError
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.choice import make_plan
from tacit.solvers.solver import PublicFacts, SolverOptions

RNG = np.random.default_rng(31)
N = 3000
ROWS = RNG.normal(size=(N, 2)) / 10
LABELS = (RNG.random(N) < 1 / (1 + np.exp(-ROWS @ [8.0, -5.0] - 0.4))).astype(float)
STORED = np.column_stack([ROWS, LABELS])
PREPARED = np.column_stack([ROWS, np.ones(N)])


def plan_of(inference: bool, epsilon: float = 4.0) -> Plan:
    design = matrix_design(["a", "b"], Binary("y", (0, 1)), bounds=(-1, 1), row_norm=None, intercept=True)
    budget = Budget(epsilon=epsilon, delta=1e-6)
    facts = PublicFacts(design, N, Relation.REPLACE_ONE, "row", budget, Penalty())
    return make_plan(facts, SolverOptions("objective-perturbation", inference=inference))


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
        if isinstance(query, ColumnCounts):
            cells = np.column_stack([PREPARED, LABELS])[:, list(query.columns)]
            return Answer(((cells > query.lower) & (cells <= query.upper)).sum(axis=0) * 1.0, 1e-9)
        assert isinstance(query, SecondMoments | PerturbedMinimum | CurvatureAndScore)
        rows = PREPARED if query.matrix is None else PREPARED @ query.matrix
        if isinstance(query, SecondMoments):
            return Answer(rows.T @ rows, 1e-9)
        bound = query.clip if isinstance(query, PerturbedMinimum) else query.row_bound
        weight = np.minimum(1.0, bound**2 / np.square(rows).sum(axis=1))
        if isinstance(query, PerturbedMinimum):
            ridge = ridge_of(price_of(self.plan), query.clip, query.loss)
            return Answer(minimiser(rows, weight, ridge), 7.0)
        share = 1 / (1 + np.exp(-rows @ query.theta))
        bread = (rows.T * (weight * 4 * share * (1 - share))) @ rows
        filling = (rows.T * np.square(weight * (share - LABELS))) @ rows
        return Answer(np.stack([bread, filling]), 1e-9)


def test_without_intervals_one_minimum_is_asked_for() -> None:
    plan = plan_of(inference=False)
    gate = NoiselessGate(plan)
    solution = plan.solver.run(gate, plan)
    theta, sandwich = solution.theta, solution.sandwich
    (query,) = gate.asked
    assert isinstance(query, PerturbedMinimum)
    assert query.clip == plan.design.row_norm
    assert sandwich is None
    ridge = ridge_of(price_of(plan), query.clip, query.loss)
    np.testing.assert_allclose(theta, minimiser(PREPARED, np.ones(N), ridge), atol=1e-4)


def test_with_intervals_the_ridge_is_taken_off_again() -> None:
    """The debiased point is nearer to the minimiser without ridge than a tenth of the ridge's pull.

    Nothing here is random: answers have no noise.
    """
    plan = plan_of(inference=True)
    gate = NoiselessGate(plan)
    solution = plan.solver.run(gate, plan)
    theta, sandwich = solution.theta, solution.sandwich
    minimum = next(query for query in gate.asked if isinstance(query, PerturbedMinimum))
    assert minimum.matrix is not None
    rows = PREPARED @ minimum.matrix
    weight = np.minimum(1.0, minimum.clip**2 / np.square(rows).sum(axis=1))
    ridge = ridge_of(price_of(plan), minimum.clip, minimum.loss)
    free, pulled = minimiser(rows, weight, 0.0), minimiser(rows, weight, ridge)
    pull = np.linalg.norm(pulled - free)
    assert pull > 1e-4
    found = np.linalg.solve(minimum.matrix, theta)
    assert np.linalg.norm(found - free) < pull / 10
    assert sandwich is not None
    assert math.isclose(sandwich.step_noise, 7.0 / N, rel_tol=1e-3)
    share = 1 / (1 + np.exp(-rows @ pulled))
    curvature = (rows.T * (weight * share * (1 - share))) @ rows / N
    np.testing.assert_allclose(sandwich.curvature, curvature, rtol=1e-3, atol=1e-5)


def test_the_noise_that_hides_the_computation_is_in_the_variance() -> None:
    """Where it is not small beside the linear noise, the stated noise grows."""
    plan = plan_of(inference=True)

    class Quiet(NoiselessGate):
        def ask(self, query: Query) -> Answer:
            answer = super().ask(query)
            noise = 0.0 if isinstance(query, PerturbedMinimum) else answer.noise_scale
            return Answer(answer.value, noise)

    sandwich = plan.solver.run(Quiet(plan), plan).sandwich
    assert sandwich is not None
    assert 0 < sandwich.step_noise < 1e-6


def test_a_plan_without_a_minimum_is_refused() -> None:
    plan = plan_of(inference=True)
    from dataclasses import replace

    bare = replace(plan, steps=tuple(s for s in plan.steps if not isinstance(s.price, MinimumPrice)))
    with pytest.raises(SettingError, match="no perturbed minimum"):
        bare.solver.run(NoiselessGate(plan), bare)
