"""Morlet wavelets and the Gaussian low-pass of 2-D scattering, as arrays of constants.

The wavelet of scale j and angle k is a Morlet of width 0.8·2^j, frequency ¾π/2^j and slant ½, on a periodic M × M grid.
The low-pass of scale J is a Gaussian of standard deviation 0.4·2^J, sampled at every 2^J-th pixel on a
grid that a flip of the image maps onto itself.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

ANGLES = 8
PERIODS = 2
"""Copies of a filter on either side that are added up to make it periodic."""


def _gabor(side: int, sigma: float, theta: float, frequency: float, slant: float) -> NDArray[np.complex128]:
    turn = np.array([[math.cos(theta), -math.sin(theta)], [math.sin(theta), math.cos(theta)]])
    form = turn @ np.diag([1, slant**2]) @ turn.T / (2 * sigma**2)
    total = np.zeros((side, side), dtype=complex)
    for down in range(-PERIODS, PERIODS + 1):
        for right in range(-PERIODS, PERIODS + 1):
            x, y = np.mgrid[down * side : (down + 1) * side, right * side : (right + 1) * side].astype(float)
            square = form[0, 0] * x * x + 2 * form[0, 1] * x * y + form[1, 1] * y * y
            total += np.exp(-square + 1j * frequency * (x * math.cos(theta) + y * math.sin(theta)))
    return np.asarray(total / (2 * math.pi * sigma**2 / slant), dtype=np.complex128)


def morlet(side: int, scale: int, angle: int) -> NDArray[np.complex128]:
    """Wavelet on a periodic grid, centred at (0, 0), with sum 0."""
    sigma, theta, slant = 0.8 * 2**scale, angle * math.pi / ANGLES, 4.0 / ANGLES
    wave = _gabor(side, sigma, theta, 0.75 * math.pi / 2**scale, slant)
    bump = _gabor(side, sigma, theta, 0.0, slant)
    return np.asarray(wave - wave.sum() / bump.sum() * bump)


@functools.cache
def transfer(side: int, scale: int) -> NDArray[np.float64]:
    """Fourier transforms (angle, side, side) of the wavelets of a scale, which are real.

    From scale 2 on they are band-limited to |ω| < π/2 in both directions: beyond it little is left.
    """
    found = np.fft.fft2(np.stack([morlet(side, scale, angle) for angle in range(ANGLES)])).real
    if scale >= 2:
        outside = np.abs(np.fft.fftfreq(side)) >= 0.25
        found[:, outside, :] = 0.0
        found[:, :, outside] = 0.0
    found.setflags(write=False)
    return found


def centres(pixels: int, scale: int) -> NDArray[np.float64]:
    """Where the low-pass of a scale is sampled: every 2^scale pixels, symmetric in the image."""
    count, step = -(-pixels // 2**scale), 2**scale
    return np.asarray((pixels - 1 - step * (count - 1)) / 2 + step * np.arange(count))


@functools.cache
def lowpass(pixels: int, side: int, scale: int, step: int) -> NDArray[np.float64]:
    """Matrix A (position, side / step): samples of a stride `step` are smoothed and read as A u A'."""
    width, pad = 0.4 * 2**scale, (side - pixels) // 2
    places = step * np.arange(side // step)
    far = [places[None] + period * side - (centres(pixels, scale) + pad)[:, None] for period in range(-PERIODS, 3)]
    found = np.sum([np.exp(-(it**2) / (2 * width**2)) for it in far], axis=0)
    found *= step / math.sqrt(2 * math.pi * width**2)
    found.setflags(write=False)
    return np.asarray(found)


@functools.cache
def fourier(side: int) -> NDArray[np.complex128]:
    """Matrix of the discrete Fourier transform, exp(-2πi jk / side)."""
    j = np.arange(side)
    return np.asarray(np.exp(-2j * math.pi * (np.outer(j, j) % side) / side))


def reflected(pixels: int, side: int) -> NDArray[np.int64]:
    """Index of the pixel at each place of the padded image, which is continued by reflection."""
    pad = (side - pixels) // 2
    return np.asarray(np.pad(np.arange(pixels), (pad, side - pixels - pad), mode="reflect"))
