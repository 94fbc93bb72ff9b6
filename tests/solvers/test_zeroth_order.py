"""Zeroth order: the minimum without noise, accuracy with noise, black boxes, and what is refused."""

import math
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.contract.query import QueryKind
from tacit.errors import LedgerError, SettingError

RNG = np.random.default_rng(6)
X = RNG.uniform(-1, 1, size=(3000, 3))
Y = (RNG.random(3000) < 1 / (1 + np.exp(-(X @ [2.0, -1.5, 1.0] + 0.3)))).astype(int)
FACTS: dict[str, Any] = {"bounds": (-1, 1), "classes": (0, 1), "solver": "zeroth-order"}
LOGISTIC = tacit.black_box_loss(
    lambda margin, label: math.log1p(math.exp(-abs(margin))) + max(margin, 0.0) - label * margin, lipschitz=1.0
)


def objective(fitted: Any) -> float:
    margins = X @ fitted.coef_[0] + fitted.intercept_[0]
    return float(np.mean(np.logaddexp(0, margins) - Y * margins))


def test_without_noise_the_gap_is_small() -> None:
    """At most 1e-3 above Newton's minimum; differences of compiled and of called values."""
    exact = objective(tacit.LogisticRegression(epsilon=math.inf, bounds=(-1, 1), classes=(0, 1)).fit(X, Y))
    assert objective(tacit.LogisticRegression(epsilon=math.inf, **FACTS).fit(X, Y)) <= exact + 1e-5
    few = tacit.MarginClassifier(loss=LOGISTIC, epsilon=math.inf, **FACTS).fit(X, Y)
    assert objective(few) <= exact + 1e-3


def test_with_noise_labels_and_numbers_are_learned() -> None:
    fitted = tacit.LogisticRegression(epsilon=4.0, **FACTS).fit(X, Y)
    assert np.mean(fitted.predict(X) == Y) > 0.7
    assert fitted.certificate_.check().consistent
    assert {step.kind for step in fitted.plan_.steps} == {QueryKind.MEANS}
    y = np.clip(X @ [1.0, -0.5, 0.2], -2, 2)
    numbers = tacit.LinearRegression(epsilon=4.0, bounds=(-1, 1), y_bounds=(-2, 2), solver="zeroth-order").fit(X, y)
    assert abs(numbers.coef_[0] - 1.0) < 0.3


def test_a_black_box_is_fitted_and_named() -> None:
    fitted = tacit.MarginClassifier(loss=LOGISTIC, epsilon=4.0, iterations=150, **FACTS).fit(X[:1000], Y[:1000])
    assert np.mean(fitted.predict(X) == Y) > 0.65
    facts = {fact["name"]: fact["value"] for fact in fitted.certificate_.document["public"]}
    assert facts["loss"]["enforced"] == "lipschitz, by clipping differences of values"


def test_a_ridge_and_a_prior_are_honoured() -> None:
    strong = tacit.LogisticRegression(epsilon=4.0, l2=1e4, **FACTS).fit(X, Y)
    assert np.abs(strong.coef_).max() < 1e-2


@pytest.mark.parametrize("solver", ["auto", "gradient", "newton", "exponential"])
def test_slopes_of_a_black_box_are_refused(solver: str, nothing_spent: None) -> None:
    with pytest.raises(SettingError, match="only values are known"):
        tacit.MarginClassifier(loss=LOGISTIC, epsilon=1.0, **{**FACTS, "solver": solver}).fit(X, Y)


def test_in_a_ledger_a_black_box_is_for_its_curator() -> None:
    model = tacit.MarginClassifier(loss=LOGISTIC, epsilon=1.0, iterations=3, **FACTS)
    budget = tacit.Budget(epsilon=5.0, delta=1e-6)
    with tacit.Ledger(budget=budget) as ledger, pytest.raises(LedgerError, match="only a curator"):
        model.fit(X[:200], Y[:200])
    assert not ledger.charges()
    with tacit.Ledger(budget=budget, refusals="curator") as ledger:
        model.fit(X[:200], Y[:200])
    assert len(ledger.charges()) == 1


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"relation": "add-remove", "n_at_least": 100}, "public n"),
        ({"bounds": "private"}, "declared bounds"),
        ({"classes": (0, 1, 2)}, "not for the softmax loss"),
        ({"radius": 1.0}, "no radius and constraint"),
        ({"clip": 1.0, "iterations": 4}, "takes no clip"),
        ({"inference": True}, "no intervals"),
        ({"delta": 0}, "needs Gaussian noise"),
    ],
)
def test_what_cannot_be_is_refused(wrong: dict[str, Any], error: str, nothing_spent: None) -> None:
    with pytest.raises(SettingError, match=error):
        tacit.LogisticRegression(**{**FACTS, "epsilon": 1.0, **wrong}).fit(X, Y)
