"""No choice is made on the records: whatever a fit looks at is a query that was charged."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.contract.plan import Plan
from tacit.mechanisms.query_responder import Responder

FACTS: dict[str, Any] = {"epsilon": 2.0, "delta": 1e-6, "bounds": (-1, 1)}
OWN = tacit.own_loss(
    lambda z, y: math.tanh(z - y), lambda z, y: math.log(math.cosh(z - y)), lipschitz=1.0, curvature=1.0
)
ROUTES: dict[str, Any] = {
    "labels": tacit.LogisticRegression(**FACTS, classes=(0, 1)),
    "several labels": tacit.LogisticRegression(**FACTS, classes=(0, 1, 2)),
    "plain descent": tacit.LogisticRegression(**FACTS, classes=(0, 1), solver="gradient"),
    "intervals": tacit.LogisticRegression(**FACTS, classes=(0, 1), inference=True),
    "Newton": tacit.LogisticRegression(**FACTS, classes=(0, 1), solver="newton"),
    "numbers": tacit.LinearRegression(**FACTS, y_bounds=(0, 1)),
    "quantiles": tacit.QuantileRegressor(**FACTS, y_bounds=(0, 1)),
    "counts": tacit.PoissonRegressor(**FACTS, y_max=4),
    "margins": tacit.LinearSVC(**FACTS, classes=(0, 1)),
    "own loss": tacit.MarginClassifier(**FACTS, classes=(0, 1), loss=OWN, iterations=9),
    "by hand": tacit.LogisticRegression(**FACTS, classes=(0, 1), clip=0.2, iterations=9, radius=1.0),
}


def tables() -> list[tuple[Any, Any]]:
    """One that is easily fitted, one of noise, one without any spread."""
    rng = np.random.default_rng(5)
    X = rng.uniform(-1, 1, (600, 3))
    return [
        (X, (X[:, 0] > 0).astype(int)),
        (X, rng.integers(0, 2, 600)),
        (np.zeros((600, 3)), np.zeros(600, dtype=int)),
    ]


@pytest.mark.parametrize("route", ROUTES)
def test_t42_the_same_queries_at_the_same_prices_whatever_the_records(
    route: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line search, a step by the loss or an early stop would ask more of one table than another.

    What is answered is what the certificate's events are made of.
    """
    answer = Responder.answer
    answered: list[tuple[str, object]] = []

    def answering(self: Responder, query: Any, price: Any) -> Any:
        answered.append((type(query).__name__, price))
        return answer(self, query, price)

    monkeypatch.setattr(Responder, "answer", answering)
    seen = []
    for X, y in tables():
        answered.clear()
        plan: Plan = ROUTES[route].fit(X, y).release_.plan
        prices = [step.price for step in plan.steps for _ in range(step.times)]
        assert [price for _, price in answered] == prices
        seen.append(list(answered))
    assert seen[0] == seen[1] == seen[2]
