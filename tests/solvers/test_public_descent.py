"""Two labels of few records are fitted in the coordinates of the public bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit
from tacit.contract.plan import Plan
from tacit.planning.simulated_gate import SimulatedGate
from tacit.privacy.budget import Budget
from tacit.solvers.public_descent import PublicDescent, step_size
from tacit.solvers.public_descent_rules import PUBLIC_DESCENT

MU = 1.2


def planned(n: int = 300, d: int = 20, **settings: Any) -> Plan:
    given = {"budget": Budget(mu=MU), "bounds": (-1, 1), "classes": (0, 1), **settings}
    return tacit.LogisticRegression(**given).plan(n, d)


def rows(n: int, d: int, size: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Prepared rows, labels, and the margins of deviation `size` that made them."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(-1, 1, (n, d)), np.ones(n)])
    slopes = rng.standard_normal(d)
    margins = size * np.sqrt(3) * X[:, :-1] @ slopes / np.linalg.norm(slopes)
    return X, (rng.logistic(size=n) < margins).astype(float), margins


def solved(plan: Plan, X: np.ndarray, y: np.ndarray, seed: int | None) -> np.ndarray:
    generator = None if seed is None else np.random.default_rng(seed)
    return plan.solver.run(SimulatedGate(plan, X, y, generator), plan).theta


def test_share_moments_steps_and_length_are_asked_for_within_the_budget() -> None:
    plan = planned()
    assert plan.solver.name == "public-descent"
    assert [step.label for step in plan.steps] == ["share of labels", "second moments", "gradient descent", "slope"]
    assert plan.guarantee().mu == pytest.approx(MU, rel=1e-6)


def test_it_is_for_few_records_a_column_and_signals_between_its_ends() -> None:
    assert planned(n=123).solver.name == "whitened-gradient"
    assert planned(n=145).solver.name == "public-descent"
    assert planned(n=495).solver.name == "public-descent"
    assert planned(n=505).solver.name == "whitened-gradient"
    assert planned(n=159, d=3).solver.name == "public-descent"
    assert planned(n=161, d=3).solver.name == "whitened-gradient"
    assert planned(n=450, d=60).solver.name == "public-descent"
    assert planned(n=450, d=70).solver.name == "whitened-gradient"


@pytest.mark.parametrize(
    "settings",
    [
        {"l2": 0.1},
        {"radius": 3.0},
        {"fit_intercept": False},
        {"iterations": 3},
        {"classes": (0, 1, 2)},
        {"max_rows_per_unit": 3},
        {"relation": "add-remove", "n_at_least": 250},
        {"solver": "whitened-gradient"},
    ],
)
def test_a_wish_a_penalty_or_another_model_keeps_what_there_was(settings: dict[str, Any]) -> None:
    assert planned(**settings).solver.name != "public-descent"


def test_without_noise_ranks_and_length_are_near_those_of_the_margins_that_made_the_labels() -> None:
    X, y, margins = rows(300, 8, 3.0, 1)
    found = X @ solved(planned(d=8), X, y, None)
    assert np.corrcoef(found, margins)[0, 1] > 0.95
    assert np.std(found) / np.std(margins) == pytest.approx(1.0, abs=0.3)


@pytest.mark.parametrize(("n", "d", "mu"), [(130, 12, 1.2), (498, 20, 1.2), (95, 3, 6.2), (700, 70, 0.85)])
def test_steps_are_stable_whatever_the_records(n: int, d: int, mu: float) -> None:
    """A curvature is at most C·row norm / 2; with momentum m steps are stable up to (2 + 2m) / (1 + 2m) over it."""
    plan = planned(n=n, d=d, budget=Budget(mu=mu))
    assert isinstance(plan.solver, PublicDescent)
    clip, momentum = PUBLIC_DESCENT.clip * plan.design.row_norm, PUBLIC_DESCENT.momentum
    largest = (2 + 2 * momentum) / (1 + 2 * momentum)
    assert step_size(plan, plan.solver.descent, clip) * clip * plan.design.row_norm / 2 < largest


@pytest.mark.parametrize("size", [1.0, 3.0])
def test_few_records_are_fitted_better_than_in_coordinates_of_second_moments(size: float) -> None:
    """Seeded, 20 fits of each on 300 records of 20 columns, log-loss on 4000 others."""
    X, y, _ = rows(4300, 20, size, 3)
    plans = planned(), planned(n=300, max_passes=200)
    assert plans[1].solver.name == "whitened-gradient"

    def loss(plan: Plan, seed: int) -> float:
        margins = X[300:] @ solved(plan, X[:300], y[:300], seed)
        return float(np.mean(np.logaddexp(0.0, margins) - y[300:] * margins))

    new, old = (np.mean([loss(plan, seed) for seed in range(20)]) for plan in plans)
    assert new < old
