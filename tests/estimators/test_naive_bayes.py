"""Gaussian naive Bayes from one statistical query."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import naive_bayes

import tacit
from tacit.contract.query import QueryKind
from tacit.errors import BoundsError, DataError, SettingError

RNG = np.random.default_rng(6)
N = 4000
LABELS = RNG.choice(["flu", "healthy", "hiv"], N, p=[0.3, 0.6, 0.1])
CENTRES = {"flu": [1.0, 2.0, 0.0], "healthy": [-1.0, 0.0, 0.5], "hiv": [0.0, -3.0, 1.0]}
X = np.clip(np.array([CENTRES[label] for label in LABELS]) + RNG.normal(size=(N, 3)) * [0.5, 1.0, 0.2], -6, 6)
GIVEN: dict[str, Any] = {"bounds": (-6, 6)}


@pytest.mark.parametrize("relation", ["replace-one", "zero-out", "add-remove"])
@pytest.mark.parametrize("classes", [None, ["hiv", "flu", "healthy"]])
def test_without_privacy_it_is_scikit_learns(relation: str, classes: Any) -> None:
    found = tacit.GaussianNB(epsilon=np.inf, relation=relation, n_at_least=3000, classes=classes, **GIVEN)
    found.fit(X, LABELS)
    twin = naive_bayes.GaussianNB().fit(X, LABELS)
    order = [twin.classes_.tolist().index(label) for label in found.classes_]
    np.testing.assert_allclose(found.theta_, twin.theta_[order], atol=1e-6)
    np.testing.assert_allclose(found.var_, twin.var_[order], atol=1e-6)
    np.testing.assert_allclose(found.class_prior_, twin.class_prior_[order], atol=1e-6)
    np.testing.assert_allclose(found.predict_proba(X), twin.predict_proba(X)[:, order], atol=1e-6)
    np.testing.assert_allclose(found.predict_log_proba(X), twin.predict_log_proba(X)[:, order], atol=1e-6)
    assert found.predict(X).tolist() == twin.predict(X).tolist()


def test_two_classes_and_labels_of_other_types() -> None:
    for y in (LABELS == "flu", (LABELS == "flu").astype(int)):
        found = tacit.GaussianNB(epsilon=np.inf, **GIVEN).fit(X, y)
        twin = naive_bayes.GaussianNB().fit(X, y)
        np.testing.assert_allclose(found.predict_proba(X), twin.predict_proba(X), atol=1e-6)
        assert found.predict(X).tolist() == twin.predict(X).tolist()


def test_a_private_fit_is_one_query_that_costs_the_budget() -> None:
    found = tacit.GaussianNB(epsilon=1.0, delta=1e-6, **GIVEN).fit(X, LABELS)
    (step,) = found.plan_.steps
    assert (step.kind, step.size, step.times) == (QueryKind.GROUP_MEANS, 7, 1)
    assert found.certificate_.check().consistent
    assert found.plan_.guarantee().epsilon == pytest.approx(1.0, rel=1e-3)
    facts = {fact["name"]: fact for fact in found.certificate_.document["public"]}
    assert facts["classes"] == {"name": "classes", "value": ["flu", "healthy", "hiv"], "source": "assumed"}


def test_t03_the_noise_does_not_grow_with_the_number_of_classes() -> None:
    plans = [tacit.GaussianNB(epsilon=1.0, classes=range(count), **GIVEN).plan(1000, 2) for count in (2, 3, 30)]
    assert len({plan.steps for plan in plans}) == 1


def test_it_predicts_well_at_one() -> None:
    """4,000 records, three classes, ε = 1: within 5% of the accuracy without privacy."""
    found = tacit.GaussianNB(epsilon=1.0, random_state=1, **GIVEN).fit(X, LABELS)
    assert found.score(X, LABELS) > naive_bayes.GaussianNB().fit(X, LABELS).score(X, LABELS) - 0.05


@pytest.mark.parametrize("epsilon", [1e-4, 0.01])
def test_t40_variances_and_priors_are_positive_whatever_the_noise(epsilon: float) -> None:
    for seed in range(20):
        found = tacit.GaussianNB(epsilon=epsilon, random_state=seed, **GIVEN).fit(X[:50], LABELS[:50])
        assert (found.var_ > 0).all()
        assert (found.class_prior_ > 0).all()
        assert found.class_prior_.sum() == pytest.approx(1.0)
        assert np.isfinite(found.predict_log_proba(X[:5])).all()


def test_a_class_that_no_record_has_is_kept() -> None:
    found = tacit.GaussianNB(epsilon=1.0, classes=["flu", "healthy", "hiv", "none"], random_state=0, **GIVEN)
    assert found.fit(X, LABELS).class_prior_[3] < 0.01


def test_units_count_once() -> None:
    units = np.arange(N) // 2
    found = tacit.GaussianNB(epsilon=1.0, max_rows_per_unit=2, **GIVEN).fit(X, LABELS, units=units)
    assert found.certificate_.document["unit"] == "unit"
    twice = tacit.GaussianNB(epsilon=np.inf, max_rows_per_unit=2, **GIVEN)
    twice.fit(np.repeat(X, 2, axis=0), np.repeat(LABELS, 2), units=np.repeat(np.arange(N), 2))
    once = tacit.GaussianNB(epsilon=np.inf, **GIVEN).fit(X, LABELS)
    np.testing.assert_allclose(twice.theta_, once.theta_, atol=1e-6)


def test_frames_have_names() -> None:
    frame = pd.DataFrame(X, columns=["a", "b c", "`d`"])
    found = tacit.GaussianNB(epsilon=1.0, **GIVEN).fit(frame, LABELS)
    assert "b c | y=flu" in [name for name, *_ in found.release_.estimates()]


@pytest.mark.usefixtures("nothing_spent")
@pytest.mark.parametrize(
    ("settings", "error", "match"),
    [
        ({"bounds": None}, BoundsError, "never read off"),
        ({"bounds": "private"}, BoundsError, "declared bounds"),
        ({"row_norm": 1.0}, SettingError, "neither solver nor row_norm"),
        ({"solver": "newton"}, SettingError, "neither solver nor row_norm"),
        ({"var_smoothing": -1.0}, SettingError, "var_smoothing"),
        ({"classes": ["flu"]}, SettingError, "two different labels"),
    ],
)
def test_what_it_cannot_honour_is_refused(settings: dict[str, Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        tacit.GaussianNB(epsilon=1.0, **{**GIVEN, **settings}).fit(X, LABELS)


def test_fractions_are_no_labels() -> None:
    with pytest.raises(DataError, match="fractions"):
        tacit.GaussianNB(epsilon=1.0, **GIVEN).fit(X, np.arange(N) % 5 / 2)


def test_a_large_epsilon_is_warned_of() -> None:
    with pytest.warns(tacit.errors.PrivacyWarning, match="above 10"):
        tacit.GaussianNB(epsilon=20.0, **GIVEN).fit(X, LABELS)
