"""Filters: sums, symmetry, periods."""

import numpy as np
import pytest

from tacit.features.wavelets import ANGLES, centres, fourier, lowpass, morlet, reflected, transfer


@pytest.mark.parametrize("scale", [0, 1, 2])
def test_wavelets_have_no_mean_and_a_real_transform(scale: int) -> None:
    for angle in range(ANGLES):
        wave = morlet(24, scale, angle)
        assert abs(wave.sum()) < 1e-12
        assert np.abs(np.fft.fft2(wave).imag).max() < 1e-9


def test_the_third_scale_has_no_high_frequencies() -> None:
    found, high = transfer(24, 2), np.abs(np.fft.fftfreq(24)) >= 0.25
    assert not found[:, high].any()
    assert not found[:, :, high].any()
    assert found.any()


@pytest.mark.parametrize(("pixels", "scale"), [(28, 2), (28, 3), (32, 2), (32, 3), (13, 2)])
def test_a_flip_maps_the_grid_onto_itself(pixels: int, scale: int) -> None:
    grid = centres(pixels, scale)
    np.testing.assert_allclose(np.sort(pixels - 1 - grid), grid)


def test_the_low_pass_keeps_constants() -> None:
    for step in (1, 2):
        np.testing.assert_allclose(lowpass(28, 36, 2, step).sum(axis=1), 1.0, atol=2e-3)


def test_the_fourier_matrix_is_the_transform() -> None:
    values = np.random.default_rng(0).normal(size=12)
    np.testing.assert_allclose(fourier(12) @ values, np.fft.fft(values))


def test_padding_reflects_without_repeating_the_edge() -> None:
    assert reflected(4, 8).tolist() == [2, 1, 0, 1, 2, 3, 2, 1]
