"""Sums over public rows are those of the mechanisms without noise."""

import numpy as np

from tacit.contract.query import ColumnCounts, CurvatureAndScore, GradientSum, SecondMoments
from tacit.losses import classification
from tacit.planning.row_sums import RowSums

GENERATOR = np.random.default_rng(0)
ROWS = np.column_stack([GENERATOR.uniform(-1, 1, (50, 2)), np.ones(50)])
LABELS = (GENERATOR.random(50) < 0.4).astype(float)


def test_rows_stand_for_records_in_proportion() -> None:
    few, many = (RowSums.standing_for(n, ROWS, LABELS) for n in (50, 5000))
    for query in (
        GradientSum(np.array([0.3, -0.2, 0.1]), 10.0),
        SecondMoments(10.0),
        ColumnCounts((0, 3), np.zeros(2), np.ones(2)),
        CurvatureAndScore(np.zeros(3), 10.0, None, classification.LOGISTIC),
    ):
        np.testing.assert_allclose(many.total(query), 100 * few.total(query), rtol=1e-12)


def test_gradient_is_that_of_the_loss_and_is_clipped() -> None:
    theta = np.array([0.3, -0.2, 0.1])
    residual = 1 / (1 + np.exp(-ROWS @ theta)) - LABELS
    sums = RowSums.standing_for(50, ROWS, LABELS)
    np.testing.assert_allclose(sums.total(GradientSum(theta, 10.0)), ROWS.T @ residual, rtol=1e-12)
    own = ROWS * residual[:, None]
    short = own * np.minimum(1.0, 0.1 / np.linalg.norm(own, axis=1))[:, None]
    np.testing.assert_allclose(sums.total(GradientSum(theta, 0.1)), short.sum(axis=0), rtol=1e-12)
