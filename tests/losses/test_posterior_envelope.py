"""Envelopes of posteriors: below the energy everywhere, with the masses and the acceptance that are stated."""

import math

import numpy as np
import pytest
from scipy import integrate

from tacit.errors import SettingError
from tacit.losses import classification, regression
from tacit.losses.posterior_envelope import (
    FLATNESS,
    Envelope,
    bending,
    least_acceptance,
    proposals_for,
    psi,
    smallest_ridge,
)


@pytest.mark.parametrize("loss", [classification.LOGISTIC, regression.smooth_huber(0.7)], ids=lambda loss: loss.name)
def test_third_derivatives_are_bounded_by_the_second(loss: object) -> None:
    z = np.linspace(-12, 12, 20_001)
    if loss is classification.LOGISTIC:
        share = 1 / (1 + np.exp(-z))
        second = share * (1 - share)
    else:
        q = np.sqrt(1 + 4 * (z / 0.7) ** 2)
        second = 2 / (q * (1 + q))
    third = np.gradient(second, z)
    bound = bending(loss) * second * (1 + 1e-4) + 1e-12  # type: ignore[arg-type]
    assert (np.abs(third) <= bound)[1:-1].all()


def test_losses_whose_curvature_jumps_have_none() -> None:
    with pytest.raises(SettingError, match="jumps"):
        bending(classification.hinge())


def test_psi_has_no_cancellation_near_0() -> None:
    for x in (-1e-3, -1e-9, 0.0, 1e-9, 9.9e-4, 1.01e-3):
        assert math.isclose(psi(x), 0.5 + x / 6 + x * x / 24, rel_tol=1e-9)
    assert psi(-2.0) < 0.5 < psi(2.0)


def energy_at(theta: np.ndarray, rows: np.ndarray, y: np.ndarray, k: float, ridge: float) -> float:
    margin = rows @ theta
    return float(k * (np.logaddexp(0, margin) - y * margin).sum() + ridge / 2 * theta @ theta)


def test_energies_of_logistic_tables_lie_between_the_bounds() -> None:
    """Random tables, far points among them: f(θ) - f(θ₀) ≥ E(s), and at most ψ(x)s² + γs within the radius."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        d, n = int(rng.integers(1, 6)), int(rng.integers(0, 30))
        rows = rng.normal(size=(n, d))
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1.0)
        y, k, ridge = rng.integers(0, 2, n), rng.exponential() * 3, rng.exponential() + 0.05
        start, radius = rng.normal(size=d) * 0.3, rng.exponential() * 3 + 0.1

        share = 1 / (1 + np.exp(-(rows @ start)))
        slope = k * rows.T @ (share - y) + ridge * start
        curved = k * rows.T @ (rows * (share * (1 - share))[:, None]) + ridge * np.eye(d)
        tilt = math.sqrt(float(slope @ np.linalg.solve(curved, slope)))
        x = radius / math.sqrt(float(np.linalg.eigvalsh(curved)[0]))
        envelope = Envelope.of(d, radius, x, tilt)
        for _ in range(20):
            move = rng.normal(size=d) * rng.choice([0.01, 1.0, 30.0])
            s = math.sqrt(float(move @ curved @ move))
            rise = energy_at(start + move, rows, y, k, ridge) - energy_at(start, rows, y, k, ridge)
            # Beyond the radius with b < 0 the line is below too, and no proposal is made from it.
            assert rise >= float(envelope.heights(np.array(s))) - 1e-9 * (1 + abs(rise))
            if s <= radius:
                assert rise <= psi(x) * s * s + tilt * s + 1e-9


@pytest.mark.parametrize(("size", "radius", "x"), [(1, 0.7, 2.0), (4, 2.5, 1.0), (10, 5.0, 1.2)])
def test_masses_are_the_integrals(size: int, radius: float, x: float) -> None:
    envelope = Envelope.of(size, radius, x, FLATNESS)
    parts = [
        integrate.quad(lambda s: s ** (size - 1) * math.exp(-float(envelope.heights(np.array(s)))), *ends)[0]
        for ends in ((0.0, radius), (radius, math.inf))
    ]
    assert np.allclose(np.exp(envelope.log_masses), parts, rtol=1e-6)
    assert math.isclose(envelope.inside, parts[0] / sum(parts), rel_tol=1e-6)


def test_the_smallest_ridge_is_enough_and_grows_with_the_dimension() -> None:
    roots = []
    for size in range(1, 11):
        root, radius = smallest_ridge(size, 512)
        acceptance = least_acceptance(size, radius, radius / root)
        assert proposals_for(acceptance) <= 513
        assert (1 - acceptance) ** 512 <= 2.0**-29.9
        assert least_acceptance(size, radius, radius / (root * 0.98)) < acceptance
        roots.append(root)
    assert roots == sorted(roots)
    assert least_acceptance(3, 1.0, 400.0) == 0.0
