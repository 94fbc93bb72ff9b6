"""Simulated features have the moments given, and levels of a factor exclude each other."""

import numpy as np

from tacit.planning.simulated_rows import factors_of, rows_with_moments

GENERATOR = np.random.default_rng(0)
LATENT = GENERATOR.standard_normal(20_000)
LEVEL = np.digitize(LATENT + 0.5 * GENERATOR.standard_normal(20_000), [-0.5, 0.8])
TABLE = np.column_stack([LATENT, *(k == LEVEL for k in range(3)), GENERATOR.random(20_000) < 0.3]).astype(float)
MEAN, COVARIANCE = TABLE.mean(axis=0), np.cov(TABLE.T)


def test_factors_are_found() -> None:
    assert factors_of(MEAN, COVARIANCE) == [[1, 2, 3], [4]]


def test_means_and_correlations_are_those_given() -> None:
    found = rows_with_moments(MEAN, COVARIANCE, 4000, np.random.default_rng(1))
    assert set(np.unique(found[:, 1:])) == {0.0, 1.0}
    assert (found[:, 1:4].sum(axis=1) == 1).all()
    # 4000 rows: a mean 0.05 off, or a correlation 0.1 off by chance alone, has a probability below 1e-6.
    np.testing.assert_allclose(found.mean(axis=0), MEAN, atol=0.1)
    assert np.abs(np.corrcoef(found.T) - np.corrcoef(TABLE.T)).max() < 0.15
