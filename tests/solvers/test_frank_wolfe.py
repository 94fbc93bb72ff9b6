"""Frank and Wolfe: the minimum without noise, its plan, sparse supports of wide tables, and what is refused."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import optimize, sparse

import tacit
from tacit.accounting.composition import compose
from tacit.constraints import Box, L1Ball
from tacit.contract.purpose import Purpose
from tacit.contract.query import QueryKind
from tacit.errors import BudgetError, SettingError
from tacit.privacy.event import BoundedRange, Repeated
from tacit.privacy.relation import Relation
from tacit.solvers.frank_wolfe import Walk, largest_range

RNG = np.random.default_rng(3)
X = RNG.uniform(-1, 1, size=(600, 6))
P = 1 / (1 + np.exp(-(X @ [2.0, -1.5, 0.0, 0.0, 0.0, 0.5] + 0.3)))
Y = (RNG.random(600) < P).astype(int)


def model(**given: Any) -> tacit.LogisticRegression:
    usual: dict[str, Any] = {"epsilon": 1.0, "bounds": (-1, 1), "classes": (0, 1), "solver": "frank-wolfe"}
    return tacit.LogisticRegression(**{**usual, "constraint": L1Ball(3.0), **given})


def objective(slopes: np.ndarray, constant: float) -> float:
    margins = X @ slopes + constant
    return float(np.mean(np.logaddexp(0, margins) - Y * margins))


@pytest.mark.parametrize("radius", [0.5, 3.0, 20.0])
def test_without_noise_the_gap_is_small(radius: float) -> None:
    """Against scipy on the split variables u - v, Σ(u + v) ≤ radius: a gap of at most 1e-3, in fact 1e-5."""
    fitted = model(epsilon=math.inf, constraint=L1Ball(radius)).fit(X, Y)
    assert np.abs(fitted.coef_).sum() <= radius * (1 + 1e-12)

    def split(at: np.ndarray) -> float:
        return objective(at[:6] - at[6:12], at[12])

    inside = {"type": "ineq", "fun": lambda at: radius - at[:12].sum()}
    bounds = [(0, None)] * 12 + [(-3, 3)]
    best = optimize.minimize(split, np.zeros(13), bounds=bounds, constraints=[inside], method="SLSQP", tol=1e-12)
    assert objective(fitted.coef_[0], float(fitted.intercept_[0])) <= float(best.fun) + 1e-5


def test_least_squares_without_noise_agree_with_projected_descent() -> None:
    y = np.clip(X @ [1.0, -0.5, 0, 0, 0, 0.2] + 0.2, -2, 2)
    given: dict[str, Any] = {"epsilon": math.inf, "bounds": (-1, 1), "y_bounds": (-2, 2), "constraint": L1Ball(1.0)}
    walked, exact = (tacit.LinearRegression(**given, solver=name).fit(X, y) for name in ("frank-wolfe", "auto"))
    assert np.allclose(walked.coef_, exact.coef_, atol=2e-3)


@pytest.mark.parametrize("relation", list(Relation))
def test_the_plan_is_within_the_budget_and_is_what_is_asked(relation: Relation) -> None:
    given = {"relation": str(relation)} | ({"n_at_least": 500} if relation is Relation.ADD_REMOVE else {})
    plan = model(**given).plan(600, 6)
    assert {step.kind for step in plan.steps} == {QueryKind.SIGNED_SELECTION}
    constant, vertex = Purpose.CONSTANT, Purpose.VERTEX
    assert [step.purpose for step in plan.steps] == [constant, vertex, constant, vertex, constant]
    assert 0.99 < plan.guarantee().epsilon <= 1.0
    fitted = model(**given).fit(X, Y)
    assert fitted.release_.plan.steps == plan.steps
    pure = model(delta=0, **given).plan(600, 6)
    assert compose(pure.events(), relation).pure_epsilon == 1


def test_t24_the_range_is_the_largest_that_is_safe() -> None:
    for times, halvings, epsilon, delta in ((1, 0, 1.0, 1e-6), (9, 5, 1.0, 1e-6), (300, 5, 4.0, 1e-9)):
        walk = Walk(times, halvings)
        found = largest_range(walk, Relation.REPLACE_ONE, epsilon, delta)
        part = walk.part if halvings else Fraction(1)
        price = [
            compose([Repeated(BoundedRange(each), times), *[BoundedRange(each * part)] * (3 * halvings)]).epsilon(delta)
            for each in (found, found * 2)
        ]
        assert price[0] <= epsilon < price[1]
        assert found >= Fraction(epsilon) / (times + 3 * halvings) * Fraction(999, 1000)


@pytest.mark.filterwarnings("ignore:The budget is small")
def test_few_passes_leave_a_step_and_a_constant() -> None:
    plan = model(max_passes=4).plan(600, 6)
    assert [step.times for step in plan.steps] == [1, 1, 1]
    assert plan.guarantee().epsilon <= 1.0
    with pytest.raises(SettingError, match="at least 3"):
        model(max_passes=2).plan(600, 6)


def test_the_constant_meets_the_share_of_labels() -> None:
    """n = 4000, 12% of one label, ε = 2, seeded: the mean prediction is within 0.02 of the share."""
    rng = np.random.default_rng(4)
    rows = rng.uniform(0, 1, size=(4000, 6))
    y = (rng.random(4000) < 1 / (1 + np.exp(3.0 - 2.0 * rows[:, 0]))).astype(int)
    fitted = model(epsilon=2.0, bounds=(0, 1), random_state=1).fit(rows, y)
    assert abs(float(fitted.predict_proba(rows)[:, 1].mean()) - float(y.mean())) < 0.02


def test_sparse_and_dense_rows_give_the_same_fit() -> None:
    rows = X * (RNG.random(X.shape) < 0.4)
    dense, thin = (model(random_state=5).fit(it, Y) for it in (rows, sparse.csr_matrix(rows)))
    assert np.array_equal(dense.coef_, thin.coef_)


@pytest.mark.filterwarnings("ignore:There are more coefficients", "ignore:The budget is small")
@pytest.mark.parametrize("intercept", [False, True])
def test_most_true_slopes_of_a_wide_table_are_found(intercept: bool) -> None:
    """n = 2000, d = 4,000, 10 slopes, ε = 1, seeded; the figure at d = 20,000 is in docs/selection.md."""
    rng = np.random.default_rng(1)
    rows = rng.choice(np.array([-1, 1], dtype=np.float32), size=(2000, 4000))
    true = rng.choice(4000, 10, replace=False)
    beta = np.zeros(4000)
    beta[true] = 1.5 * rng.choice([-1, 1], 10)
    y = (rng.random(2000) < 1 / (1 + np.exp(-rows @ beta))).astype(int)
    fitted = model(constraint=L1Ball(15.0), fit_intercept=intercept, random_state=1).fit(rows, y)
    found = np.flatnonzero(fitted.coef_[0])
    assert len(set(found) & set(true)) >= 5
    assert len(fitted.certificate_.document["events"]) == (5 if intercept else 1)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"constraint": None}, "vertices of an l1 ball"),
        ({"constraint": Box(0, 1)}, "vertices of an l1 ball"),
        ({"l2": 1.0}, "takes no l2"),
        ({"prior_mean": (0.0,) * 6}, "takes no l2"),
        ({"bounds": "private"}, "declared bounds"),
        ({"classes": (0, 1, 2)}, "one linear predictor"),
        ({"step_size": 1.0}, "takes no step_size"),
        ({"budget": tacit.Budget(mu=1.0), "epsilon": None}, "no mu and no rho"),
        ({"epsilon": 1e-12}, "beyond what an exact selection"),
    ],
)
def test_what_cannot_be_is_refused_by_public_facts(wrong: dict[str, Any], error: str, nothing_spent: None) -> None:
    with pytest.raises((SettingError, BudgetError), match=error):
        model(**wrong).fit(X, Y)
