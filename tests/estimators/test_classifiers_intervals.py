"""Intervals of several classes: statsmodels' robust ones without noise, contrasts, files, persons, sparse rows."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from numpy.typing import NDArray
from scipy import sparse

import tacit
from tacit.contract.query import QueryKind
from tacit.errors import SettingError

THETA = np.array([[0.3, 0.8, -0.5], [0.0, -0.4, 0.6], [-0.3, -0.4, -0.1]])
SCHEMA = tacit.Schema.from_mapping(
    {
        "columns": {
            "a": {"type": "numeric", "lower": -6, "upper": 6},
            "b": {"type": "numeric", "lower": -6, "upper": 6},
            "party": {"type": "factor", "levels": ["red", "green", "blue"]},
        }
    }
)


def draw(n: int, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    raised = np.exp(np.column_stack([np.ones(n), X]) @ THETA.T)
    shares = raised / raised.sum(axis=1, keepdims=True)
    return X, (shares.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)


def frame(n: int) -> pd.DataFrame:
    X, y = draw(n)
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "party": np.array(["red", "green", "blue"])[y]})


def model(epsilon: float = 3.0, **settings: Any) -> tacit.LogisticRegression:
    settings = {"classes": (0, 1, 2), "random_state": 1, **settings}
    return tacit.LogisticRegression(epsilon=epsilon, delta=1e-6, bounds=(-6, 6), inference=True, **settings)


@pytest.fixture(scope="module")
def private() -> tacit.LogisticRegression:
    return model().fit(*draw(6000))


def robust(
    X: NDArray[np.float64], y: NDArray[np.int64], persons: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Centred coefficients and HC0 of MNLogit, class after class; clustered without correction by persons."""
    Z = sm.add_constant(X)
    found = sm.MNLogit(y, Z).fit(disp=0, tol=1e-12)
    model, params = found.model, found.params
    scores = model.score_obs(params.ravel(order="F"))
    if persons is not None:
        scores = np.array([scores[persons == person].sum(axis=0) for person in np.unique(persons)])
    inverse = np.linalg.inv(-model.hessian(params.ravel(order="F")))
    centred = np.kron((np.eye(3) - 1 / 3)[:, 1:], np.eye(Z.shape[1]))
    full = centred @ inverse @ scores.T @ scores @ inverse @ centred.T
    return centred @ params.ravel(order="F"), full


def test_without_noise_they_are_statsmodels_robust_ones() -> None:
    X, y = draw(1500)
    fit = model(np.inf, random_state=None).fit(X, y)
    values, covariance = robust(X, y)
    np.testing.assert_allclose(fit.params.tolist(), values, atol=1e-7)
    np.testing.assert_allclose(fit.cov_params(), covariance, rtol=1e-5, atol=1e-9)
    apart = fit.t_test("2: x0 - 0: x0 = 0")
    weights = np.zeros(9)
    weights[[7, 1]] = 1, -1
    assert apart.std_errors[0] == pytest.approx(np.sqrt(weights @ covariance @ weights), rel=1e-5)


def test_without_noise_persons_are_clusters() -> None:
    X, y = draw(900)
    persons = np.arange(900) // 3
    fit = model(np.inf, random_state=None, max_rows_per_unit=3).fit(X, y, units=persons)
    values, covariance = robust(X, y, persons)
    np.testing.assert_allclose(fit.params.tolist(), values, atol=1e-7)
    np.testing.assert_allclose(fit.cov_params(), covariance, rtol=1e-5, atol=1e-9)


def test_a_private_fit_has_intervals_by_class(private: tacit.LogisticRegression) -> None:
    assert private.plan_.solver.name == "one-step"
    values, errors = np.array(private.params.tolist()), np.array(private.bse.tolist())
    assert np.abs(values - THETA.ravel()).max() < 5 * errors.max()
    np.testing.assert_allclose(values.reshape(3, 3).sum(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(private.coef_, values.reshape(3, 3)[:, 1:])
    words = {line.statement for line in private.summary().lines}
    assert words <= {"nominal", "conservative"}
    assert "add up to 0" in str(private.summary()).replace("\n", " ")
    assert private.cov_params().shape == (9, 9)


def test_contrasts_between_classes_are_tested_by_name(private: tacit.LogisticRegression) -> None:
    apart = private.t_test("1: x0 - 0: x0 = 0")
    values = private.params
    assert apart.values[0] == pytest.approx(values["1: x0"] - values["0: x0"])
    assert apart.pvalues[0] < 1e-6
    # A coefficient is its difference from the mean of all classes.
    own = private.t_test("2 / 3 * `0: x0` - 1 / 3 * `1: x0` - 1 / 3 * `2: x0`")
    assert own.values[0] == pytest.approx(values["0: x0"])
    assert own.std_errors[0] == pytest.approx(private.bse["0: x0"])
    assert private.wald_test(["1: x0 - 0: x0", "2: x0 - 0: x0"]).pvalue < 0.01
    assert private.confidence_region(["0: x0", "1: x0"]).contains([values["0: x0"], values["1: x0"]])


def test_what_all_classes_share_is_not_tested(private: tacit.LogisticRegression) -> None:
    with pytest.raises(SettingError, match="weighs all classes alike"):
        private.t_test("0: x0 + 1: x0 + 2: x0")
    with pytest.raises(SettingError, match="follow from the others"):
        private.wald_test(["0: x0", "1: x0", "2: x0"])
    with pytest.raises(SettingError, match="several classes"):
        private.get_prediction(np.zeros((1, 2)))
    with pytest.raises(SettingError, match="exponentiate"):
        private.summary(exponentiate=True)


def test_the_plan_prices_what_is_asked_and_counts_all_classes_but_one() -> None:
    plan = model().plan(6000, 2)
    assert [step.kind for step in plan.steps][-2:] == [QueryKind.GRADIENT, QueryKind.SANDWICH]
    assert plan.guarantee().epsilon <= 3.0
    mu = plan.guarantee().mu
    assert mu is not None
    assert plan.signal == pytest.approx(6000 * mu / 6)
    # Two labels would have intervals here: n·μ/d is 25 or more with 3 coefficients, below it with 6.
    few = model(0.5).plan(1000, 2)
    assert few.intervals_declined
    assert not model(0.5, classes=(0, 1)).plan(1000, 2).intervals_declined


@pytest.mark.parametrize("solver", ["newton", "gradient", "whitened-gradient", "objective-perturbation"])
def test_other_solvers_refuse_before_anything_is_read(solver: str) -> None:
    with pytest.raises(SettingError):
        model(solver=solver).plan(6000, 2)


@pytest.mark.filterwarnings("ignore:Weights above")
def test_sparse_weighted_and_grouped_rows_have_intervals() -> None:
    X, y = draw(4000)
    for settings, fitted, extra in (
        ({}, sparse.csr_matrix(X), {}),
        ({"max_weight": 2.0}, X, {"sample_weight": np.where(np.arange(4000) % 2, 1.0, 2.0)}),
        ({"max_rows_per_unit": 2}, X, {"units": np.arange(4000) // 2}),
    ):
        fit = model(8.0, **settings).fit(fitted, y, **extra)
        assert np.isfinite(fit.bse.tolist()).all(), settings
        assert np.abs(np.array(fit.params.tolist()) - THETA.ravel()).max() < 0.5


def test_a_formula_fit_is_kept_and_read_again(tmp_path: Path) -> None:
    fit = tacit.glm("party ~ a + b", frame(5000), SCHEMA, "multinomial", epsilon=4.0)
    assert [term["name"] for term in fit.terms[:4]] == ["red: Intercept", "red: a", "red: b", "green: Intercept"]
    fit.save(tmp_path / "fit.json")
    read = tacit.load(tmp_path / "fit.json")
    assert read.params.equals(fit.params)
    for simultaneous in (False, True, "scheffe"):
        np.testing.assert_array_equal(read.conf_int(simultaneous=simultaneous), fit.conf_int(simultaneous=simultaneous))
    np.testing.assert_allclose(read.cov_params(), fit.cov_params())
    assert str(read.summary()).split("\n")[4:] == str(fit.summary()).split("\n")[4:]
