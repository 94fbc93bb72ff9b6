"""Where slopes would be noise, a level alone is planned: also for two labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit
from tacit.contract.plan import LEVEL_ONLY
from tacit.privacy.budget import Budget
from tacit.solvers.choice import plan_warnings


def planned(n: int, d: int, **settings: Any) -> Any:
    settings = {"classes": (0, 1), "budget": Budget(mu=0.1), **settings}
    return tacit.LogisticRegression(bounds=(-1, 1), **settings).plan(n, d)


def test_labels_have_slopes_from_an_evidence_of_one_a_column() -> None:
    assert planned(190, 19).solver.name == "level"
    assert planned(210, 19).solver.name == "whitened-gradient"


def test_the_level_of_labels_is_one_count_with_the_whole_budget() -> None:
    plan = planned(100, 19)
    assert [step.label for step in plan.steps] == ["share of labels"]
    assert plan.guarantee().mu == pytest.approx(0.1, rel=1e-6)


@pytest.mark.parametrize("settings", [{"l2": 0.1}, {"fit_intercept": False}, {"iterations": 3}, {"classes": (0, 1, 2)}])
def test_a_wish_or_a_penalty_keeps_the_slopes(settings: dict[str, Any]) -> None:
    assert planned(100, 19, **settings).solver.name != "level"


def test_the_share_of_labels_is_found_and_slopes_are_zero() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.uniform(-1, 1, (4000, 499)), (rng.random(4000) < 0.3).astype(int)
    model = tacit.LogisticRegression(budget=Budget(mu=0.1), bounds=(-1, 1), classes=(0, 1), random_state=1)
    with pytest.warns(UserWarning, match="Only the level of the response is released"):
        model.fit(X, y)
    assert not model.coef_.any()
    assert model.predict_proba(X[:1])[0, 1] == pytest.approx(0.3, abs=0.015)


@pytest.mark.parametrize(
    ("model", "n"),
    [
        (tacit.LinearRegression(epsilon=0.1, bounds=(0, 1), y_bounds=(0, 1)), 300),
        (tacit.PoissonRegressor(epsilon=0.1, bounds=(0, 1), y_max=10), 300),
    ],
)
def test_a_level_says_so_before_anything_is_spent(model: Any, n: int) -> None:
    """In the plan, as a warning, and in the summary: from public facts alone."""
    plan = model.plan(n, 3)
    assert plan.level_only
    assert LEVEL_ONLY in str(plan)
    assert LEVEL_ONLY in plan._repr_html_()
    assert any(text.startswith(LEVEL_ONLY) for text in plan_warnings(plan))
    X = np.random.default_rng(0).uniform(0, 1, (n, 3))
    with pytest.warns(UserWarning, match="Only the level of the response|small for this table"):
        model.fit(X, np.round(X[:, 0]))
    assert LEVEL_ONLY in model.summary().notes


def test_slopes_that_are_released_are_no_level() -> None:
    plan = tacit.LinearRegression(epsilon=1.0, bounds=(0, 1), y_bounds=(0, 1)).plan(20_000, 3)
    assert not plan.level_only
    assert LEVEL_ONLY not in str(plan)
