"""Covariance: the empirical one without privacy; symmetric, positive semidefinite and certified with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.covariance import EmpiricalCovariance

import tacit
from tacit.errors import BoundsError, SettingError

RNG = np.random.default_rng(9)
N = 10_000
ROOT = np.array([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [-0.2, 0.3, 0.5]])
X = np.clip(RNG.normal(size=(N, 3)) @ ROOT.T * 0.5 + [1.0, -1.0, 2.0], -10, 10)
TARGET = EmpiricalCovariance().fit(X)


@pytest.mark.parametrize("relation", ["replace-one", "zero-out", "add-remove"])
@pytest.mark.parametrize("bounds", [{"bounds": (-10, 10)}, {"row_norm": 20.0}])
def test_without_privacy_it_is_the_empirical_covariance(relation: str, bounds: dict[str, Any]) -> None:
    found = tacit.Covariance(epsilon=np.inf, relation=relation, n_at_least=5000, **bounds).fit(X)
    np.testing.assert_allclose(found.covariance_, TARGET.covariance_, atol=1e-6)
    np.testing.assert_allclose(found.location_, TARGET.location_, atol=1e-6)
    np.testing.assert_allclose(found.correlation_, np.corrcoef(X.T), atol=1e-5)


@pytest.mark.parametrize("reach", [10.0, 1e3, 1e5])
def test_without_privacy_wide_bounds_cost_no_digits(reach: float) -> None:
    found = tacit.Covariance(epsilon=np.inf, bounds=(-reach, reach)).fit(X)
    np.testing.assert_allclose(found.covariance_, TARGET.covariance_, atol=1e-6)


def test_without_privacy_an_invalid_record_is_one_in_the_middle_of_the_bounds() -> None:
    """As with privacy: it adds nothing to the sums, and counts in the public n."""
    spoilt, middle = X.copy(), X.copy()
    spoilt[:100, 1], middle[:100] = np.nan, 0.0
    found = tacit.Covariance(epsilon=np.inf, bounds=(-10, 10), invalid_rows="zero").fit(spoilt)
    np.testing.assert_allclose(found.covariance_, np.cov(middle.T, bias=True), atol=1e-6)
    np.testing.assert_allclose(found.location_, middle.mean(axis=0), atol=1e-9)


def test_without_privacy_many_columns_are_summed_as_second_moments() -> None:
    many = RNG.uniform(-1, 1, (500, 65))
    found = tacit.Covariance(epsilon=np.inf, bounds=(-1, 1)).fit(many)
    np.testing.assert_allclose(found.covariance_, np.cov(many.T, bias=True), atol=1e-6)


@pytest.mark.parametrize("solver", ["auto", "moments"])
@pytest.mark.parametrize("relation", ["replace-one", "zero-out", "add-remove"])
def test_a_private_covariance_is_certified_with_its_numbers(solver: str, relation: str) -> None:
    model = tacit.Covariance(
        epsilon=1.0, delta=1e-6, bounds=(-10, 10), solver=solver, relation=relation, n_at_least=9000
    ).fit(X)
    assert model.certificate_.check().consistent
    assert model.certificate_.covers == ("covariance", "design", "terms")
    assert model.plan_.guarantee().epsilon == pytest.approx(1.0, rel=1e-2)
    assert model.certificate_.document["loss"] == "squared-distance of products"


def test_whitened_coordinates_tell_narrow_columns_from_noise() -> None:
    """Deviations of 1/20 of the bounds: the median error of 20 seeds is 8 times smaller than in prepared ones."""
    errors = {}
    for solver in ("auto", "moments"):
        fits = [
            tacit.Covariance(epsilon=1.0, bounds=(-10, 10), solver=solver, random_state=seed).fit(X)
            for seed in range(20)
        ]
        size = np.linalg.norm(TARGET.covariance_)
        errors[solver] = np.median([np.linalg.norm(it.covariance_ - TARGET.covariance_) / size for it in fits])
    assert errors["auto"] < 0.05
    assert errors["auto"] * 8 < errors["moments"]


@pytest.mark.parametrize("epsilon", [0.001, 0.1])
def test_t40_it_is_a_covariance_whatever_the_noise(epsilon: float) -> None:
    few = X[:100]
    for seed in range(10):
        with pytest.warns(UserWarning, match="small for this table"):
            found = tacit.Covariance(epsilon=epsilon, bounds=(-10, 10), random_state=seed).fit(few)
        values = np.linalg.eigvalsh(found.covariance_)
        assert values.min() >= -1e-9 * max(values.max(), 1.0)
        assert (found.covariance_ == found.covariance_.T).all()
        assert np.abs(found.correlation_).max() <= 1.0
        assert np.diag(found.correlation_).tolist() == [1.0] * 3


def test_t02_a_row_outside_of_the_bounds_acts_as_the_clipped_one() -> None:
    out, on = X.copy(), X.copy()
    out[7], on[7] = [1e6, -1e300, 0.0], [10.0, -10.0, 0.0]
    first, second = (tacit.Covariance(epsilon=1.0, bounds=(-10, 10), random_state=2).fit(it) for it in (out, on))
    assert first.covariance_.tobytes() == second.covariance_.tobytes()


def test_weights_units_and_sparse_rows() -> None:
    weights = RNG.uniform(0, 2, N)
    with pytest.warns(UserWarning, match="capped"):
        found = tacit.Covariance(epsilon=np.inf, bounds=(-10, 10), max_weight=2).fit(X, sample_weight=weights)
    np.testing.assert_allclose(found.covariance_, np.cov(X.T, aweights=weights, ddof=0), atol=1e-5)
    units = tacit.Covariance(epsilon=np.inf, bounds=(-10, 10), max_rows_per_unit=2).fit(X, units=np.arange(N) // 2)
    np.testing.assert_allclose(units.covariance_, TARGET.covariance_, atol=1e-5)
    kept = tacit.Covariance(epsilon=5.0, bounds=(-10, 10), max_rows_per_unit=2).fit(X, units=np.arange(N) // 2)
    assert kept.certificate_.check().consistent
    thin = tacit.Covariance(epsilon=np.inf, bounds=(-10, 10)).fit(sparse.csr_array(X))
    np.testing.assert_allclose(thin.covariance_, TARGET.covariance_, atol=1e-6)


@pytest.mark.usefixtures("nothing_spent")
def test_what_it_cannot_honour_is_refused() -> None:
    with pytest.raises(BoundsError, match="never read off"):
        tacit.Covariance(epsilon=1.0).fit(X)
    with pytest.raises(SettingError, match="declared bounds"):
        tacit.Covariance(epsilon=1.0, bounds="private").fit(X)
    with pytest.raises(SettingError, match='solver="auto"'):
        tacit.Covariance(epsilon=1.0, bounds=(-10, 10), solver="newton").fit(X)


def test_a_pure_budget_is_refused_before_anything_is_spent() -> None:
    with pytest.raises(SettingError, match="delta"):
        tacit.Covariance(epsilon=1, delta=0, bounds=(-10, 10)).fit(X)
