"""bounds="private": found by paid counts, in the certificate, and the same fit without noise."""

import math
import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tacit
from tacit import GaussianMean, LinearRegression, LogisticRegression
from tacit.accounting.composition import compose
from tacit.certificate.fit_file import StoredFit
from tacit.design.response import Continuous
from tacit.errors import BoundsError

RNG = np.random.default_rng(12)
N = 8000
Z = RNG.normal(size=(N, 3))
X = np.column_stack([1e6 + Z[:, 0], 1e-3 * Z[:, 1], np.exp(Z[:, 2]), RNG.random(N) < 0.1])
UNITS = (X - X.mean(axis=0)) / X.std(axis=0)
SLOPES = np.array([1.0, -0.8, 0.5, 0.4])
Y = RNG.random(N) < 1 / (1 + np.exp(-UNITS @ SLOPES))
RESPONSE = -3e4 + 50 * (UNITS @ SLOPES + RNG.normal(size=N))


def logistic(**changed: Any) -> LogisticRegression:
    settings: dict[str, Any] = {"epsilon": 2.0, "delta": 1e-6, "bounds": "private"}
    return LogisticRegression(**{**settings, "classes": (False, True), **changed})


def ends(model: Any) -> NDArray[np.float64]:
    return np.array([(c.lower, c.upper) for c in model.plan_.design.columns]).T


def test_a_fit_finds_its_bounds_and_the_slopes() -> None:
    """A seed, so that the numbers are the same every time."""
    model = logistic(random_state=3).fit(X, Y)
    lower, upper = ends(model)
    assert ((lower < np.median(X, axis=0)) & (np.median(X, axis=0) < upper)).all()
    assert (upper - lower < 200 * X.std(axis=0)).all()
    np.testing.assert_allclose(model.coef_[0] * X.std(axis=0), SLOPES, atol=0.2)


def test_a_response_is_bounded_likewise() -> None:
    model = LinearRegression(epsilon=2.0, delta=1e-6, bounds="private", y_bounds="private", random_state=3).fit(
        X, RESPONSE
    )
    response = model.plan_.design.response
    assert isinstance(response, Continuous)
    assert response.lower < RESPONSE.min() < RESPONSE.max() < response.upper
    assert response.upper - response.lower < 200 * RESPONSE.std()
    np.testing.assert_allclose(model.coef_ * X.std(axis=0), 50 * SLOPES, atol=5)


def test_means_are_found() -> None:
    model = GaussianMean(epsilon=2.0, delta=1e-6, bounds="private", random_state=3).fit(X)
    np.testing.assert_allclose((model.location_ - X.mean(axis=0)) / X.std(axis=0), np.zeros(4), atol=0.05)


def test_t03_the_counts_are_charged_and_certified() -> None:
    model = logistic().fit(X, Y)
    kinds = [str(step.kind) for step in model.plan_.steps]
    assert kinds[:2] == ["counts", "counts"]
    assert {step.size for step in model.plan_.steps[:2]} == {4}
    total = compose(model.plan_.events())
    assert total.epsilon(1e-6) <= 2.0
    certificate = model.certificate_
    assert certificate.check().consistent
    assert certificate.document["events"][0]["size"] == 4
    facts = {fact["name"]: fact["value"] for fact in certificate.document["public"]}
    assert facts["bounds"] == "private"
    with tacit.Ledger(budget=tacit.Budget(epsilon=3.0, delta=1e-6)) as ledger:
        logistic().fit(X, Y)
    spent = ledger.guarantee()
    assert spent is not None
    assert math.isclose(spent.epsilon, certificate.document["total"]["epsilon"])


def test_t36_what_is_kept_is_what_was_found() -> None:
    """The stored fit has the found bounds, and nothing of it is read off the records."""
    model = logistic().fit(X, Y)
    again = StoredFit.from_json(StoredFit.from_release(model.release_).to_json())
    assert again.design == model.plan_.design
    assert again.design.open_places == ()


def test_without_noise_it_is_the_unprotected_fit() -> None:
    model = logistic(epsilon=math.inf, delta=None).fit(X, Y)
    lower, upper = X.min(axis=0) - 1, X.max(axis=0) + 1
    declared = logistic(epsilon=math.inf, delta=None, bounds=(lower, upper)).fit(X, Y)
    np.testing.assert_allclose(model.coef_ * X.std(axis=0), declared.coef_ * X.std(axis=0), atol=1e-6)


def test_t02_a_record_beyond_found_bounds_is_predicted_as_one_on_them() -> None:
    model = logistic().fit(X, Y)
    on_bounds = ends(model)[1][None]
    beyond = on_bounds + 1e9
    assert (model.predict_proba(beyond) == model.predict_proba(on_bounds)).all()


def test_a_small_table_is_warned_of_before_it_is_read() -> None:
    with pytest.warns(UserWarning, match="to find bounds reliably"):
        logistic(epsilon=1.0).fit(X[:200], Y[:200])
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*bounds reliably")
        logistic().fit(X, Y)


def test_t36_missing_bounds_are_still_refused() -> None:
    with pytest.raises(BoundsError, match='bounds="private"'):
        logistic(bounds=None).fit(X, Y)
    with pytest.raises(BoundsError, match='"private"'):
        logistic(bounds="auto").fit(X, Y)
