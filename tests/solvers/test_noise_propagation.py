"""The noise that steps leave behind: against closed forms and against the steps themselves."""

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.solvers.noise_propagation import carry_noise

RNG = np.random.default_rng(8)
HALF = RNG.normal(size=(4, 4))
CURVATURE = 0.2 * np.eye(4) + 0.1 * HALF @ HALF.T
INVERSE: NDArray[np.float64] = np.asarray(np.linalg.inv(CURVATURE), np.float64)


def last(count: int) -> list[float]:
    return [0.0] * (count - 1) + [1.0]


@pytest.mark.parametrize("eta", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("count", [1, 3, 12])
def test_damped_newton_is_the_geometric_sum(eta: float, count: int) -> None:
    """σ² M⁻² η²(1 - (1-η)^2T) / (1 - (1-η)²), and (1-η)^T of the start is left."""
    found, left = carry_noise(CURVATURE, [np.asarray(eta * INVERSE)] * count, [0.3] * count, last(count))
    a = 1 - eta
    factor = eta**2 * (1 - a ** (2 * count)) / (1 - a**2)
    np.testing.assert_allclose(found, 0.09 * factor * INVERSE @ INVERSE, rtol=1e-9)
    np.testing.assert_allclose(left, a**count * np.eye(4), atol=1e-9)
    alone = 0.09 * eta**2 * INVERSE @ INVERSE
    assert np.trace(found) >= np.trace(alone) * (1 - 1e-12)


@pytest.mark.parametrize("first", [0, 5, 9])
def test_descent_is_the_sum_in_the_eigenbasis(first: int) -> None:
    """Tail average: σ² η² Σ_s (m⁻¹ Σ_{t ≥ max(s, first)} a^{t-s})², eigenvalue by eigenvalue."""
    count, eta, noise = 10, 0.7, 0.2
    weights = [0.0] * first + [1 / (count - first)] * (count - first)
    found, _ = carry_noise(CURVATURE, [eta * np.eye(4)] * count, [noise] * count, weights)
    values, vectors = np.linalg.eigh(CURVATURE)
    expected = np.zeros(4)
    for a_j, j in zip(1 - eta * values, range(4), strict=True):
        for s in range(count):
            reach = sum(a_j ** (t - s) for t in range(max(s, first), count))
            expected[j] += (noise * eta * reach / (count - first)) ** 2
    np.testing.assert_allclose(found, (vectors * expected) @ vectors.T, rtol=1e-9, atol=1e-15)


def test_any_steps_are_what_they_do_to_unit_noise() -> None:
    """Different preconditioners, noises and weights: each noise alone, pushed through the steps."""
    count = 6
    halves = RNG.normal(size=(count, 4, 4)) / 6
    steps = [0.4 * INVERSE + half @ half.T for half in halves]
    noises, weights = [float(x) for x in RNG.uniform(0.1, 1, count)], [0.0, 0.1, 0.0, 0.3, 0.2, 0.4]
    found, left = carry_noise(CURVATURE, steps, noises, weights)

    def result(start: NDArray[np.float64], at: int, noise: NDArray[np.float64]) -> NDArray[np.float64]:
        error, total = start, np.zeros(4)
        for t in range(count):
            error = error - steps[t] @ (CURVATURE @ error + (noise if t == at else 0.0))
            total = total + weights[t] * error
        return total

    expected = np.zeros((4, 4))
    for t in range(count):
        for axis in np.eye(4):
            answer = result(np.zeros(4), t, noises[t] * axis)
            expected += np.outer(answer, answer)
    np.testing.assert_allclose(found, expected, rtol=1e-8)
    starts = np.column_stack([result(axis, -1, axis) for axis in np.eye(4)])
    np.testing.assert_allclose(left, starts, rtol=1e-8, atol=1e-12)


def test_steps_that_would_run_away_give_a_finite_number() -> None:
    """A released curvature may be far above the true one; a thousand steps must not overflow."""
    found, left = carry_noise(CURVATURE * 1e6, [np.eye(4)] * 1000, [1.0] * 1000, last(1000))
    assert np.isfinite(found).all()
    assert np.isfinite(left).all()
    assert np.linalg.norm(left, 2) <= 1 + 1e-6
