"""Formulas of every family: statsmodels' fits without privacy, certified ones with it."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

import tacit
from tacit.errors import InputError, SettingError

TEXT = """
[columns.age]
type = "numeric"
lower = 0
upper = 10
[columns.bmi]
type = "numeric"
lower = 0
upper = 10
[columns.time]
type = "numeric"
lower = 0.1
upper = 10
[columns.cost]
type = "numeric"
lower = -20
upper = 30
[columns.visits]
type = "numeric"
lower = 0
upper = 200
[columns.ward]
type = "factor"
levels = ["a", "b", "c"]
[columns.ill]
type = "binary"
"""
SCHEMA = tacit.Schema.parse(TEXT)
RESPONSES = {
    "binomial": "ill",
    "gaussian": "cost",
    "poisson": "visits",
    "multinomial": "ward",
    "huber": "cost",
    "quantile": "cost",
}
FREE: dict[str, Any] = {"epsilon": np.inf, "inference": False}


def simulated(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.uniform(0, 10, (n, 2)), columns=["age", "bmi"])
    z = 0.3 * table["age"] - 0.2 * table["bmi"]
    time = rng.uniform(0.5, 4, n)
    scores = np.column_stack([z, -z, 0 * z]) + rng.gumbel(size=(n, 3))
    return table.assign(
        time=time,
        cost=z + rng.normal(size=n),
        visits=rng.poisson(time * np.exp(0.3 * z)),
        ward=np.array(["a", "b", "c"])[scores.argmax(axis=1)],
        ill=(z + rng.logistic(size=n) > 0).astype(int),
    )


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return simulated(1200)


def test_gaussian_without_privacy_is_statsmodels(table: pd.DataFrame) -> None:
    fit = tacit.glm("cost ~ age + bmi", table, SCHEMA, "gaussian", **FREE)
    expected = smf.ols("cost ~ age + bmi", table).fit()
    np.testing.assert_allclose(fit.params.to_numpy(), expected.params.to_numpy(), atol=1e-6)
    np.testing.assert_allclose(fit.predict(table), expected.fittedvalues, atol=1e-5)


def test_poisson_without_privacy_is_statsmodels(table: pd.DataFrame) -> None:
    free = {**FREE, "inference": True}
    fit = tacit.glm("visits ~ age + bmi + exposure(time)", table, SCHEMA, "poisson", **free)
    model = smf.glm("visits ~ age + bmi", table, family=sm.families.Poisson(), exposure=table["time"])
    expected = model.fit(tol=1e-13)
    np.testing.assert_allclose(fit.params.to_numpy(), expected.params.to_numpy(), atol=1e-6)
    # Expected counts are those of the records' own exposures, with their intervals.
    np.testing.assert_allclose(fit.predict(table), expected.fittedvalues, rtol=1e-5)
    means = fit.get_prediction(table[:5])
    np.testing.assert_allclose(means.predicted_mean, expected.fittedvalues[:5], rtol=1e-5)
    ends = means.conf_int()
    assert (ends[:, 0] < means.predicted_mean).all()
    assert (means.predicted_mean < ends[:, 1]).all()


def test_multinomial_without_privacy_is_statsmodels(table: pd.DataFrame) -> None:
    """statsmodels' first class has coefficients 0: the differences to it are the same."""
    fit = tacit.glm("ward ~ age + bmi", table, SCHEMA, "multinomial", **FREE)
    codes = table["ward"].map({"a": 0, "b": 1, "c": 2})
    model = sm.MNLogit(codes, sm.add_constant(table[["age", "bmi"]]))
    expected = model.fit(method="newton", disp=False, tol=1e-13)
    found = fit.params.to_numpy().reshape(3, 3)
    np.testing.assert_allclose((found[1:] - found[0]).T, expected.params.to_numpy(), atol=1e-5)
    np.testing.assert_allclose(fit.predict(table), expected.predict(), atol=1e-6)
    assert list(fit.params.index)[:2] == ["a: Intercept", "a: age"]


@pytest.mark.parametrize(
    ("family", "model"),
    [
        ("huber", tacit.HuberRegressor(scale=0.8, threshold=1.2)),
        ("quantile", tacit.QuantileRegressor(quantile=0.7, smoothing=0.5)),
        ("gaussian", tacit.LinearRegression()),
    ],
)
def test_a_formula_equals_the_estimator(table: pd.DataFrame, family: str, model: Any) -> None:
    names = {"huber": ("scale", "threshold"), "quantile": ("quantile", "smoothing")}
    shape = {name: getattr(model, name) for name in names.get(family, ())}
    settings: dict[str, Any] = {"epsilon": 2.0, "random_state": 4, "inference": False}
    fit = tacit.glm("cost ~ age + bmi", table, SCHEMA, family, **settings, **shape)
    model.set_params(**settings, bounds=(0, 10), y_bounds=(-20, 30))
    model.fit(table[["age", "bmi"]], table["cost"])
    np.testing.assert_allclose(fit.params.to_numpy(), [model.intercept_, *model.coef_], rtol=1e-12)


@pytest.mark.parametrize("family", RESPONSES)
def test_private_fits_are_certified_kept_and_read_back(table: pd.DataFrame, family: str, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"epsilon": 2.0, "inference": False}
    if family == "huber":
        settings["scale"] = 1.0
    formula = f"{RESPONSES[family]} ~ age + bmi"
    fit = tacit.glm(formula, table, SCHEMA, family, **settings)
    assert fit.certificate.private
    assert fit.certificate.rederive().epsilon <= 2.0
    predicted = fit.predict(table)
    assert np.isfinite(predicted).all()
    assert predicted.shape == ((len(table), 3) if family == "multinomial" else (len(table),))
    fit.save(tmp_path / "fit.json")
    back = tacit.load(tmp_path / "fit.json")
    assert back.params.equals(fit.params)
    np.testing.assert_array_equal(back.predict(table), predicted)
    np.testing.assert_allclose(back.predict(table[:1]), predicted[:1], rtol=1e-12)
    assert back.predict(table[:0]).shape == (0, *predicted.shape[1:])


def test_t40_bad_records_are_predicted_as_missing(table: pd.DataFrame) -> None:
    fit = tacit.glm("ward ~ age + bmi", table, SCHEMA, "multinomial", **FREE)
    odd = table.copy()
    odd.loc[3, "age"] = np.nan
    predicted = fit.predict(odd)
    assert np.flatnonzero(np.isnan(predicted).any(axis=1)).tolist() == [3]
    assert np.isnan(predicted[3]).all()


def test_predictions_stay_within_the_declared_bounds(table: pd.DataFrame) -> None:
    narrow = tacit.Schema.parse(TEXT.replace("lower = -20\nupper = 30", "lower = 0\nupper = 0.5"))
    fit = tacit.glm("cost ~ age + bmi", table, narrow, "gaussian", **FREE)
    corners = pd.DataFrame({"age": [0.0, 10.0], "bmi": [10.0, 0.0]})
    slopes = [fit.params["age"], fit.params["bmi"]]
    fitted = fit.params["Intercept"] + corners.to_numpy() @ slopes
    assert fitted[0] < 0
    assert fitted[1] > 0.5
    assert fit.predict(corners).tolist() == [0.0, 0.5]


@pytest.mark.parametrize(
    ("family", "facts"),
    [
        ("gaussian", {"y_bounds": [-20.0, 30.0]}),
        ("poisson", {"y_max": 200.0}),
        ("multinomial", {"classes": ["a", "b", "c"]}),
        ("quantile", {"y_bounds": [-20.0, 30.0]}),
    ],
)
def test_t37_facts_of_the_response_are_declared(table: pd.DataFrame, family: str, facts: dict[str, Any]) -> None:
    formula = f"{RESPONSES[family]} ~ age"
    fit = tacit.glm(formula, table, SCHEMA, family, epsilon=1.0, inference=False, random_state=0)
    listed = {fact["name"]: fact for fact in fit.certificate.document["public"]}
    for name, value in facts.items():
        assert (listed[name]["value"], listed[name]["source"]) == (value, "declared")


def test_a_response_of_the_wrong_kind_is_refused(table: pd.DataFrame) -> None:
    for formula, family in (
        ("ill ~ age", "gaussian"),
        ("cost ~ age", "binomial"),
        ("ward ~ age", "poisson"),
        ("ill ~ age", "multinomial"),
    ):
        with pytest.raises(InputError):
            tacit.glm(formula, table, SCHEMA, family, epsilon=1.0)
    with pytest.raises(SettingError, match="gaussian"):
        tacit.glm("cost ~ age", table, SCHEMA, "gausian", epsilon=1.0)


@pytest.mark.parametrize("family", RESPONSES)
def test_intervals_are_the_default_where_there_are_any(table: pd.DataFrame, family: str) -> None:
    formula = f"{RESPONSES[family]} ~ age"
    fit = tacit.glm(formula, table, SCHEMA, family, epsilon=8.0)
    none = family == "quantile"
    assert (fit.terms[0]["std_err"] is None) == none
    if none:
        with pytest.raises(SettingError, match="no intervals"):
            tacit.glm(formula, table, SCHEMA, family, epsilon=8.0, inference=True)
