"""Classifiers: which classes they plan for, read or declare, and what they predict."""

from typing import Any

import numpy as np
import pytest

import tacit
from tacit import LinearSVC, LogisticRegression
from tacit.design.response import Binary, Classes
from tacit.errors import DataError, SettingError
from tacit.losses import classification

RNG = np.random.default_rng(0)
X = RNG.uniform(0, 10, (300, 2))
GOOD: dict[str, Any] = {"epsilon": 1.0, "bounds": (0, 10), "random_state": 0}


def labels_of(model: Any) -> list[int]:
    return [len(response.classes) for response in model._stand_ins()]


def test_two_and_three_classes_are_planned_for_while_none_is_declared() -> None:
    assert labels_of(LogisticRegression(**GOOD)) == [2, 3]
    assert labels_of(LinearSVC(**GOOD)) == [2]
    assert labels_of(LogisticRegression(**GOOD, classes=["a", "b"])) == []


def test_weighted_labels_are_among_those_planned_for() -> None:
    for weights, counts in (({5: 2.0}, [2, 3]), ({1: 1.0, 2: 1.0, 3: 1.0, 4: 2.0}, [4])):
        model = LogisticRegression(**GOOD, class_weight=weights)
        assert labels_of(model) == counts
        for response in model._stand_ins():
            assert set(weights) <= set(response.classes)
            assert model._class_weights(response) is not None
    y = RNG.integers(0, 3, 300)
    found = LogisticRegression(**GOOD, class_weight={2: 3.0}).fit(X, y)
    assert found.classes_.tolist() == [0, 1, 2]


def test_weights_of_labels_that_are_not_there_are_refused() -> None:
    with pytest.raises(SettingError, match="not among the classes"):
        LogisticRegression(**GOOD, class_weight={"c": 2.0}).fit(X, np.arange(300) % 2)


def test_the_loss_goes_by_the_number_of_classes() -> None:
    model = LogisticRegression(**GOOD)
    assert model._loss(Binary.of("y", [0, 1])) is classification.LOGISTIC
    assert model._loss(Classes.of("y", [0, 1, 2])) is classification.SOFTMAX


def test_fractions_are_no_classes() -> None:
    with pytest.raises(DataError, match="continuous"):
        LogisticRegression(**GOOD).fit(X, X[:, 0])


def test_read_classes_are_assumed_and_declared_ones_declared() -> None:
    y = RNG.integers(0, 2, 300)
    for classes, word in ((None, "assumed"), ([1, 0], "declared")):
        model = LogisticRegression(**GOOD, classes=classes).fit(X, y)
        facts = {fact.name: fact for fact in model.plan_.facts}
        assert facts["classes"].source == word
        assert model.classes_.tolist() == (classes or [0, 1])


def test_inside_a_ledger_classes_must_be_declared() -> None:
    ledger = tacit.Ledger(budget=tacit.Budget(epsilon=9.0, delta=1e-6))
    with ledger, pytest.raises(SettingError, match="classes"):
        LogisticRegression(**{**GOOD, "random_state": None}).fit(X, np.arange(300) % 2)


def test_predictions_are_the_class_of_the_largest_predictor() -> None:
    model = LogisticRegression(**GOOD).fit(X, RNG.integers(0, 3, 300))
    chosen = model.decision_function(X).argmax(axis=1)
    np.testing.assert_array_equal(model.predict(X), model.classes_[chosen])
