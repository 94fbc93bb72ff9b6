"""Regressions of bounded responses: their bounds, their loss, and predictions within them."""

from typing import Any

import numpy as np
import pytest

from tacit import HuberRegressor, LinearRegression, QuantileRegressor, Ridge
from tacit.errors import BoundsError
from tacit.estimators.regressors import response_ends

RNG = np.random.default_rng(0)
X = RNG.uniform(0, 10, (300, 2))
Y = X[:, 0] - X[:, 1]
GOOD: dict[str, Any] = {"epsilon": 1.0, "bounds": (0, 10), "random_state": 0}


@pytest.mark.parametrize("bounds", [5, (1, 2, 3), ("a", "b"), (2, 1), (0, np.inf), (True, 2), "x"])
def test_what_is_no_pair_of_bounds_is_refused(bounds: Any) -> None:
    with pytest.raises(BoundsError, match="y_bounds"):
        response_ends(bounds)


def test_bounds_are_numbers_of_any_type() -> None:
    assert response_ends(np.array([-1, 2])) == (-1.0, 2.0)
    with pytest.raises(BoundsError, match="Three ways out"):
        response_ends(None)


@pytest.mark.parametrize(
    ("model", "name"),
    [(LinearRegression, "squared"), (Ridge, "squared"), (HuberRegressor, "huber"), (QuantileRegressor, "pinball")],
)
def test_each_regression_has_its_loss_and_declares_its_bounds(model: Any, name: str) -> None:
    made = model(**GOOD, y_bounds=(-10, 10))
    response = made._response("y", None)
    assert made._loss(response).name.startswith(name)
    facts = {fact.name: fact for fact in made._facts(response)}
    assert (facts["y_bounds"].value, facts["y_bounds"].source) == ([-10.0, 10.0], "declared")
    assert ("loss" in facts) == (name in {"huber", "pinball"})


def test_predictions_lie_within_the_bounds() -> None:
    model = LinearRegression(**GOOD, y_bounds=(-1, 1)).fit(X, Y)
    predictions = model.predict(X * 100)
    assert (predictions.min(), predictions.max()) == (-1.0, 1.0)


def test_private_bounds_are_said_to_be_private() -> None:
    model = LinearRegression(**GOOD, y_bounds="private")
    (fact,) = model._facts(model._response("y", None))
    assert fact.value == "private"
