"""Means: numpy's without privacy, near them with it, whatever the location of the bounds."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit import GaussianMean
from tacit.errors import BoundsError


def table(n: int = 900) -> NDArray[np.float64]:
    rng = np.random.default_rng(5)
    mixed = rng.normal(size=(n, 3)) @ [[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.0]]
    return np.asarray(mixed + np.array([5.0, -20.0, 1000.0]))


BOUNDS = ([-5, -50, 900], [20, 0, 1100])


def test_without_privacy_it_equals_numpy() -> None:
    X = table()
    model = GaussianMean(epsilon=np.inf, bounds=BOUNDS).fit(X)
    np.testing.assert_allclose(model.mean_, X.mean(axis=0), atol=1e-9)
    assert model.location_ is model.mean_
    # On the lattice of second moments, in units of the squared half widths.
    assert model.covariance_ is not None
    np.testing.assert_allclose(model.covariance_, np.cov(X.T, ddof=0), atol=1e-8 * 100**2)
    np.testing.assert_allclose(model.release_.coefficients(), model.mean_)


@pytest.mark.filterwarnings("ignore:Weights above")
def test_weights_count() -> None:
    X = table()
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    model = GaussianMean(epsilon=np.inf, bounds=BOUNDS, max_weight=3)
    model.fit(X, sample_weight=weights)
    np.testing.assert_allclose(model.mean_, np.average(X, axis=0, weights=weights), atol=1e-6)


def test_a_private_number_of_records_does_not_scale_the_mean() -> None:
    X = table()
    for epsilon in (1.0, np.inf):
        model = GaussianMean(epsilon=epsilon, bounds=BOUNDS, relation="add-remove", n_at_least=300, random_state=0).fit(
            X
        )
        np.testing.assert_allclose(model.mean_, X.mean(axis=0), rtol=0.3)


def test_t02_a_row_outside_the_bounds_equals_the_clipped_row() -> None:
    X, clipped = table(), table()
    X[3], clipped[3] = [1e9, -1e9, 1000.0], [20.0, -50.0, 1000.0]
    settings: dict[str, Any] = {"epsilon": 1.0, "bounds": BOUNDS, "random_state": 0}
    first, second = (GaussianMean(**settings).fit(rows) for rows in (X, clipped))
    assert first.mean_.tobytes() == second.mean_.tobytes()


def test_t36_missing_bounds_are_refused() -> None:
    with pytest.raises(BoundsError, match=r"bounds=.*row_norm="):
        GaussianMean(epsilon=1.0).fit(table())


@pytest.mark.parametrize("n", [200, 20_000])
def test_a_private_mean_is_near_the_free_one(n: int) -> None:
    """One fit with the system's noise, ε = 1, with and without looks at the second moments.

    Noise of one sum of rows in bounds of half width w has the deviation 2√3·w / (n μ), μ > 0.2:
    below 0.1·w at n = 200. The bound is seven of them; the largest error of 20 fits was two.
    False-alarm rate below 1e-6.
    """
    X = table(n)
    model = GaussianMean(epsilon=1.0, bounds=BOUNDS).fit(X)
    widths = np.subtract(BOUNDS[1], BOUNDS[0]) / 2
    assert (np.abs(model.mean_ - X.mean(axis=0)) / widths).max() < 7 * 2 * 3**0.5 / (n * 0.2)
    looked = any(step.label == "second moments" for step in model.plan_.steps)
    assert (model.covariance_ is None) != looked
    if model.covariance_ is not None:
        assert np.linalg.eigvalsh(model.covariance_).min() >= -1e-9


def test_the_response_is_ignored() -> None:
    X = table()
    settings: dict[str, Any] = {"epsilon": 1.0, "bounds": BOUNDS, "random_state": 0}
    first = GaussianMean(**settings).fit(X)
    second = GaussianMean(**settings).fit(X, np.ones(len(X)))
    assert first.mean_.tobytes() == second.mean_.tobytes()
