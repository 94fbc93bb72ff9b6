"""Wald tests: those of statsmodels without noise, and a right level with it."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tacit.errors import SettingError
from tacit.inference.covariance import Covariance
from tacit.inference.hypotheses import Combinations, wald_test, weakest
from tacit.inference.results import Results


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (["x0", "x1"], "x1 = 0, x2 = 0"),
        ("x2 = 0.1", "x3 = 0.1"),
        ("x0 + x1 = 0.2, x2", "x1 + x2 = 0.2, x3 = 0"),
        ("x0 = -x1 = 0.5", "x1 = -x2, x2 = -0.5"),
    ],
)
def test_they_are_those_of_statsmodels(twins: Any, ours: Any, theirs: str) -> None:
    found = twins.ours.wald_test(ours)
    known = twins.theirs.wald_test(theirs, use_f=False, scalar=True)
    assert found.distribution == "chi2"
    assert found.statistic == pytest.approx(float(known.statistic), rel=2e-6)
    assert found.pvalue == pytest.approx(float(known.pvalue), rel=1e-4, abs=1e-12)
    assert found.df_num == known.df_denom
    assert found.statement == "nominal"


def test_each_alone_is_that_of_statsmodels(twins: Any) -> None:
    found = twins.ours.t_test("x0 - x1 = 0, 2 * x2 = 1")
    known = twins.theirs.t_test("x1 - x2 = 0, 2 * x3 = 1", use_t=False)
    np.testing.assert_allclose(found.values, known.effect, rtol=1e-6)
    np.testing.assert_allclose(found.std_errors, known.sd, rtol=1e-6)
    np.testing.assert_allclose(found.statistics, np.ravel(known.tvalue), rtol=2e-6)
    np.testing.assert_allclose(found.pvalues, known.pvalue, rtol=1e-4, atol=1e-12)
    np.testing.assert_allclose(found.conf_int(), known.conf_int(), rtol=1e-5, atol=1e-8)


def test_of_one_combination_it_is_the_square_of_t(make_release: Any) -> None:
    results = Results(make_release())
    alone, wald = results.t_test("x0 - x1 = 0.3"), results.wald_test("x0 - x1 = 0.3")
    assert wald.statistic == pytest.approx(alone.statistics[0] ** 2)
    assert wald.pvalue == pytest.approx(alone.pvalues[0])
    assert (wald.distribution, wald.df_num) == ("F", 1)
    assert wald.df_denom == pytest.approx(alone.degrees[0])


def test_the_fewest_degrees_decide(make_release: Any, altered: Any) -> None:
    results = Results(altered(make_release(), score_noise=2.0))
    wald = results.wald_test(["x0", "x1", "x2"])
    assert wald.df_denom <= results.coefficients.degrees[1:].min()
    beyond = stats.f(3, wald.df_denom).sf(wald.statistic)
    tail = results._covariance.simulated_tail(np.eye(4)[1:], 3 * wald.statistic, beyond)  # type: ignore[union-attr]
    assert wald.pvalue == pytest.approx(tail)


def test_statements_are_the_weakest(make_release: Any) -> None:
    assert Results(make_release()).wald_test(["x0", "x1"]).statement == "nominal"
    assert weakest(("nominal", "approximate", "conservative")) == "approximate"
    assert Results(make_release(signal=50.0)).wald_test("x0").statement == "conservative"


def test_what_follows_from_the_rest_is_refused(make_release: Any) -> None:
    with pytest.raises(SettingError, match="follow from the others"):
        Results(make_release()).wald_test("x0, x1, x0 - x1")


def test_it_reads_aloud(make_release: Any, twins: Any) -> None:
    assert str(Results(make_release()).wald_test("x0")).startswith("Wald test of x0: F(1, ")
    assert "chi2(2)" in str(twins.ours.wald_test(["x0", "x1"]))


def test_the_level_is_right_where_the_law_of_the_noise_is(make_release: Any) -> None:
    """2000 draws from the very covariance that is claimed: at 5%, between 50 and 150 rejections.

    A binomial count lies outside with a probability below 1e-6.
    """
    spread, words = Covariance.of(make_release().sandwich, 1600), ("nominal",) * 3
    rng = np.random.default_rng(3)
    weights = np.eye(4)[1:]
    covariance = spread.covariance()[1:, 1:]
    asked = Combinations(weights, np.zeros(3), ("a", "b", "c"))
    draws = rng.multivariate_normal(np.zeros(3), covariance, size=2000)
    rejected = sum(wald_test(spread, np.append(0.0, draw), asked, words).pvalue < 0.05 for draw in draws)
    assert 50 <= rejected <= 150
    assert math.isfinite(wald_test(spread, np.zeros(4), asked, words).pvalue)
