"""Gradient descent in public coordinates: never clipped, and refused where it would go wrong."""

import math
from typing import Any

import pytest

import tacit
from tacit.contract.purpose import Purpose
from tacit.contract.query import QueryKind
from tacit.errors import SettingError
from tacit.solvers.gradient import Gradient


def planned(**settings: Any) -> Any:
    chosen = {"bounds": (-1, 1), "classes": (0, 1), "epsilon": 1.0, **settings}
    return tacit.LogisticRegression(solver="gradient", **chosen).plan(10_000, 4)


def test_the_plan_is_one_step_of_gradients() -> None:
    plan = planned()
    assert isinstance(plan.solver, Gradient)
    (step,) = plan.steps
    assert (step.kind, step.purpose) == (QueryKind.GRADIENT, Purpose.DESCENT)
    descent = plan.solver.descent
    assert (step.times, descent.clip_factor, descent.momentum) == (descent.iterations, None, 0.0)
    assert descent.step_size <= 4 / plan.design.row_norm**2 * (1 + 1e-12)


def test_a_ball_makes_the_assumed_coefficients_longer() -> None:
    free, ball = planned(), planned(radius=1000.0)
    assert ball.forecast.excess_loss > free.forecast.excess_loss
    radius = math.hypot(1000.0, 10.0 / free.design.row_norm)
    assert f"{radius:.3g}" in ball.forecast.assumption


@pytest.mark.parametrize(
    ("settings", "missing"),
    [
        ({"bounds": "private"}, "needs declared bounds"),
        ({"relation": "add-remove", "n_at_least": 100}, "needs a public n"),
    ],
)
def test_what_is_missing_is_named(settings: dict[str, Any], missing: str) -> None:
    with pytest.raises(SettingError, match=missing):
        planned(**settings)
