"""Probit, cloglog, gamma and negative binomial models by formula: statsmodels' fits, private ones, and predictions."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import tacit
from tacit.errors import DataError, FormulaError, SettingError

N = 3000
ALPHA = 0.5
LINKS = sm.families.links
TWINS: dict[str, Any] = {
    "probit": sm.families.Binomial(LINKS.Probit()),
    "cloglog": sm.families.Binomial(LINKS.CLogLog()),
    "gamma": sm.families.Gamma(LINKS.Log()),
    "negative-binomial": sm.families.NegativeBinomial(alpha=ALPHA),
}
LABELS = ("probit", "cloglog")
BY_FAMILY = pytest.mark.parametrize("family", TWINS)


def schema_of(family: str, **further: Any) -> tacit.Schema:
    number = {"type": "numeric", "lower": -4, "upper": 4}
    outcome = {"type": "binary"} if family in LABELS else {"type": "numeric", "lower": 0, "upper": 500}
    columns = {"x": number, "u": number, "time": {"type": "numeric", "lower": 0.5, "upper": 2}, "y": outcome}
    return tacit.Schema.from_mapping({"columns": {**columns, **further.pop("columns", {})}, **further})


def table_of(family: str, n: int = N, *, curved: float = 0.15, seed: int = 1) -> pd.DataFrame:
    """Records whose mean is not the model's: observed and expected information differ."""
    rng = np.random.default_rng(seed)
    x, u, time = rng.normal(size=n).clip(-4, 4), rng.uniform(-1, 1, n), rng.uniform(0.5, 2, n)
    z = 0.3 + 0.5 * x - 0.4 * u + curved * x**2 + np.log(time)
    mean = np.exp(z)
    draws: dict[str, Callable[[], Any]] = {
        "probit": lambda: rng.normal(size=n) < z - 0.5,
        "cloglog": lambda: rng.random(n) < -np.expm1(-np.exp(z - 1)),
        "gamma": lambda: rng.gamma(2.0, mean / 2),
        "negative-binomial": lambda: rng.poisson(rng.gamma(2.0, mean / 2)),
    }
    y = draws[family]()
    return pd.DataFrame(
        {"x": x, "u": u, "time": time, "y": y.astype(int) if family in LABELS else y, "w": rng.uniform(0, 2, n)}
    )


@pytest.mark.parametrize("offset", [False, True])
@BY_FAMILY
def test_without_noise_coefficients_and_errors_are_those_of_statsmodels(family: str, offset: bool) -> None:
    table = table_of(family)
    formula = "y ~ x + u" + (" + offset(log(time))" if offset else "")
    fit = tacit.glm(formula, table, schema_of(family), family, epsilon=math.inf, alpha=ALPHA)
    X, shift = sm.add_constant(table[["x", "u"]]), np.log(table["time"]) if offset else None
    twin = sm.GLM(table["y"].astype(float), X, family=TWINS[family], offset=shift)
    expected = twin.fit(cov_type="HC0", tol=1e-13, maxiter=200)
    np.testing.assert_allclose(np.asarray(fit.params), expected.params, atol=1e-7)
    np.testing.assert_allclose(np.asarray(fit.bse), expected.bse, rtol=1e-5)
    assert fit.summary().header.model.endswith(
        {"probit": "probit link", "cloglog": "cloglog link"}.get(family, "log link")
    )


@pytest.mark.parametrize(("lower", "upper"), [(5, 1000), (0, 30_000), (1, 100_000), (1e-4, 1e-2)])
@pytest.mark.parametrize("solver", ["auto", "newton", "gradient", "whitened-gradient", "objective-perturbation"])
def test_without_noise_amounts_of_any_size_are_fitted(solver: str, lower: float, upper: float) -> None:
    """A linear predictor of 0 is below, or above, all that the bounds allow."""
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, 1000)
    y = np.clip(rng.gamma(4.0, upper / 25 * np.exp(x) / 4), max(lower, 1e-9), upper)
    columns = {
        "x": {"type": "numeric", "lower": -1, "upper": 1},
        "y": {"type": "numeric", "lower": lower, "upper": upper},
    }
    schema = tacit.Schema.from_mapping({"columns": columns})
    fit = tacit.glm(
        "y ~ x", pd.DataFrame({"x": x, "y": y}), schema, "gamma", epsilon=math.inf, solver=solver, inference=False
    )
    twin = sm.GLM(y, sm.add_constant(x), family=TWINS["gamma"]).fit(tol=1e-13, maxiter=200)
    np.testing.assert_allclose(np.asarray(fit.params), twin.params, atol=1e-6)


def test_without_noise_and_intercept_large_amounts_are_fitted() -> None:
    rng = np.random.default_rng(3)
    x = rng.uniform(8, 9, 1000)
    table = pd.DataFrame({"x": x, "y": rng.gamma(4.0, np.exp(x) / 4)})
    columns = {
        "x": {"type": "numeric", "lower": 0, "upper": 10},
        "y": {"type": "numeric", "lower": 5, "upper": 100_000},
    }
    schema = tacit.Schema.from_mapping({"columns": columns})
    fit = tacit.glm("y ~ x - 1", table, schema, "gamma", epsilon=math.inf)
    twin = sm.GLM(table["y"], table[["x"]], family=TWINS["gamma"]).fit(tol=1e-13, maxiter=200)
    np.testing.assert_allclose(np.asarray(fit.params), twin.params, atol=1e-6)


@BY_FAMILY
def test_weights_count_as_so_many_records(family: str) -> None:
    table = table_of(family)
    schema = schema_of(
        family, columns={"w": {"type": "numeric", "lower": 0, "upper": 2}}, weight={"column": "w", "maximum": 2}
    )
    fit = tacit.glm("y ~ x + u", table, schema, family, epsilon=math.inf, alpha=ALPHA, inference=False)
    X = sm.add_constant(table[["x", "u"]])
    twin = sm.GLM(table["y"].astype(float), X, family=TWINS[family], freq_weights=table["w"]).fit(
        tol=1e-13, maxiter=200
    )
    np.testing.assert_allclose(np.asarray(fit.params), twin.params, atol=1e-6)


@BY_FAMILY
def test_a_private_fit_is_near_and_says_how_near(family: str) -> None:
    """Seeded: estimates lie within six of their standard errors of the fit without noise."""
    table, schema = table_of(family, 20_000), schema_of(family)
    exact = tacit.glm("y ~ x + u", table, schema, family, epsilon=math.inf, alpha=ALPHA)
    fit = tacit.glm("y ~ x + u", table, schema, family, epsilon=2.0, delta=1e-6, alpha=ALPHA, random_state=3)
    gap = np.abs(np.asarray(fit.params) - np.asarray(exact.params)) / np.asarray(fit.bse)
    assert gap.max() < 6
    assert np.asarray(fit.bse).max() < 0.1
    plain = tacit.glm("y ~ x + u", table, schema, family, epsilon=2.0, alpha=ALPHA, random_state=3, inference=False)
    assert np.abs(np.asarray(plain.params) - np.asarray(exact.params)).max() < 0.2


@pytest.mark.parametrize("epsilon", [0.05, 1.0])
@BY_FAMILY
def test_no_prediction_leaves_what_is_public(family: str, epsilon: float) -> None:
    table, schema = table_of(family, 300), schema_of(family)
    with pytest.warns(UserWarning, match="."):
        fit = tacit.glm("y ~ x + u", table, schema, family, epsilon=epsilon, delta=1e-6, random_state=1)
    far = pd.DataFrame({"x": [-4.0, 0.0, 4.0, 1e9], "u": [4.0, 0.0, -4.0, -1e9]})
    found = fit.predict(far)
    lowest, highest = (0.0, 1.0) if family in LABELS else (0.0 if family != "gamma" else 500 / 1e4, 500.0)
    # The exponential of a logarithm may round up.
    assert lowest * (1 - 1e-12) <= found.min() <= found.max() <= highest * (1 + 1e-12)


def test_intervals_of_predictions_and_ratios() -> None:
    for family, name in (("cloglog", "hazard ratio"), ("gamma", "ratio of means"), ("negative-binomial", "rate ratio")):
        table, schema = table_of(family), schema_of(family)
        fit = tacit.glm("y ~ x + u", table, schema, family, epsilon=math.inf)
        assert fit.summary(exponentiate=True).estimate == name
        found = fit.get_prediction(table.head(5))
        ends = found.conf_int()
        assert (ends[:, 0] < found.predicted_mean).all()
        assert (found.predicted_mean < ends[:, 1]).all()
    probit = tacit.glm("y ~ x", table_of("probit"), schema_of("probit"), "probit", epsilon=math.inf)
    with pytest.raises(SettingError, match="probit"):
        probit.summary(exponentiate=True)


def test_errors_of_predicted_means_are_those_of_statsmodels() -> None:
    for family in LABELS:
        table = table_of(family)
        fit = tacit.glm("y ~ x + u", table, schema_of(family), family, epsilon=math.inf)
        X = sm.add_constant(table[["x", "u"]])
        twin = sm.GLM(table["y"].astype(float), X, family=TWINS[family]).fit(cov_type="HC0", tol=1e-13)
        expected = twin.get_prediction(X.head(7)).summary_frame()["mean_se"]
        np.testing.assert_allclose(fit.get_prediction(table.head(7)).se_mean, expected, rtol=2e-3)


def test_records_outside_of_the_range_are_invalid_rows() -> None:
    table = table_of("gamma", 200)
    table.loc[3, "y"] = 0.0
    with pytest.raises(DataError, match="must be numbers > 0"):
        tacit.glm("y ~ x", table, schema_of("gamma"), "gamma", epsilon=10.0, delta=1e-6, invalid_rows="error")
    counts = table_of("negative-binomial", 200)
    counts["y"] = counts["y"].astype(float)
    counts.loc[3, "y"] = -1.0
    with pytest.raises(DataError, match="numbers >= 0"):
        tacit.glm(
            "y ~ x", counts, schema_of("gamma"), "negative-binomial", epsilon=10.0, delta=1e-6, invalid_rows="error"
        )


@pytest.mark.parametrize("alpha", [0.0, -1.0, 1e-4, 1e3, math.nan, "0.5", None])
def test_a_dispersion_that_no_counts_have_is_refused(alpha: Any) -> None:
    with pytest.raises(SettingError, match="alpha"):
        tacit.glm("y ~ x", table_of("gamma", 50), schema_of("gamma"), "negative-binomial", epsilon=1.0, alpha=alpha)


def test_what_public_facts_exclude_is_refused_before_the_table_is_opened() -> None:
    text = {
        "columns": {
            "x": {"type": "numeric", "lower": -4, "upper": 4},
            "y": {"type": "numeric", "lower": -2, "upper": 9},
        }
    }
    schema = tacit.Schema.from_mapping(text)
    for family in ("gamma", "negative-binomial"):
        with pytest.raises(FormulaError, match="declare lower = 0"):
            tacit.glm("y ~ x", "no such file.csv", schema, family, epsilon=1.0)
    for family in LABELS:
        with pytest.raises(FormulaError, match="binary column"):
            tacit.glm("y ~ x", "no such file.csv", schema, family, epsilon=1.0)


@BY_FAMILY
def test_a_stored_fit_is_as_able(family: str, tmp_path: Any) -> None:
    fit = tacit.glm("y ~ x + u", table_of(family), schema_of(family), family, epsilon=3.0, delta=1e-6, alpha=ALPHA)
    fit.save(tmp_path / "fit.json")
    kept = tacit.load(tmp_path / "fit.json")
    assert kept.certificate.check().consistent
    new = table_of(family, 5)
    np.testing.assert_array_equal(kept.predict(new), fit.predict(new))
    np.testing.assert_allclose(np.asarray(kept.conf_int()), np.asarray(fit.conf_int()))
    public = [fact for fact in fit.certificate.parsed["public"] if fact["name"] == "loss"]
    assert [fact["value"] for fact in public] == ([{"alpha": ALPHA}] if family == "negative-binomial" else [])
