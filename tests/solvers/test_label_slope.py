"""The length of two labels' margins: asked for where nothing holds them, and found near separation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression as Exact

import tacit
from tacit.contract.plan import Plan
from tacit.contract.purpose import Purpose
from tacit.privacy.budget import Budget
from tacit.solvers.label_slope import averaged, expected_moments
from tacit.solvers.label_slope_rules import LABEL_SLOPE


def planned(n: int = 4000, d: int = 6, **settings: Any) -> Plan:
    given = {"epsilon": 1.0, "bounds": (-1, 1), "classes": (0, 1), **settings}
    return tacit.LogisticRegression(**given).plan(n, d)


def asks(plan: Plan) -> bool:
    return any(step.purpose is Purpose.SLOPE for step in plan.steps)


def test_a_usual_fit_asks_for_the_length_within_its_budget() -> None:
    plan = planned()
    assert plan.steps[-1].purpose is Purpose.SLOPE
    assert plan.steps[-1].times == LABEL_SLOPE.rounds
    assert plan.guarantee().epsilon <= 1.0


@pytest.mark.parametrize(
    "settings",
    [
        {"l2": 0.1},
        {"radius": 2.0},
        {"iterations": 9},
        {"inference": True},
        {"relation": "add-remove", "n_at_least": 3000},
        {"classes": (0, 1, 2)},
    ],
)
def test_what_holds_slopes_or_hides_the_number_of_records_asks_for_none(settings: dict[str, Any]) -> None:
    assert not asks(planned(**settings))


def test_a_large_and_a_faint_table_ask_for_none() -> None:
    assert not asks(planned(n=2_000_000, d=20))
    assert not asks(planned(n=400))


def margins_of(size: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (4000, 6))
    slopes = rng.standard_normal(6)
    y = (rng.logistic(size=4000) < X @ (size * slopes / np.linalg.norm(slopes))).astype(int)
    return X, y


@pytest.mark.parametrize("size", [4.0, 30.0])
def test_margins_are_as_long_as_without_privacy(size: float) -> None:
    """Seeded, 6 fits of μ = 2 each; before this query margins of a size of 30 ended at 0.3 to 0.4 of their length."""
    X, y = margins_of(size, 5)
    exact = Exact(C=1e8, max_iter=2000).fit(X, y).coef_[0]
    found = []
    for seed in range(6):
        model = tacit.LogisticRegression(budget=Budget(mu=2.0), bounds=(-1, 1), classes=(0, 1), random_state=seed)
        found.append(float(model.fit(X, y).coef_[0] @ exact / (exact @ exact)))
    assert 0.85 < np.mean(found) < 1.15


@pytest.mark.parametrize(("mean", "spread"), [(0.0, 1.0), (-2.0, 0.7), (0.5, 12.0)])
def test_the_curvature_is_that_of_normal_margins(mean: float, spread: float) -> None:
    def density(p: float) -> float:
        q = 1 / (1 + np.exp(-abs(p)))
        return float(q * (1 - q) * p * np.clip(p, -1 / q, 1 / q) * norm.pdf(p, mean, spread))

    exact = quad(density, -60, 60, limit=400, points=[0.0])[0]
    assert expected_moments(mean, spread, 1.0)[0] == pytest.approx(exact, rel=0.01)


def test_sights_are_weighted_by_their_precision_and_the_prior() -> None:
    assert averaged([(1.0, 3.0)]) == (0.75, 0.25)
    assert averaged([(1.0, 1.0), (2.0, 2.0)]) == (1.25, 0.25)
    assert averaged([(1.0, np.inf), (2.0, np.inf)]) == (2.0, 0.0)
