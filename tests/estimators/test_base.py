"""What estimators share: the way of a fit, its warnings, and linear predictors."""

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from tacit import GaussianMean, LinearRegression, LogisticRegression, PoissonRegressor, Polynomial
from tacit.certificate.certificate import version_of
from tacit.errors import BoundsError, PrivacyWarning
from tacit.estimators.base import split

RNG = np.random.default_rng(0)
X = RNG.uniform(0, 10, (300, 2))
LABELS = RNG.integers(0, 2, 300)
GOOD: dict[str, Any] = {"epsilon": 1.0, "bounds": (0, 10), "random_state": 0}


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(**{**GOOD, "epsilon": 20.0}, classes=[0, 1]),
        PoissonRegressor(**{**GOOD, "epsilon": 20.0}, y_max=5),
        GaussianMean(**{**GOOD, "epsilon": 20.0}),
    ],
    ids=lambda model: type(model).__name__,
)
def test_warnings_point_at_the_line_that_called_fit(model: Any) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, LABELS)
    found = [each for each in caught if issubclass(each.category, PrivacyWarning)]
    assert found
    assert {Path(each.filename).name for each in found} == {Path(__file__).name}


def test_dir_lists_attributes_without_computing_them() -> None:
    model = LogisticRegression(**GOOD, classes=[0, 1]).fit(X, LABELS)
    assert {"coef_", "certificate_", "bse", "fit"} <= set(dir(model))


def test_linear_predictors_by_other_coefficients_are_rows_of_the_design() -> None:
    model = LinearRegression(**GOOD, y_bounds=(-1, 2)).fit(X, LABELS)
    np.testing.assert_array_equal(model._linear_predictors(X, np.eye(3)), np.column_stack([np.ones(300), X]))
    by_hand = X @ model.coef_ + model.intercept_
    np.testing.assert_allclose(model._linear_predictors(X), by_hand, rtol=1e-12)
    np.testing.assert_allclose(model._linear_predictors(sparse.csr_array(X)), by_hand, rtol=1e-12)


def test_linear_predictors_follow_the_feature_map() -> None:
    settings: dict[str, Any] = {**GOOD, "bounds": (0, 1), "feature_map": Polynomial(2)}
    model = LinearRegression(**settings, y_bounds=(-1, 2)).fit(X / 10, LABELS)
    design = model._linear_predictors(X / 10, np.eye(model.plan_.design.width))
    np.testing.assert_allclose(
        model._linear_predictors(X / 10), design @ np.append(model.intercept_, model.coef_), rtol=1e-9
    )


def test_split_takes_the_intercept_off_where_there_is_one() -> None:
    coefficients = np.array([1.0, 2.0, 3.0])
    for fit_intercept, expected in ((True, (1.0, [2.0, 3.0])), (False, (0.0, [1.0, 2.0, 3.0]))):
        model = LinearRegression(**GOOD, y_bounds=(-1, 2), fit_intercept=fit_intercept)
        intercept, slopes = split(coefficients, model.plan(300, 2).design)
        assert (intercept, slopes.tolist()) == expected


def test_the_certificate_is_that_of_the_process_that_drew_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    model = LogisticRegression(**GOOD, classes=[0, 1]).fit(X, LABELS)
    stored = pickle.dumps(model)
    version_of.cache_clear()
    monkeypatch.setattr("importlib.metadata.version", lambda _: "9.9")
    read = pickle.loads(stored)
    assert read.certificate_.parsed["versions"] == model.certificate_.parsed["versions"]
    assert "9.9" not in read.certificate_.parsed["versions"].values()
    version_of.cache_clear()


def test_what_the_certificate_is_issued_for_cannot_be_changed_before() -> None:
    model = LogisticRegression(**GOOD, classes=[0, 1]).fit(X, LABELS)
    with pytest.raises(ValueError, match="read-only"):
        model.release_.theta[:] = 0.0


def test_after_a_refused_fit_a_model_is_not_fitted() -> None:
    """The fault: names of columns were taken for a fit, and `predict` had no release."""
    model = LogisticRegression(epsilon=1.0, bounds={"x0": (0, 10)}, classes=[0, 1])
    with pytest.raises(BoundsError):
        model.fit(X, LABELS)
    for asked in (lambda: model.predict(X), model.summary, lambda: model.get_prediction(X)):
        with pytest.raises(NotFittedError):
            asked()
