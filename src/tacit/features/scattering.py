"""2-D scattering of planes of pixels, order 2: |·| of wavelet transforms, twice, each smoothed.

    S0 = x * φ,   S1 = |x * ψ| * φ,   S2 = ||x * ψ| * ψ'| * φ

Transforms are dense products with Fourier matrices, faster than an FFT at these sizes. A plane has 81 channels
on a grid of 4 pixels, and with `coarse` another 136 on a grid of 8.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.features.wavelets import ANGLES, fourier, lowpass, reflected, transfer

FINE = 1 + 2 * ANGLES + ANGLES**2
"""Channels with scales 0 and 1: the plane, order 1 of both scales, order 2 of (0, 1)."""
COARSE = ANGLES + 2 * ANGLES**2
"""Channels that scale 2 adds: order 1, order 2 of (0, 2) and of (1, 2)."""
PAD = 4
"""Pixels by which a plane is continued on each side; the sum is a multiple of 4."""

Planes = NDArray[np.float32]
Waves = NDArray[np.complex64]


def padded_side(pixels: int) -> int:
    """Side of the padded plane, a multiple of four."""
    return -(-(pixels + 2 * PAD) // 4) * 4


class _Constants(NamedTuple):
    """Matrices of one size of plane."""

    forward: Waves
    first: NDArray[np.float32]
    second: NDArray[np.float32]
    third: NDArray[np.float32]
    inverse: tuple[Waves, Waves, Waves]
    spread: tuple[Waves, Waves]
    smooth: dict[tuple[int, int], NDArray[np.float32]]


def _blocks(filters: NDArray[np.float64], parts: int) -> NDArray[np.float32]:
    """(angle, side, side) as (parts, parts, angle, side / parts, side / parts) over parts², to be folded."""
    angles, side, _ = filters.shape
    cut = filters.reshape(angles, parts, side // parts, parts, side // parts) / parts**2
    return np.ascontiguousarray(cut.transpose(1, 3, 0, 2, 4), dtype=np.float32)


def _low_band(filters: NDArray[np.float64]) -> NDArray[np.float64]:
    """The half of the frequencies in which a coarse wavelet lives."""
    kept = _kept(filters.shape[-1])
    return filters[:, kept][:, :, kept]


def _kept(side: int) -> NDArray[np.int64]:
    quarter = side // 4
    return np.asarray(np.r_[0:quarter, side - quarter : side])


@functools.cache
def _constants(pixels: int) -> _Constants:
    side = padded_side(pixels)
    smooth = {
        (scale, step): lowpass(pixels, side, scale, step).astype(np.float32) for scale, step in ((2, 1), (2, 2), (3, 4))
    }
    inverse = tuple((fourier(n).conj() / n).astype(np.complex64) for n in (side, side // 2, side // 4))
    spread = tuple(fourier(n).astype(np.complex64) for n in (side, side // 2))
    # Padding is linear: it is a part of the first transform.
    forward = np.zeros((side, pixels), dtype=complex)
    np.add.at(forward.T, reflected(pixels, side), fourier(side).T)
    # Half of the band is kept: values are divided by 4 as samples are.
    third = _blocks(_low_band(transfer(side, 2)) / 4, 2)
    return _Constants(
        forward.astype(np.complex64),
        transfer(side, 0).astype(np.float32),
        _blocks(transfer(side, 1), 2),
        third,
        inverse,  # type: ignore[arg-type]
        spread,  # type: ignore[arg-type]
        smooth,
    )


def _fold(waves: Waves, blocks: NDArray[np.float32]) -> Waves:
    """Multiply by filters and keep every second sample: (…, s, s) to (…, angle, s / 2, s / 2)."""
    half = blocks.shape[-1]
    found = waves[..., None, :half, :half] * blocks[0, 0]
    found += waves[..., None, :half, half:] * blocks[0, 1]
    found += waves[..., None, half:, :half] * blocks[1, 0]
    found += waves[..., None, half:, half:] * blocks[1, 1]
    return np.asarray(found)


def _modulus(waves: Waves, inverse: Waves) -> Planes:
    """|inverse transform|."""
    rows = (waves.reshape(-1, waves.shape[-1]) @ inverse).reshape(waves.shape)
    return np.asarray(np.abs(np.matmul(inverse, rows)))


def _spectrum(planes: Planes, spread: Waves) -> Waves:
    side = planes.shape[-1]
    rows = planes.reshape(-1, side) @ spread.view(np.float32).reshape(side, 2 * side)
    return np.asarray(np.matmul(spread, rows.view(np.complex64).reshape(planes.shape)))


def _read(planes: Planes, smooth: NDArray[np.float32]) -> Planes:
    """A u A' of every plane, as a row of positions."""
    side = planes.shape[-1]
    right = (planes.reshape(-1, side) @ smooth.T).reshape(*planes.shape[:-1], -1)
    return np.asarray(np.matmul(smooth, right).reshape(*planes.shape[:-2], -1))


def scatter(planes: Planes, *, coarse: bool) -> tuple[Planes, ...]:
    """Scattering of planes (n, pixels, pixels): (n, 81, positions), and (n, 136, positions) where `coarse`."""
    count, pixels, _ = planes.shape
    c = _constants(pixels)
    side = len(c.forward)
    pad = reflected(pixels, side)
    rows = planes.reshape(-1, pixels) @ c.forward.T.copy().view(np.float32)
    spectrum = np.matmul(c.forward, rows.view(np.complex64).reshape(count, pixels, side))
    fine = np.empty((count, FINE, len(c.smooth[2, 1]) ** 2), dtype=np.float32)
    fine[:, 0] = _read(planes[:, pad][:, :, pad], c.smooth[2, 1])
    near = _modulus(spectrum[:, None] * c.first, c.inverse[0])
    fine[:, 1:9] = _read(near, c.smooth[2, 1])
    far = _modulus(_fold(spectrum, c.second), c.inverse[1])
    fine[:, 9:17] = _read(far, c.smooth[2, 2])
    waves = _spectrum(near, c.spread[0])
    fine[:, 17:] = _read(_modulus(_fold(waves, c.second), c.inverse[1]), c.smooth[2, 2]).reshape(count, 64, -1)
    if not coarse:
        return (fine,)
    kept = _kept(side)
    low = np.empty((count, 1 + 2 * ANGLES, side // 2, side // 2), dtype=np.complex64)
    low[:, 0] = spectrum[:, kept][:, :, kept]
    low[:, 1 : 1 + ANGLES] = waves[:, :, kept][:, :, :, kept]
    # Samples at every second pixel have a quarter of the values that `third` divides by.
    low[:, 1 + ANGLES :] = 4 * _spectrum(far, c.spread[1])
    last = _read(_modulus(_fold(low, c.third), c.inverse[2]), c.smooth[3, 4])
    return fine, last.reshape(count, COARSE, -1)
