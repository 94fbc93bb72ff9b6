"""Scattering against sums over pixels, written out from the definition."""

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.features.scattering import COARSE, FINE, padded_side, scatter
from tacit.features.wavelets import ANGLES, centres, morlet, reflected, transfer

PIXELS = 12


def circular(values: NDArray[np.float64], kernel: NDArray[np.complex128], step: int = 1) -> NDArray[np.complex128]:
    """Every `step`-th value of the circular convolution, term by term."""
    side = len(values)
    index = np.arange(side)
    found = np.empty((side // step, side // step), dtype=complex)
    for a in range(0, side, step):
        for b in range(0, side, step):
            found[a // step, b // step] = (values * kernel[np.ix_((a - index) % side, (b - index) % side)]).sum()
    return found


def smoothed(values: NDArray[np.float64], scale: int, step: int) -> NDArray[np.float64]:
    """Gaussian means around the centres of the grid, of samples of the periodic plane at every `step`-th pixel."""
    side, width = len(values) * step, 0.4 * 2**scale
    pad, places = (side - PIXELS) // 2, step * np.arange(len(values))
    grid = centres(PIXELS, scale) + pad
    found = np.zeros((len(grid), len(grid)))
    for a, row in enumerate(grid):
        for b, column in enumerate(grid):
            weight = sum(
                np.exp(
                    -((places[:, None] + down * side - row) ** 2 + (places + right * side - column) ** 2)
                    / (2 * width**2)
                )
                for down in range(-2, 3)
                for right in range(-2, 3)
            )
            found[a, b] = (values * weight).sum() * step**2 / (2 * np.pi * width**2)
    return found


def direct(plane: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    side = padded_side(PIXELS)
    pad = reflected(PIXELS, side)
    padded = plane[np.ix_(pad, pad)]
    waves = [[morlet(side, scale, angle) for angle in range(ANGLES)] for scale in range(2)]
    # The third scale is band-limited by definition.
    third = [np.fft.ifft2(spectrum) for spectrum in transfer(side, 2)]
    near = [np.abs(circular(padded, wave)) for wave in waves[0]]
    far = [np.abs(circular(padded, wave, 2)) for wave in waves[1]]
    fine = [smoothed(padded, 2, 1), *(smoothed(it, 2, 1) for it in near), *(smoothed(it, 2, 2) for it in far)]
    fine += [smoothed(np.abs(circular(it, wave, 2)), 2, 2) for it in near for wave in waves[1]]
    coarse = [smoothed(np.abs(circular(padded, wave, 4)), 3, 4) for wave in third]
    coarse += [smoothed(np.abs(circular(it, wave, 4)), 3, 4) for it in near for wave in third]
    # On every second pixel a sum has a quarter of the terms.
    coarse += [smoothed(np.abs(circular(it, 4 * wave[::2, ::2], 2)), 3, 4) for it in far for wave in third]
    return np.array(fine).reshape(FINE, -1), np.array(coarse).reshape(COARSE, -1)


@pytest.fixture(scope="module")
def planes() -> NDArray[np.float32]:
    return np.random.default_rng(5).random((3, PIXELS, PIXELS), dtype=np.float32)


def test_it_is_the_convolution_of_the_definition(planes: NDArray[np.float32]) -> None:
    found = scatter(planes, coarse=True)
    for group, wanted in zip(found, direct(planes[1].astype(float)), strict=True):
        assert np.abs(group[1] - wanted).max() < 2e-6 * np.abs(wanted).max()


def test_the_coarse_group_leaves_the_fine_one_as_it_is(planes: NDArray[np.float32]) -> None:
    assert np.array_equal(scatter(planes, coarse=False)[0], scatter(planes, coarse=True)[0])


def test_order_zero_of_a_constant_plane_is_the_constant_and_waves_vanish() -> None:
    fine, coarse = scatter(np.full((1, 28, 28), 0.5, dtype=np.float32), coarse=True)
    assert np.abs(fine[0, 0] - 0.5).max() < 1e-3
    assert max(np.abs(fine[0, 1:]).max(), np.abs(coarse).max()) < 1e-6


def test_sizes_of_the_grids() -> None:
    for pixels, fine, coarse in ((28, 7, 4), (32, 8, 4), (13, 4, 2)):
        found = scatter(np.zeros((2, pixels, pixels), dtype=np.float32), coarse=True)
        assert [it.shape for it in found] == [(2, FINE, fine**2), (2, COARSE, coarse**2)]
