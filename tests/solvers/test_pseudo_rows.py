"""Public rows: their moments, and what weights leave of the score."""

import math

import numpy as np
import pytest

from tacit.losses import classification, poisson, regression
from tacit.solvers.coordinates import Coordinates
from tacit.solvers.pseudo_rows import Rows, expected_matrices, pseudo_rows, weight_ratio

PLAIN = Coordinates(np.eye(3), 3.0)
MEAN = np.array([0.3, -0.2, 0.9])


def test_rows_have_the_released_moments() -> None:
    rows = pseudo_rows(PLAIN, 3, MEAN)
    np.testing.assert_allclose(rows.mean(axis=0), MEAN, atol=0.1)
    np.testing.assert_allclose(rows.T @ rows / len(rows), np.eye(3), atol=0.15)
    np.testing.assert_allclose(pseudo_rows(PLAIN, 3, None).mean(axis=0), 0.0, atol=0.1)
    np.testing.assert_array_equal(rows, pseudo_rows(PLAIN, 3, MEAN))


def test_a_mean_row_that_noise_made_too_long_is_shortened() -> None:
    rows = pseudo_rows(PLAIN, 3, 50 * MEAN)
    assert np.linalg.norm(rows.mean(axis=0)) < 1.05
    assert np.isfinite(rows).all()


@pytest.mark.parametrize(
    "loss",
    [classification.LOGISTIC, regression.SQUARED, poisson.weighted(1.0, 1e6, 1e6)],
    ids=lambda loss: str(loss.name),
)
def test_without_weights_the_score_is_the_curvature(loss: object) -> None:
    rows, theta = pseudo_rows(PLAIN, 3, MEAN), np.array([0.2, 0.1, -0.3])
    curvature, score = expected_matrices(rows, theta, loss, 1e6)  # type: ignore[arg-type]
    np.testing.assert_allclose(score, curvature, rtol=1e-12)
    assert weight_ratio(Rows(PLAIN, 1e6, MEAN), theta, loss) == pytest.approx(1.0)  # type: ignore[arg-type]


def test_weights_enter_the_score_squared() -> None:
    """One column z of deviation 1, weights min(1, c²/z²): E w²z² over E wz², by integration."""
    cut, grid = 1.5, np.linspace(-9, 9, 200_001)
    law = np.exp(-(grid**2) / 2) / math.sqrt(2 * math.pi) * (grid[1] - grid[0])
    weights = np.minimum(1.0, cut**2 / np.maximum(grid**2, 1e-12))
    known = float(law @ (weights**2 * grid**2)) / float(law @ (weights * grid**2))
    one = Coordinates(np.eye(1), 1.0)
    found = weight_ratio(Rows(one, cut), np.zeros(1), regression.SQUARED)
    assert found == pytest.approx(known, rel=0.05)
    assert known < 0.9


def test_counts_beyond_the_top_rate_weigh_less() -> None:
    theta = np.array([0.5, 0.5, 1.0])
    free = weight_ratio(Rows(PLAIN, 1e6, MEAN), theta, poisson.weighted(2.0, 1e6, 1e6))
    cut = weight_ratio(Rows(PLAIN, 1e6, MEAN), theta, poisson.weighted(2.0, 2.0, 100.0))
    assert cut < free == pytest.approx(1.0)
