"""Estimates of one block, against scikit-learn and numpy."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from tacit.contract.block_query import BlockMinimum
from tacit.losses import classification, regression
from tacit.mechanisms.block_minimum import block_minimum, least_squares

RNG = np.random.default_rng(1)
X = np.column_stack([RNG.normal(size=(200, 2)), np.ones(200)])


def test_logistic_minimiser_is_scikit_learns() -> None:
    y = (RNG.random(200) < 1 / (1 + np.exp(-X @ [2.0, -1.0, 0.5]))).astype(float)
    found = block_minimum(BlockMinimum(classification.LOGISTIC, 3, 0.5), np.column_stack([X, y]), np.arange(200))
    twin = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(found, twin.coef_[0], atol=1e-5)


def test_squared_minimiser_is_ridge_regression() -> None:
    y = X @ [0.3, -0.2, 0.1]
    found = block_minimum(BlockMinimum(regression.SQUARED, 3, 1e-3), np.column_stack([X, y]), np.arange(200))
    np.testing.assert_allclose(found, np.linalg.solve(X.T @ X + 1e-3 * np.eye(3), X.T @ y), atol=1e-9)
    np.testing.assert_allclose(least_squares(np.column_stack([X, y]), 3), [0.3, -0.2, 0.1], atol=1e-12)


def test_a_unit_of_several_rows_counts_once() -> None:
    y = X @ [0.3, -0.2, 0.1] + RNG.normal(size=200)
    rows = np.column_stack([X, y])
    function = BlockMinimum(regression.SQUARED, 3, 1e-3)
    once = block_minimum(function, rows, np.arange(200))
    twice = block_minimum(function, np.concatenate([rows, rows]), np.tile(np.arange(200), 2))
    np.testing.assert_allclose(once, twice, atol=1e-12)


@pytest.mark.parametrize("loss", [classification.LOGISTIC, classification.hinge(), regression.huber(0.5)])
def test_separable_blocks_stay_finite(loss: object) -> None:
    rows = np.array([[1.0, 0.0, 1.0, 1.0], [-1.0, 0.0, 1.0, 0.0]])
    assert np.isfinite(block_minimum(BlockMinimum(loss, 3, 0.5), rows, np.arange(2))).all()  # type: ignore[arg-type]


def test_failed_decompositions_are_no_error() -> None:
    assert not np.isfinite(least_squares(np.full((3, 3), np.inf), 2)).all()
