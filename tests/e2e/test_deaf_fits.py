"""Fits with intervals whose sums are replaced by zeros: nothing else tells of the records.

Noise comes from a seed, and every sum over the records is 0 before it is added. Whatever reaches
the outside must then be the same for all records: coefficients, matrices, words, warnings, refusals
and the questions asked. Under add-remove that holds for any number of records.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tacit
from tacit.contract.query import Answer, Query
from tacit.engine import gate, interruptible_run
from tacit.errors import TacitError
from tacit.mechanisms import counts, gradient, moments
from tacit.mechanisms.gaussian_sum import noised_sum

RECORDS = 700
MODELS: dict[str, tuple[Any, dict[str, Any]]] = {
    "labels": (tacit.LogisticRegression, {"classes": [0, 1]}),
    "numbers": (tacit.LinearRegression, {"y_bounds": (-5, 5)}),
    "robust": (tacit.HuberRegressor, {"y_bounds": (-5, 5)}),
    "counts": (tacit.PoissonRegressor, {"y_max": 50}),
}
CONTENTS = ("normal", "zero", "huge", "invalid")

asked: list[tuple[str, Any]] = []


class NotingGate(gate.PlannedGate):
    """Notes what is asked, and at which price."""

    def ask(self, query: Query) -> Answer:
        asked.append((type(query).__name__, self._schedule[self._asked].price))
        return super().ask(query)


@pytest.fixture(autouse=True)
def _deaf(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def deaf(total: NDArray[Any], *rest: Any, **more: Any) -> Answer:
        return noised_sum(np.zeros_like(total), *rest, **more)

    for module in (counts, gradient, moments):
        monkeypatch.setattr(module, "noised_sum", deaf)
    monkeypatch.setattr(interruptible_run, "PlannedGate", NotingGate)
    yield
    asked.clear()


def records(model: str, content: str, count: int) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(count + CONTENTS.index(content))
    X, y = rng.normal(size=(count, 2)), rng.poisson(1.0, count).astype(float)
    if model == "labels":
        y = (y > 0).astype(np.int64)
    if content == "zero":
        X, y = 0 * X, 0 * y
    elif content == "huge":
        X = rng.choice([1e308, -1e308, 5e-324, -0.0, 3.4e38], X.shape)
        y = y if model == "labels" else rng.choice([0.0, 1e300], count)
    elif content == "invalid":
        X[::2], X[1::4] = np.nan, np.inf
    return X, y


def seen(model: str, content: str, count: int, **settings: Any) -> tuple[Any, ...]:
    """All that a fit lets out."""
    make, facts = MODELS[model]
    X, y = records(model, content, count)
    given: dict[str, Any] = {}
    if "max_weight" in settings:
        given["sample_weight"] = np.random.default_rng(count).uniform(0, 5, count)
    if "max_rows_per_unit" in settings:
        given["units"] = np.arange(count)
    asked.clear()
    common = {"epsilon": 2.0, "delta": 1e-6, "bounds": (-1, 1), "invalid_rows": "zero"}
    estimator = make(inference=True, random_state=3, **common, **facts, **settings)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = estimator.fit(X, y, **given)
        release = fitted.release_
        try:
            words = str(fitted.summary())
        except TacitError as refusal:
            words = str(refusal)
    said = sorted({str(warning.message) for warning in caught})
    shown = repr(release.plan), repr(release.sandwich), words, said
    return *shown, fitted.coef_.tobytes(), np.asarray(fitted.intercept_).tobytes(), list(asked)


@pytest.mark.parametrize("attached", [{}, {"max_weight": 2.0}, {"max_rows_per_unit": 3}], ids=str)
@pytest.mark.parametrize("relation", ["replace-one", "zero-out", "add-remove"])
@pytest.mark.parametrize("model", MODELS)
def test_nothing_but_sums_tells_of_records(model: str, relation: str, attached: dict[str, Any]) -> None:
    settings = {"relation": relation, **attached}
    numbers = [RECORDS]
    if relation == "add-remove":
        settings["n_at_least"] = RECORDS
        numbers = [RECORDS, RECORDS + 1, 64]
    reference = seen(model, "normal", RECORDS, **settings)
    assert reference[-1]
    for content in CONTENTS:
        for count in numbers:
            assert seen(model, content, count, **settings) == reference, (content, count)
