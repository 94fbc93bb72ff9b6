"""scikit-learn's conventions: parameters, cloning, pipelines, names."""

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted

from tacit import LogisticRegression

SETTINGS: dict[str, Any] = {"epsilon": 2.0, "bounds": (0, 10), "random_state": 3}


def test_parameters_round_trip() -> None:
    model = LogisticRegression(**SETTINGS, l2=0.1, classes=["no", "yes"])
    twin = clone(model)
    assert twin is not model
    assert twin.get_params() == model.get_params()
    assert twin.set_params(epsilon=0.5, relation="zero-out") is twin
    assert (twin.epsilon, twin.relation, model.epsilon) == (0.5, "zero-out", 2.0)
    assert is_classifier(model)
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(magic=1)


def test_the_constructor_checks_and_changes_nothing() -> None:
    odd: dict[str, Any] = {"epsilon": -1.0, "bounds": "nonsense", "solver": "magic", "l2": None}
    model = LogisticRegression(**odd)
    assert {name: getattr(model, name) for name in odd} == odd


def test_a_clone_of_a_fitted_model_is_not_fitted(simulated: Any) -> None:
    model = LogisticRegression(**SETTINGS).fit(simulated.X, simulated.y)
    check_is_fitted(model)
    with pytest.raises(NotFittedError):
        check_is_fitted(clone(model))


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
def test_not_fitted(method: str) -> None:
    with pytest.raises(NotFittedError):
        getattr(LogisticRegression(**SETTINGS), method)(np.zeros((2, 3)))


def test_fit_returns_itself_and_leaves_the_callers_things_alone(simulated: Any) -> None:
    X, y = np.array(simulated.X), np.array(simulated.y)
    bounds = [np.zeros(3), np.full(3, 10.0)]
    prior, classes = [0.0, 0.1, 0.2], [0, 1]
    model = LogisticRegression(epsilon=2.0, bounds=bounds, prior_mean=prior, classes=classes, l2=0.01)
    before = copy.deepcopy(model.get_params())
    for _ in range(2):
        assert model.fit(X, y) is model
    np.testing.assert_array_equal(X, simulated.X)
    np.testing.assert_array_equal(y, simulated.y)
    np.testing.assert_array_equal(bounds, [[0.0] * 3, [10.0] * 3])
    assert (prior, classes) == ([0.0, 0.1, 0.2], [0, 1])
    after = model.get_params()
    assert after["bounds"] is bounds
    np.testing.assert_equal({**after, "bounds": 0}, {**before, "bounds": 0})


def test_read_only_and_strided_arrays_are_read(simulated: Any) -> None:
    expected = LogisticRegression(**SETTINGS).fit(simulated.X, simulated.y).coef_
    padded = np.zeros((4000, 6))
    padded[::2, ::2] = simulated.X
    for X in (np.asfortranarray(simulated.X), padded[::2, ::2], simulated.X.tolist()):
        np.testing.assert_array_equal(LogisticRegression(**SETTINGS).fit(X, simulated.y.tolist()).coef_, expected)


def test_refitting_forgets_the_earlier_fit(simulated: Any) -> None:
    frame = pd.DataFrame(simulated.X, columns=["a", "b", "c"])
    model = LogisticRegression(**SETTINGS).fit(frame, simulated.y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.n_features_in_ == 3
    model.fit(simulated.X[:, :2], simulated.y)
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")
    assert model.coef_.shape == (1, 2)


def test_predicting_on_other_columns_is_refused(simulated: Any) -> None:
    frame = pd.DataFrame(simulated.X, columns=["a", "b", "c"])
    model = LogisticRegression(**SETTINGS).fit(frame, simulated.y)
    with pytest.raises(ValueError, match="feature"):
        model.predict(frame[["c", "b", "a"]])
    with pytest.raises(ValueError, match="feature"):
        model.predict(frame[["a", "b"]])
    with pytest.raises(ValueError, match="feature"):
        LogisticRegression(**SETTINGS).fit(simulated.X, simulated.y).predict(simulated.X[:, :2])


def test_probabilities_and_classes_agree(simulated: Any) -> None:
    model = LogisticRegression(**SETTINGS).fit(simulated.X, simulated.y)
    chances = model.predict_proba(simulated.X)
    assert chances.shape == (2000, 2)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0, rtol=1e-15)
    np.testing.assert_array_equal(model.predict(simulated.X), chances.argmax(axis=1))
    margins = simulated.X @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(simulated.X), margins, rtol=1e-12)
    assert model.score(simulated.X, simulated.y) > 0.6


def test_one_new_record_is_predicted(simulated: Any) -> None:
    model = LogisticRegression(**SETTINGS).fit(simulated.X, simulated.y)
    assert model.predict(simulated.X[:1]).shape == (1,)


def test_in_a_pipeline_and_a_search(simulated: Any) -> None:
    half = FunctionTransformer(lambda X: X / 2)
    pipeline = make_pipeline(half, LogisticRegression(**{**SETTINGS, "bounds": (0, 5)}))
    pipeline.fit(simulated.X, simulated.y)
    plain = LogisticRegression(**SETTINGS).fit(simulated.X, simulated.y)
    np.testing.assert_allclose(pipeline[-1].coef_ / 2, plain.coef_, rtol=1e-12)
    assert cross_val_score(pipeline, simulated.X, simulated.y, cv=2).min() > 0.6
    search = GridSearchCV(LogisticRegression(**SETTINGS), {"l2": [0.0, 100.0]}, cv=2)
    assert search.fit(simulated.X, simulated.y).best_params_ == {"l2": 0.0}


def test_a_fitted_model_survives_a_copy(simulated: Any) -> None:
    model = LogisticRegression(**SETTINGS).fit(simulated.X, simulated.y)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(twin.predict(simulated.X), model.predict(simulated.X))
        assert twin.certificate_.digest == model.certificate_.digest
