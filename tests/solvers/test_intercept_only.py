"""Where slopes would be noise, a level alone is planned: also for two labels."""

from __future__ import annotations

import warnings
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.contract.plan import LEVEL_ONLY
from tacit.privacy.budget import Budget
from tacit.solvers.choice import plan_warnings
from tacit.solvers.intercept_only import pulled


def planned(n: int, d: int, **settings: Any) -> Any:
    settings = {"classes": (0, 1), "budget": Budget(mu=0.1), **settings}
    return tacit.LogisticRegression(bounds=(-1, 1), **settings).plan(n, d)


def test_wide_tables_and_units_of_several_rows_have_slopes_of_labels_from_an_evidence_of_one_a_column() -> None:
    assert planned(190, 19).solver.name == "label-direction"
    assert planned(1990, 199).solver.name == "level"
    assert planned(2010, 199).solver.name == "whitened-gradient"
    assert planned(190, 19, max_rows_per_unit=3).solver.name == "level"


def test_the_level_of_labels_is_one_count_with_the_whole_budget() -> None:
    plan = planned(1000, 199)
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


NORMAL = np.array([NormalDist().inv_cdf((k + 0.5) / 2000) for k in range(2000)])


def squared_error(n_mu: float, gap: float) -> float:
    """Mean squared error of a pulled mean of the range [0, 1], a `gap` from the middle, by quantiles of its noise."""
    seen = np.clip(0.5 + gap + NORMAL / n_mu, 0.0, 1.0)
    found = np.array([pulled(float(x), 1 / n_mu, 0.0, 1.0) for x in seen])
    return float(np.mean((found - 0.5 - gap) ** 2))


@pytest.mark.parametrize("deviation", [0.125, 0.2, 0.29, 0.5])
@pytest.mark.parametrize("more", [1.0, 1.5, 3.0])
def test_where_the_noise_is_a_fifth_of_the_deviation_a_level_costs_little(deviation: float, more: float) -> None:
    """R² of the level alone is -E(level - mean)² / deviation²; it may be -.05 where n·μ ≥ 5·range/deviation."""
    n_mu = 5 * more / deviation
    gaps = np.linspace(0.0, np.sqrt(0.25 - deviation**2), 12)
    largest = max(squared_error(n_mu, gap) for gap in gaps.tolist()) / deviation**2
    # Where the noise is just a fifth, a mean two or three noises from the middle is pulled too far.
    assert largest <= (0.075 if more == 1.0 else 0.05)


@pytest.mark.parametrize(("n_mu", "deviation"), [(1.0, 0.1), (2.0, 0.02), (12.0, 0.29), (20.0, 0.2), (30.0, 0.125)])
def test_a_mean_near_the_middle_is_pulled_to_it(n_mu: float, deviation: float) -> None:
    for gap in (0.0, 0.2 * deviation):
        assert squared_error(n_mu, gap) / deviation**2 <= 0.05


@pytest.mark.parametrize(("n_mu", "deviation"), [(1.0, 0.1), (2.0, 0.05), (12.0, 0.29), (20.0, 0.2), (30.0, 0.125)])
def test_elsewhere_predictions_are_hardly_worse_than_the_better_of_middle_and_mean(
    n_mu: float, deviation: float
) -> None:
    for gap in np.linspace(0.2 * deviation, np.sqrt(0.25 - deviation**2), 12).tolist():
        better = deviation**2 + min(gap**2, n_mu**-2)
        assert deviation**2 + squared_error(n_mu, gap) <= 1.16 * better


def test_a_mean_without_noise_is_what_it_is_and_one_of_noise_alone_is_the_middle() -> None:
    assert pulled(0.7, 0.0, 0.0, 1.0) == 0.7
    assert pulled(1.7, 0.0, 0.0, 1.0) == 1.0
    assert pulled(0.9, 0.5, 0.0, 1.0) == 0.5
    assert pulled(0.5, 0.1, 0.0, 1.0) == 0.5
    assert pulled(9.0, 0.01, 0.0, 1.0) == 1.0
    assert pulled(1.0, 1 / 3, 0.0, 1.0) == 0.5


@pytest.mark.parametrize("share", [0.2, 0.8])
def test_a_tail_that_the_median_hides_is_seen(share: float) -> None:
    """Of 0/1 responses the median is one of them: the mean of the range tells of the others. Seeded, 40 fits."""
    rng = np.random.default_rng(5)
    X, y = rng.uniform(-1, 1, (600, 1)), (rng.random(600) < share).astype(float)
    errors = []
    for seed in range(40):
        model = tacit.LinearRegression(budget=Budget(mu=0.1), bounds=(-1, 1), y_bounds=(0, 1), random_state=seed)
        with pytest.warns(UserWarning, match="Only the level"):
            model.fit(X, y)
        errors.append((float(model.intercept_) - y.mean()) ** 2)
    assert np.mean(errors) / y.var() < 0.05


def level_errors(y: Any, n_mu: float, fits: int) -> float:
    """Mean squared error of seeded levels of a response within [0, 1]."""
    X, found = np.zeros((len(y), 1)), []
    for seed in range(fits):
        budget = Budget(mu=n_mu / len(y))
        model = tacit.LinearRegression(budget=budget, bounds=(-1, 1), y_bounds=(0, 1), random_state=seed)
        with warnings.catch_warnings():
            # That only a level is released, and that the budget is small for the table.
            warnings.simplefilter("ignore", UserWarning)
            model.fit(X, y)
        found.append((float(model.intercept_) - y.mean()) ** 2)
    return float(np.mean(found))


def test_a_narrow_response_is_left_in_the_middle_and_a_far_one_is_followed() -> None:
    """Seeded, 60 fits each at n·μ = 20. With one mean of the range the first was .0008 (R² -.32), six times as much."""
    rng = np.random.default_rng(2)
    near, far = (np.clip(rng.normal(center, 0.05, 400), 0, 1) for center in (0.5, 0.75))
    assert level_errors(near, 20.0, 60) <= 0.05 * near.var() + 1e-4
    assert level_errors(far, 20.0, 60) <= 1.1 * (far.var() + 20.0**-2) - far.var() + 5e-4


def test_the_records_near_the_middle_are_counted_and_paid_for() -> None:
    plan = tacit.LinearRegression(budget=Budget(mu=0.05), bounds=(-1, 1), y_bounds=(0, 1)).plan(400, 1)
    assert [step.label for step in plan.steps] == ["records near the middle of the range", "mean of the response"]
    assert plan.guarantee().mu == pytest.approx(0.05, rel=1e-6)
