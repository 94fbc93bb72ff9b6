"""The exponential mechanism over losses: the grid's argmin, accuracy of both forms, prices, and what is refused."""

import math
import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.contract.query import QueryKind
from tacit.errors import SettingError
from tacit.losses.posterior_envelope import least_acceptance
from tacit.noise.entropy import SystemEntropy
from tacit.noise.selection import exponential_choice, permute_and_flip
from tacit.solvers.exponential import Grid, Posterior

RNG = np.random.default_rng(2)
X = RNG.uniform(-1, 1, size=(20_000, 3))
Y = (RNG.random(20_000) < 1 / (1 + np.exp(-(X @ [2.0, -1.5, 1.0] + 0.3)))).astype(int)


def model(**given: Any) -> tacit.LogisticRegression:
    usual: dict[str, Any] = {"epsilon": 4.0, "bounds": (-1, 1), "classes": (0, 1), "solver": "exponential"}
    return tacit.LogisticRegression(**{**usual, **given})


def test_four_coefficients_of_20000_records() -> None:
    """ε = 4: accuracy of at least .70 (Bayes: .75), by one draw from a posterior."""
    fitted = model().fit(X, Y)
    assert np.mean(fitted.predict(X) == Y) >= 0.70
    assert isinstance(fitted.plan_.solver, Posterior)
    assert fitted.plan_.guarantee().mu is not None
    assert [entry["arithmetic"] for entry in fitted.certificate_.document["events"]] == ["real-number proof"]


def test_three_coefficients_lie_on_the_grid() -> None:
    fitted = model(fit_intercept=False).fit(X[:4000], Y[:4000])
    solver = fitted.plan_.solver
    assert isinstance(solver, Grid)
    assert (np.abs(solver.candidates(3) - fitted.release_.theta).max(axis=1) == 0).any()
    assert np.mean(fitted.predict(X) == Y) >= 0.70
    assert [entry["arithmetic"] for entry in fitted.certificate_.document["events"]] == ["exact"]


@pytest.mark.parametrize("make", [tacit.LogisticRegression, tacit.LinearSVC])
def test_without_noise_it_is_the_argmin_of_the_grid(make: Any) -> None:
    rows, y = X[:300, :1], Y[:300]
    fitted = make(epsilon=math.inf, bounds=(-1, 1), classes=(0, 1), solver="exponential").fit(rows, y)
    solver = fitted.plan_.solver
    candidates = solver.candidates(2)
    margins = np.column_stack([rows, np.ones(300)]) @ candidates.T
    if make is tacit.LogisticRegression:
        losses = np.logaddexp(0, margins) - y[:, None] * margins
    else:
        m = (2 * y[:, None] - 1) * margins
        losses = np.where(m >= 1.5, 0.0, np.where(m <= 0.5, 1 - m, (1.5 - m) ** 2 / 2))
    best = candidates[np.argmin(np.minimum(losses, solver.cap).sum(axis=0))]
    assert np.array_equal(fitted.release_.theta, best)


def test_numbers_have_both_forms() -> None:
    y = np.clip(X @ [1.0, -0.5, 0.2] + 0.05 * RNG.normal(size=len(X)), -3, 3)
    for rows in (X, X[:, :2]):
        fitted = tacit.LinearRegression(epsilon=4.0, bounds=(-1, 1), y_bounds=(-3, 3), solver="exponential").fit(
            rows, y
        )
        assert abs(fitted.coef_[0] - 1.0) < 0.3
        assert fitted.certificate_.check().consistent
    plan = tacit.HuberRegressor(epsilon=1.0, bounds=(-1, 1), y_bounds=(-3, 3), scale=0.5, solver="exponential").plan(
        99, 5
    )
    assert isinstance(plan.solver, Posterior)


@pytest.mark.parametrize("relation", ["replace-one", "zero-out", "add-remove"])
@pytest.mark.parametrize("columns", [1, 5, 9])
def test_plans_cost_what_the_budget_allows(columns: int, relation: str) -> None:
    given = {"relation": relation} | ({"n_at_least": 100} if relation == "add-remove" else {})
    plan = model(epsilon=1.0, **given).plan(1000, columns)
    kind = QueryKind.SELECTION if columns < 3 else QueryKind.POSTERIOR
    assert [(step.kind, step.times) for step in plan.steps] == [(kind, 1)]
    assert 0.9 < plan.guarantee().epsilon <= 1.0
    if isinstance(plan.solver, Posterior):
        x = plan.solver.radius * plan.design.row_norm / math.sqrt(plan.solver.ridge)
        missed = (1 - least_acceptance(plan.design.width, plan.solver.radius, x)) ** plan.solver.proposals
        assert missed <= 2.0**-29.9


def test_a_budget_of_mu_is_spent_on_a_draw() -> None:
    plan = model(budget=tacit.Budget(mu=1.0), epsilon=None).plan(1000, 1)
    assert isinstance(plan.solver, Posterior)
    assert plan.guarantee().mu == pytest.approx(1.0, rel=1e-6)


def test_a_pure_budget_is_spent_on_a_candidate() -> None:
    guarantee = model(delta=0, epsilon=1.0).plan(1000, 2).guarantee()
    assert (guarantee.epsilon, guarantee.delta) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("columns", "wrong", "error"),
    [
        (10, {}, "up to 10 coefficients, the intercept counted. Use fewer columns, or solver="),
        (3, {"delta": 0}, "is pure for up to 3 coefficients"),
        (2, {"classes": (0, 1, 2)}, "one linear predictor"),
        (2, {"l2": 1.0}, "takes no l2"),
        (2, {"bounds": "private"}, "declared bounds"),
        (2, {"iterations": 3}, "takes no iterations"),
        (2, {"inference": True}, "no intervals"),
        (2, {"epsilon": 1e-12, "delta": 0}, "beyond what an exact selection"),
    ],
)
def test_what_has_no_certified_sampler_is_refused_before_a_record_is_read(
    columns: int, wrong: dict[str, Any], error: str, nothing_spent: None
) -> None:
    with pytest.raises(tacit.errors.TacitError, match=error):
        model(**wrong).fit(np.zeros((20, columns)), np.arange(20) % 2)


def test_a_hinge_beyond_the_grid_is_refused() -> None:
    with pytest.raises(SettingError, match="curvature jumps"):
        tacit.LinearSVC(epsilon=1.0, bounds=(-1, 1), solver="exponential").plan(100, 3)


@pytest.mark.parametrize("choose", [exponential_choice, permute_and_flip])
def test_a_selection_of_100000_candidates_is_fast(choose: Any) -> None:
    """The best of five takes less than 0.2 s of a processor."""
    scores = np.random.default_rng(1).integers(0, 2**40, 100_000)
    taken = []
    for _ in range(5):
        start = time.process_time()
        choose(scores, Fraction(1, 2**30), SystemEntropy())
        taken.append(time.process_time() - start)
    assert min(taken) < 0.2
