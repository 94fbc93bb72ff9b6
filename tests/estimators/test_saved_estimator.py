"""A fitted estimator is saved as `glm` saves, and what is loaded predicts the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import tacit
from tacit.errors import SettingError

RNG = np.random.default_rng(7)
X = RNG.uniform(0, 1, (2000, 2))
TWO, THREE, NUMBER = RNG.integers(0, 2, 2000), RNG.integers(0, 3, 2000), X @ [1.0, 2.0]
COMMON: dict[str, Any] = {"epsilon": 1.0, "bounds": (0, 1)}


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (tacit.LogisticRegression(classes=[0, 1], inference=True, **COMMON), TWO),
        (tacit.LogisticRegression(classes=[0, 1, 2], **COMMON), THREE),
        (tacit.LinearRegression(y_bounds=(0, 3), **COMMON), NUMBER),
        (tacit.Ridge(y_bounds=(0, 3), **COMMON), NUMBER),
        (tacit.HuberRegressor(y_bounds=(0, 3), **COMMON), NUMBER),
        (tacit.QuantileRegressor(y_bounds=(0, 3), **COMMON), NUMBER),
        (tacit.PoissonRegressor(y_max=10, **COMMON), THREE),
    ],
)
def test_what_is_loaded_predicts_the_same(model: Any, y: Any, tmp_path: Any) -> None:
    model.fit(X, y).save(tmp_path / "fit.json")
    loaded = tacit.load(tmp_path / "fit.json")
    expected = model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)
    expected = expected[:, 1] if expected.ndim > 1 and expected.shape[1] == 2 else expected
    assert np.array_equal(loaded.predict(X), expected)
    assert loaded.certificate.check().consistent


def test_a_loss_of_no_family_and_a_model_without_a_fit_are_refused(tmp_path: Any) -> None:
    machine = tacit.LinearSVC(classes=[0, 1], **COMMON)
    with pytest.raises(NotFittedError):
        machine.save(tmp_path / "fit.json")
    with pytest.raises(SettingError, match="coef_, intercept_ and certificate_"):
        machine.fit(X, TWO).save(tmp_path / "fit.json")
    assert not (tmp_path / "fit.json").exists()
