"""The mean of rows: whitened where second moments resolve the spread, exact without noise."""

import numpy as np
import pytest

import tacit
from tacit.privacy.budget import Budget
from tacit.solvers.mean import Mean

RNG = np.random.default_rng(6)
X = RNG.normal([0.5, -0.2], [0.05, 0.1], (20_000, 2))


@pytest.mark.parametrize(("signal", "name"), [(29.0, "mean"), (31.0, "whitened-mean")])
def test_rows_are_whitened_from_a_signal_on(signal: float, name: str) -> None:
    model = tacit.GaussianMean(budget=Budget(mu=signal * 3 / 5000), bounds=(-1, 1))
    solver = model.plan(5000, 2).solver
    assert isinstance(solver, Mean)
    assert (solver.name, solver.maps_rows) == (name, signal > 30)


def test_whitening_makes_the_mean_of_narrow_columns_more_accurate() -> None:
    errors = {}
    for solver in ("auto", "gradient"):
        found = [
            tacit.GaussianMean(epsilon=0.3, bounds=(-10, 10), solver=solver, random_state=seed).fit(X).mean_
            for seed in range(8)
        ]
        errors[solver] = float(np.sqrt(np.mean((np.array(found) - X.mean(axis=0)) ** 2)))
    assert errors["auto"] < 0.5 * errors["gradient"]


def test_without_noise_mean_and_covariance_are_exact() -> None:
    model = tacit.GaussianMean(epsilon=np.inf, bounds=(-2, 2)).fit(X)
    np.testing.assert_allclose(model.mean_, X.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(np.asarray(model.covariance_), np.cov(X.T, bias=True), atol=1e-7)
