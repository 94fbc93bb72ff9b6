"""Which fits end with Newton steps, and what is reserved for them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.accounting.composition import compose, mu_squared_of
from tacit.contract.query import QueryKind
from tacit.solvers.newton_polish import NewtonPolish

LARGE = 10**6, 20


def planned(n: int, d: int, epsilon: float = 1.0, **settings: Any) -> Any:
    settings = {"classes": (0, 1), **settings}
    return tacit.LogisticRegression(epsilon=epsilon, bounds=(-1, 1), **settings).plan(n, d)


def test_large_tables_with_little_noise_end_with_newton_steps() -> None:
    plan = planned(*LARGE)
    assert [(step.kind, step.label) for step in plan.steps] == [
        (QueryKind.SECOND_MOMENTS, "second moments"),
        (QueryKind.GRADIENT, "gradient descent"),
        (QueryKind.SECOND_MOMENTS, "curvature"),
        (QueryKind.GRADIENT, "Newton's steps"),
    ]
    assert isinstance(plan.solver, NewtonPolish)
    assert plan.steps[-1].times == plan.solver.newton_steps


def test_the_descent_reads_a_part() -> None:
    assert planned(*LARGE).solver.descent.one_in > 1
    private = planned(*LARGE, relation="add-remove", n_at_least=LARGE[0])
    assert isinstance(private.solver, NewtonPolish)
    assert private.solver.descent.one_in > 1


@pytest.mark.parametrize(
    "settings",
    [
        {"classes": (0, 1, 2)},
        {"l2": 0.1},
        {"radius": 1.0},
        {"iterations": 5},
        {"step_size": 1.0},
        {"max_passes": 10},
        {"output": "last"},
        {"solver": "whitened-gradient"},
    ],
)
def test_a_wish_a_penalty_or_more_classes_keep_to_the_descent(settings: dict[str, Any]) -> None:
    assert not isinstance(planned(*LARGE, **settings).solver, NewtonPolish)


def test_small_tables_and_small_budgets_keep_to_the_descent() -> None:
    assert not isinstance(planned(4 * 10**5, 20, epsilon=8.0).solver, NewtonPolish)
    assert not isinstance(planned(*LARGE, epsilon=1e-3).solver, NewtonPolish)


@given(st.floats(0.1, 20), st.sampled_from(["replace-one", "zero-out"]))
def test_the_plan_stays_within_its_budget(epsilon: float, relation: str) -> None:
    plan = planned(*LARGE, epsilon=epsilon, relation=relation)
    square = compose(plan.events(), plan.relation).square
    assert square is not None
    assert square <= mu_squared_of(plan.budget)
