"""The curvature expected of public pseudo-rows, and where the matrices are asked for."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from tacit.contract.query import Answer
from tacit.losses import classification, poisson
from tacit.losses.loss import Loss
from tacit.solvers.coordinates import Coordinates
from tacit.solvers.interval_rules import ONE_STEP
from tacit.solvers.predictors import Predictors
from tacit.solvers.pseudo_rows import Rows, expected_curvature, part_way

PLAIN = Coordinates(np.eye(3), 3.0)
FAR = 100.0
COUNTS = poisson.weighted(1.0, 2.0, 30.0)


def test_at_zero_the_logistic_curvature_is_a_quarter_of_the_second_moments() -> None:
    """1500 rows: an entry has a deviation of 0.25·√2 / √1500 = 0.009 at most."""
    found = expected_curvature(Rows(PLAIN, FAR), np.zeros(3), classification.LOGISTIC)
    np.testing.assert_allclose(found, np.eye(3) / 4, atol=0.05)


@pytest.mark.parametrize("loss", [classification.LOGISTIC, classification.weighted_logistic(0.1), COUNTS])
def test_it_is_the_mean_over_normal_rows(loss: Loss) -> None:
    """Against 10⁶ other rows; half a percent of a mean of 1500 would be luck, a tenth is not."""
    theta = np.array([0.8, -0.5, 0.2])
    z = np.random.default_rng(5).standard_normal((1_000_000, 3))
    if loss is COUNTS:
        bend = np.minimum(np.exp(z @ theta), 2.0)
    else:
        bend = special.expit(z @ theta) * special.expit(-z @ theta)
        bend = np.minimum(bend, loss.smoothness)
    weight = np.minimum(1.0, 2.0**2 / (z**2).sum(axis=1))
    expected = (z.T * (weight * bend)) @ z / len(z)
    found = expected_curvature(Rows(PLAIN, 2.0), theta, loss)
    np.testing.assert_allclose(found, expected, atol=0.1 * float(np.diagonal(expected).max()))


def test_shortened_rows_keep_more() -> None:
    theta, loss = np.array([0.8, -0.5, 0.2]), replace(classification.LOGISTIC, smoothness=0.15)
    z = np.random.default_rng(5).standard_normal((1_000_000, 3))
    bend, square = special.expit(z @ theta) * special.expit(-z @ theta), (z**2).sum(axis=1)
    weight = np.minimum(np.minimum(1.0, 1.5 / np.sqrt(square)), 0.15 * 1.5**2 / (bend * square))
    expected = (z.T * (weight * bend)) @ z / len(z)
    found = expected_curvature(Rows(PLAIN, 1.5, shortened=True), theta, loss)
    np.testing.assert_allclose(found, expected, atol=0.1 * float(np.diagonal(expected).max()))
    less = expected_curvature(Rows(PLAIN, 1.5), theta, loss)
    assert np.trace(less) < 0.95 * np.trace(found)


def test_rows_have_the_released_mean_and_a_second_moment_of_1() -> None:
    matrix = np.diag([1.0, 1.0, 0.8])
    coordinates = Coordinates(matrix, 3.0)
    mean_row = np.array([0.0, 0.0, 1.0])
    found = expected_curvature(Rows(coordinates, FAR, mean_row), np.zeros(3), classification.LOGISTIC)
    np.testing.assert_allclose(4 * found, np.eye(3), atol=0.15)
    # A mean longer than the second moment allows is shortened, and nothing is not a number.
    wild = expected_curvature(Rows(coordinates, FAR, 9 * mean_row), np.zeros(3), classification.LOGISTIC)
    assert np.isfinite(wild).all()
    assert 4 * wild[2, 2] == pytest.approx(1.0, abs=0.1)


def place(mean: np.ndarray, noise: float) -> np.ndarray:
    return part_way(Rows(PLAIN, FAR), Predictors(), np.zeros(3), classification.LOGISTIC, Answer(mean, noise))


def test_without_noise_of_its_own_the_step_goes_half_of_the_way() -> None:
    mean = np.array([0.05, -0.02, 0.01])
    full = np.linalg.solve(expected_curvature(Rows(PLAIN, FAR), np.zeros(3), classification.LOGISTIC), mean)
    np.testing.assert_allclose(place(mean, 0.0), -full / 2, rtol=1e-9)


def test_a_step_that_its_own_noise_explains_goes_nowhere() -> None:
    mean = np.array([0.01, -0.02, 0.01])
    assert not place(mean, 1.0).any()
    assert not place(np.zeros(3), 0.0).any()


def test_more_noise_goes_less_far() -> None:
    mean = np.array([0.05, -0.02, 0.01])
    lengths = [float(np.linalg.norm(place(mean, noise))) for noise in (0.0, 0.01, 0.02, 0.1)]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] > lengths[1] > 0


def test_a_long_step_is_cut() -> None:
    assert np.linalg.norm(place(np.full(3, 1e6), 0.0)) == pytest.approx(ONE_STEP.farthest / 2)
    assert math.isfinite(float(place(np.full(3, 1e300**0.4), 0.0).sum()))
