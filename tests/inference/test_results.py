"""Results by the names of statsmodels: equal to it without noise, honest with it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.errors import SettingError
from tacit.inference.results import Results


def test_they_are_those_of_statsmodels(twins: Any) -> None:
    ours, theirs = twins.ours, twins.theirs
    assert list(ours.params.index) == ["Intercept", "x0", "x1", "x2"]
    for name, rel in (("params", 1e-6), ("bse", 1e-6), ("tvalues", 2e-6), ("pvalues", 1e-4)):
        found = getattr(ours, name).tolist()
        np.testing.assert_allclose(found, getattr(theirs, name), rtol=rel, atol=1e-12)
    assert ours.zvalues.equals(ours.tvalues)
    for level in (0.5, 0.95, 0.99):
        np.testing.assert_allclose(ours.conf_int(level), theirs.conf_int(alpha=1 - level), rtol=1e-5, atol=1e-8)
    np.testing.assert_array_equal(ours.conf_int(which="sampling"), ours.conf_int())


def test_a_fit_of_glm_and_an_estimator_share_them() -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (2000, 2))
    y = (rng.random(2000) < 0.5 + 0.3 * X[:, 0]).astype(int)
    import pyarrow as pa

    schema = tacit.Schema.parse(
        "".join(f'[columns.{n}]\ntype = "numeric"\nlower = -1\nupper = 1\n' for n in ("x0", "x1"))
        + '[columns.y]\ntype = "binary"\n'
    )
    table = pa.table({"x0": X[:, 0], "x1": X[:, 1], "y": y})
    fit = tacit.glm("y ~ x0 + x1", table, schema, epsilon=2.0, delta=1e-6, random_state=5)
    model = tacit.LogisticRegression(epsilon=2.0, delta=1e-6, bounds=(-1, 1), inference=True, random_state=5).fit(X, y)
    assert fit.params.equals(model.params)
    assert fit.bse.equals(model.bse)
    np.testing.assert_array_equal(fit.cov_params(), model.cov_params())
    assert fit.pvalues.equals(model.pvalues)
    assert [term["std_err"] for term in fit.terms] == fit.bse.tolist()
    assert [term["lower"] for term in fit.terms] == fit.conf_int().to_numpy()[:, 0].tolist()


def test_the_diagonal_of_the_covariance_is_the_standard_errors(make_release: Any) -> None:
    results = Results(make_release())
    errors = results.coefficients.std_errors
    np.testing.assert_allclose(np.sqrt(np.diag(results.cov_params())), errors)
    sampling = results.cov_params("sampling")
    assert (np.diag(sampling) < errors**2).all()
    with pytest.raises(SettingError, match="which"):
        results.cov_params("privacy")


def test_nothing_is_offered_below_the_least_evidence(make_release: Any) -> None:
    results = Results(make_release(signal=24.0))
    for ask in (
        results.conf_int,
        results.cov_params,
        lambda: results.coefficients,
        lambda: results.t_test("x0"),
        lambda: results.wald_test("x0"),
        lambda: results.get_prediction(np.eye(4), lambda margins: margins).conf_int(),
    ):
        with pytest.raises(SettingError, match=r"not offered: n·μ/d is 24, and below 28"):
            ask()
    assert results.terms() == results.release.estimates()
    assert not results.offered
    summary = results.summary()
    assert not summary.offered
    assert "not offered" in str(summary)
    assert "std err" not in str(summary)
    assert len(results.values) == len(results.names) == 4


def test_what_was_not_paid_for_is_not_there(make_release: Any) -> None:
    release = replace(make_release(), sandwich=None)
    results = Results(release)
    with pytest.raises(SettingError, match="inference=True"):
        results.conf_int()
    assert "std err" not in str(results.summary())
    assert "not offered" not in str(results.summary())
    assert results.summary().statement is None


def test_models_without_intervals_say_so() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (900, 2))
    several = tacit.LogisticRegression(epsilon=np.inf, bounds=(-1, 1)).fit(X, np.arange(900) % 3)
    assert list(several.params.index)[:2] == ["0: Intercept", "0: x0"]
    assert len(several.summary().lines) == 9
    with pytest.raises(SettingError, match="inference=True"):
        several.conf_int()
    with pytest.raises(SettingError, match="no intervals for this model"):
        tacit.GaussianMean(epsilon=np.inf, bounds=(-1, 1)).fit(X).conf_int()
    with pytest.raises(Exception, match="not fitted"):
        _ = tacit.LogisticRegression(epsilon=1.0, bounds=(-1, 1)).params


def test_intervals_are_refused_with_a_penalty() -> None:
    model = tacit.LogisticRegression(epsilon=1.0, bounds=(0, 1), inference=True, l2=0.1)
    with pytest.raises(SettingError, match="l2"):
        model.plan(1000, 3)


def test_reading_results_asks_no_query(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (3000, 2))
    y = rng.integers(0, 2, 3000)
    model = tacit.LogisticRegression(epsilon=2.0, bounds=(-1, 1), inference=True).fit(X, y)

    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("tacit.mechanisms.query_responder.Responder.answer", refuse)
    model.summary(exponentiate=True, simultaneous="scheffe")
    model.wald_test(["x0", "x1"])
    model.t_test("x0 - x1")
    model.get_prediction(X[:5]).conf_int()
    model.cov_params()
    model.summary_frame()
