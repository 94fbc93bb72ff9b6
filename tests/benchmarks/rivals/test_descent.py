"""Noisy descent: clipped contributions, the stated noise, and the minimum without it."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import r2_score

from benchmarks.accuracy.bundled import diabetes
from benchmarks.rivals.calibration import mu_of
from benchmarks.rivals.descent import NoisyDescent, clipped_sum, descend, noise_scale
from benchmarks.rivals.non_private import NonPrivate

Single = NDArray[np.float32]


def total(X: Single, y: Single, theta: Single, clip: float) -> NDArray[np.float64]:
    reach = 1 / np.sqrt(np.einsum("ij,ij->i", X, X))
    clips = np.array([clip], dtype=np.float32)
    return clipped_sum(X, y, reach, theta, clips, "classification")[:, 0].astype(np.float64)


@pytest.mark.parametrize("clip", [0.03, 0.3, 1.0])
def test_one_record_moves_the_sum_by_at_most_two_clips(clip: float) -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((50, 4)).astype(np.float32)
    y = (rng.random(50) < 0.5).astype(np.float32)
    theta = rng.standard_normal((4, 1)).astype(np.float32) * 3
    moved = []
    for _ in range(200):
        other, label = X.copy(), y.copy()
        other[7], label[7] = rng.standard_normal(4) * 5, rng.integers(2)
        moved.append(np.linalg.norm(total(X, y, theta, clip) - total(other, label, theta, clip)))
    assert max(moved) <= 2 * clip * 1.0001
    # The bound is not idle: clipping is what holds it.
    assert max(moved) > clip


def test_all_steps_together_cost_the_budget() -> None:
    mu, clip, length = 0.4, 0.3, 100
    step_cost = (2 * clip / noise_scale(mu, clip, length)) ** 2
    assert math.sqrt(length * step_cost) == pytest.approx(mu)


def test_the_noise_of_a_step_is_as_stated() -> None:
    # With y = 0 and θ = 0 the gradient of least squares is 0: one step is the noise alone.
    width, rows, mu = 4000, 3, 0.5
    X = np.full((rows, width), 0.01, dtype=np.float32)
    setting = {"clip": 0.2, "step": 3.0, "length": 1.0}
    theta = descend(X, np.zeros(rows, dtype=np.float32), "regression", mu, [setting], 0)
    stated = 3.0 / rows * noise_scale(mu, 0.2, 1)
    assert theta.std() == pytest.approx(stated, rel=0.07)


def test_a_huge_budget_reaches_least_squares() -> None:
    table = diabetes()
    setting = {"clip": 2.5, "step": 3.0, "length": 3000.0}
    (fit,) = NoisyDescent().fits(table, 1e6, [setting], 0)
    (plain,) = NonPrivate().fits(table, 1e6, [{}], 0)
    assert mu_of(1e6, 1e-6) > 1e3
    assert r2_score(table.y_test, fit.margins) == pytest.approx(r2_score(table.y_test, plain.margins), abs=0.02)


def test_settings_run_together_as_they_run_alone() -> None:
    table = diabetes()
    settings = [
        {"clip": 0.1, "step": 1.0, "length": 30.0},
        {"clip": 0.3, "step": 0.3, "length": 100.0},
        {"clip": 1.0, "step": 3.0, "length": 30.0},
    ]
    together = NoisyDescent().fits(table, 2.0, settings, 5)
    for setting, fit in zip(settings, together, strict=True):
        (alone,) = NoisyDescent().fits(table, 2.0, [setting], 5)
        np.testing.assert_allclose(fit.margins, alone.margins, rtol=1e-3)
