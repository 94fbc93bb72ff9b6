"""Fits over batches: near the truth for every loss, relation and sampling, and exactly the plan that was paid for."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression as Unpenalised

import tacit
from tacit.contract.query import KIND_OF, Answer, BatchGradientSum, Query
from tacit.contract.sensitivity import AnyPrice
from tacit.mechanisms.query_responder import Responder

RNG = np.random.default_rng(6)
N = 8000
X = RNG.uniform(0, 10, (N, 3))
COEF = np.array([0.6, -0.4, 0.2])
MARGIN = (X - 5) @ COEF
LABELS = (RNG.random(N) < 1 / (1 + np.exp(-MARGIN))).astype(np.int64)
NUMBERS = MARGIN + RNG.normal(size=N)
COUNTS = RNG.poisson(np.exp(MARGIN / 4 + 1))
CLASSES = np.argmax(np.c_[np.zeros(N), MARGIN, -MARGIN] + RNG.gumbel(size=(N, 3)), axis=1)
COMMON: dict[str, Any] = {"epsilon": 2.0, "delta": 1e-6, "bounds": (0, 10), "solver": "stochastic", "random_state": 3}


def fit(estimator: type, y: NDArray[Any], **settings: Any) -> Any:
    return estimator(**{**COMMON, **settings}).fit(X, y)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"relation": "zero-out"},
        {"relation": "add-remove", "n_at_least": 6000},
        {"sampling": "without-replacement"},
        {"sampling": "with-replacement"},
        {"max_passes": 2},
        {"sample_rate": 1.0},
        {"batch_size": 400, "output": "last"},
        {"clip": 1.0},
        {"clip": 1.0, "batch_size": 20, "iterations": 600},
    ],
    ids=str,
)
def test_labels_are_fitted_however_batches_are_drawn(settings: dict[str, Any]) -> None:
    """One seeded fit each, so no false alarms."""
    model = fit(tacit.LogisticRegression, LABELS, classes=[0, 1], **settings)
    np.testing.assert_allclose(model.coef_[0], COEF, atol=0.15)
    assert model.plan_.guarantee().epsilon <= 2.0
    assert model.plan_.draws_batches


def test_other_losses_are_fitted() -> None:
    linear = fit(tacit.LinearRegression, NUMBERS, y_bounds=(-20, 20))
    np.testing.assert_allclose(linear.coef_, COEF, atol=0.05)
    assert linear.intercept_ == pytest.approx(-5 * COEF.sum(), abs=0.3)
    huber = fit(tacit.HuberRegressor, NUMBERS, y_bounds=(-20, 20))
    np.testing.assert_allclose(huber.coef_, COEF, atol=0.05)
    counts = fit(tacit.PoissonRegressor, COUNTS, y_max=40)
    np.testing.assert_allclose(counts.coef_, COEF / 4, atol=0.03)
    svm = fit(tacit.LinearSVC, LABELS, classes=[0, 1])
    assert np.corrcoef(svm.coef_[0], COEF)[0, 1] > 0.99
    several = fit(tacit.LogisticRegression, CLASSES, classes=[0, 1, 2])
    np.testing.assert_allclose(several.coef_[1] - several.coef_[2], 2 * COEF, atol=0.4)


@pytest.mark.parametrize(
    ("estimator", "y", "declared"),
    [(tacit.LogisticRegression, LABELS, {"classes": [0, 1]}), (tacit.PoissonRegressor, COUNTS, {"y_max": 40})],
)
def test_the_plan_is_asked_in_full_and_in_order(
    estimator: type, y: NDArray[Any], declared: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Any, AnyPrice]] = []
    answer = Responder.answer

    def spy(self: Responder, query: Query, price: AnyPrice) -> Answer:
        asked.append((KIND_OF[type(query)], price))
        return answer(self, query, price)

    monkeypatch.setattr(Responder, "answer", spy)
    plan = fit(estimator, y, **declared).plan_
    assert asked == [(step.kind, step.price) for step in plan.steps for _ in range(step.times)]
    assert sum(kind is KIND_OF[BatchGradientSum] for kind, _ in asked) > 10


def test_without_privacy_the_minimiser_is_exact() -> None:
    model = fit(tacit.LogisticRegression, LABELS, classes=[0, 1], epsilon=math.inf, delta=None)
    twin = Unpenalised(C=np.inf, tol=1e-10, max_iter=1000).fit(X, LABELS)
    np.testing.assert_allclose(model.coef_, twin.coef_, atol=1e-5)


def test_persons_and_weights() -> None:
    people = np.arange(N) // 2
    model = tacit.LogisticRegression(**COMMON, classes=[0, 1], max_rows_per_unit=2).fit(X, LABELS, units=people)
    np.testing.assert_allclose(model.coef_[0], COEF, atol=0.2)
    assert model.plan_.records == N // 2
    with pytest.warns(UserWarning, match="capped"):
        weighted = tacit.LogisticRegression(**COMMON, classes=[0, 1], max_weight=2.0).fit(
            X, LABELS, sample_weight=RNG.uniform(0.5, 2.0, N)
        )
    np.testing.assert_allclose(weighted.coef_[0], COEF, atol=0.2)


def test_t30_hopeless_batches_end_in_a_release() -> None:
    """Ten records, batches that are mostly empty: the release is noise, and it is one."""
    few = X[:10], np.array([0, 1] * 5)
    with pytest.warns(UserWarning, match="budget is small"):
        model = tacit.LogisticRegression(**{**COMMON, "classes": [0, 1], "batch_size": 1, "iterations": 30}).fit(*few)
    assert np.isfinite(model.coef_).all()


def test_t13_two_fits_differ_and_a_seed_repeats_one() -> None:
    settings: dict[str, Any] = {**COMMON, "classes": [0, 1], "random_state": None}
    one, two = (tacit.LogisticRegression(**settings).fit(X[:2000], LABELS[:2000]).coef_ for _ in range(2))
    assert (one != two).all()
    first, again = (fit(tacit.LogisticRegression, LABELS, classes=[0, 1]).coef_ for _ in range(2))
    assert (first == again).all()


def test_private_bounds_are_found_first() -> None:
    model = fit(tacit.LogisticRegression, LABELS, classes=[0, 1], bounds="private", epsilon=8.0)
    np.testing.assert_allclose(model.coef_[0], COEF, atol=0.3)
    assert model.plan_.guarantee().epsilon <= 8.0
