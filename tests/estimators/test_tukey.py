"""Least squares without bounds: far-off scales, outliers, and a failed test that is paid for."""

import numpy as np
import pytest

from tacit import Budget, Ledger, TukeyRegressor
from tacit.errors import LedgerError, SettingError
from tacit.estimators.tukey import UnstableFit

RNG = np.random.default_rng(0)
X = RNG.normal(size=(8000, 2)) * [1e6, 1e-6]
Y = X @ [3.0, -2e12] + 1e6 * (RNG.normal(size=8000) + 5)


def test_scales_need_not_be_known() -> None:
    """Seeded."""
    model = TukeyRegressor(epsilon=4.0, delta=1e-6, random_state=1).fit(X, Y)
    assert model.stable_
    np.testing.assert_allclose(model.coef_, [3.0, -2e12], rtol=0.2)
    assert model.intercept_ == pytest.approx(5e6, rel=0.1)
    assert model.predict(X[:3]).shape == (3,)
    assert model.certificate_.document["events"][0]["arithmetic"] == "real-number proof"
    assert model.certificate_.document["loss"] == "black box"


def test_a_few_wild_records_do_no_harm() -> None:
    """Seeded."""
    wild = Y.copy()
    wild[:5] = 1e14
    model = TukeyRegressor(epsilon=4.0, delta=1e-6, random_state=1).fit(X, wild)
    assert model.stable_
    np.testing.assert_allclose(model.coef_, [3.0, -2e12], rtol=0.3)


def test_a_failed_test_is_charged_and_told() -> None:
    """Seeded: 100 records have too few blocks for the test."""
    with pytest.warns(UnstableFit, match="stability test failed"):
        model = TukeyRegressor(epsilon=0.5, delta=1e-6, random_state=1).fit(X[:100], Y[:100])
    assert not model.stable_
    assert not model.coef_.any()
    assert model.plan_.guarantee().epsilon > 0.49


def test_no_ledger_takes_a_test_that_may_fail() -> None:
    with Ledger(budget=Budget(epsilon=9.0, delta=1e-5)) as ledger:
        with pytest.raises(LedgerError, match=r"Nothing was spent\. Fit outside of it"):
            TukeyRegressor(epsilon=4.0, delta=1e-6).fit(X, Y)
        assert ledger.charges() == ()


def test_invalid_and_few_records_refuse_nothing() -> None:
    """Where n is private, five records are fitted like any other table; the test fails, and that is told."""
    wild = X.copy()
    wild[3, 0] = np.nan
    assert TukeyRegressor(epsilon=8.0, delta=1e-6, invalid_rows="zero", random_state=1).fit(wild, Y).stable_
    few = TukeyRegressor(epsilon=4.0, delta=1e-6, relation="add-remove", n_at_least=4000, random_state=1)
    with pytest.warns(UnstableFit):
        few.fit(X[:5], Y[:5])


def test_what_it_cannot_do_is_refused() -> None:
    with pytest.raises(SettingError, match="delta above 0"):
        TukeyRegressor(epsilon=1.0, delta=0.0).plan(10_000, 2)
    with pytest.raises(SettingError, match="fewer than the 3 numbers"):
        TukeyRegressor(epsilon=1.0, blocks=60).plan(100, 2)
    with pytest.raises(SettingError, match="neither solver nor row_norm"):
        TukeyRegressor(epsilon=1.0, row_norm=1.0).plan(100, 2)


def test_without_noise_it_is_the_median_of_the_blocks() -> None:
    model = TukeyRegressor(epsilon=float("inf"), blocks=20).fit(X, Y)
    np.testing.assert_allclose(model.coef_, [3.0, -2e12], rtol=0.05)
