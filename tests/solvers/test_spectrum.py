"""Eigenvalues of a noisy matrix: denoised, and put together again."""

import numpy as np
import pytest

from tacit.solvers.spectrum import Spectrum, noise_norm


def test_denoising_undoes_the_push_of_the_noise() -> None:
    """Eigenvalues of a noisy matrix spread; the denoised ones are nearer to the truth."""
    truth = np.linspace(0, 400, 30)
    better = 0
    for seed in range(20):
        noise = np.random.default_rng(seed).normal(size=(30, 30)) * 20
        spectrum = Spectrum.of(np.diag(truth) + (noise + noise.T) / 2)
        found = spectrum.denoised(20.0)
        better += bool(np.sum((found - truth) ** 2) < np.sum((spectrum.values - truth) ** 2))
        assert (found >= 0).all()
    assert better >= 15


def test_a_spectrum_makes_functions_of_a_matrix() -> None:
    matrix = np.array([[2.0, 0.5], [0.5, 1.0]])
    spectrum = Spectrum.of(matrix)
    np.testing.assert_allclose(spectrum.with_values(spectrum.values), matrix)
    np.testing.assert_allclose(spectrum.with_values(1 / spectrum.values) @ matrix, np.eye(2), atol=1e-12)


def test_the_noise_norm_is_the_largest_eigenvalue_of_noise() -> None:
    """400 × 400 symmetric Gaussian noise: √(2d) s within a tenth, seeded."""
    noise = np.random.default_rng(1).normal(size=(400, 400))
    symmetric = (noise + noise.T) / 2
    found = np.linalg.norm(symmetric, 2)
    assert found == pytest.approx(noise_norm(1.0, 400), rel=0.1)
    assert noise_norm(0.5, 8, times=3.0) == 6.0


def test_the_constant_keeps_its_own_direction_and_known_value() -> None:
    matrix = np.array([[4.0, 1.0, 7.0], [1.0, 2.0, -3.0], [7.0, -3.0, 90.0]])
    found = Spectrum.beside_constant(matrix, 100.0)
    np.testing.assert_array_equal(found.vectors[-1], [0.0, 0.0, 1.0])
    expected = np.array([[4.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 100.0]])
    np.testing.assert_allclose(found.with_values(found.values), expected)
