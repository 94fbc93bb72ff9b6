"""The reference fit against statsmodels, and where a sample has no estimate."""

import numpy as np
import pytest
import statsmodels.api as sm

from benchmarks.coverage.plain_fit import fit_rows, plain_fit
from benchmarks.coverage.population import Family, expit
from benchmarks.coverage.populations import POPULATIONS

FAMILIES: dict[Family, object] = {
    "gaussian": sm.families.Gaussian(),
    "binomial": sm.families.Binomial(),
    "poisson": sm.families.Poisson(),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_statsmodels_agrees(family: Family) -> None:
    generator = np.random.default_rng(4)
    Z = np.column_stack([np.ones(500), generator.standard_normal((500, 2))])
    predictor = Z @ np.array([0.2, 0.5, -0.5])
    offset = 0.3 * generator.standard_normal(500) if family == "poisson" else np.zeros(500)
    y = {
        "gaussian": predictor + generator.standard_normal(500),
        "binomial": (generator.random(500) < expit(predictor)).astype(float),
        "poisson": generator.poisson(np.exp(predictor + offset)).astype(float),
    }[family]
    persons = np.repeat(np.arange(250), 2)
    model = sm.GLM(y, Z, family=FAMILIES[family], offset=offset)
    twin, clustered = (
        model.fit(tol=1e-12, cov_type=kind, cov_kwds=words)
        for kind, words in (("HC0", {}), ("cluster", {"groups": persons, "use_correction": False}))
    )
    found = fit_rows(family, Z, y, offset)
    assert found.values == pytest.approx(twin.params, abs=1e-8)
    assert found.errors == pytest.approx(twin.bse, rel=1e-6)
    assert fit_rows(family, Z, y, offset, persons).errors == pytest.approx(clustered.bse, rel=1e-6)


def test_where_there_is_no_estimate_there_is_none() -> None:
    Z = np.column_stack([np.ones(40), np.linspace(-1, 1, 40)])
    separated = fit_rows("binomial", Z, (Z[:, 1] > 0).astype(float))
    assert np.isnan(separated.values).all()
    twice = fit_rows("gaussian", np.column_stack([Z, Z[:, 1]]), Z[:, 1])
    assert np.isnan(twice.errors).all()
    assert np.isnan(fit_rows("poisson", Z, np.zeros(40)).values).all()


def test_no_residuals_are_no_error() -> None:
    Z = np.column_stack([np.ones(40), np.linspace(-1, 1, 40)])
    found = fit_rows("gaussian", Z, np.full(40, 3.0))
    assert found.values == pytest.approx([3, 0], abs=1e-9)
    assert found.errors.tolist() == [0, 0]


def test_a_separated_level_is_left_out() -> None:
    population = POPULATIONS["sep_logit"]
    found = plain_fit(population, population.sample(2000, np.random.default_rng(5)))
    assert np.isfinite(found.values).tolist() == [True, True, True, True, False]
    nothing = POPULATIONS["const_logit"]
    assert np.isnan(plain_fit(nothing, nothing.sample(99, np.random.default_rng(5))).values).all()


@pytest.mark.parametrize(
    ("family", "twin"),
    [
        ("gamma", sm.families.Gamma(sm.families.links.Log())),
        ("negative-binomial", sm.families.NegativeBinomial(alpha=1.0)),
        ("probit", sm.families.Binomial(sm.families.links.Probit())),
        ("cloglog", sm.families.Binomial(sm.families.links.CLogLog())),
    ],
)
def test_statsmodels_agrees_for_other_links_and_laws(family: Family, twin: object) -> None:
    generator = np.random.default_rng(4)
    Z = np.column_stack([np.ones(500), generator.standard_normal((500, 2))])
    z, offset = Z @ np.array([0.2, 0.5, -0.5]), 0.3 * generator.standard_normal(500)
    mean = np.exp(z + offset)
    y = {"gamma": generator.gamma(2.0, mean / 2), "negative-binomial": generator.poisson(mean).astype(float)}.get(
        family, (generator.random(500) < 0.4).astype(float)
    )
    expected = sm.GLM(y, Z, family=twin, offset=offset).fit(cov_type="HC0", tol=1e-12, maxiter=200)
    found = fit_rows(family, Z, y, offset)
    assert found.values == pytest.approx(expected.params, abs=1e-8)
    assert found.errors == pytest.approx(expected.bse, rel=1e-6)
