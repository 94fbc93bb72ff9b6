"""From images to rows of whole numbers: colours, scattering, roots, flips, and norm 1.

    pixels → opponent colours → scattering → √· times a weight an order → flip fold → norm UNIT, rounded

Every step is fixed and acts on one image alone. Nothing is learned, and no statistic of other images enters.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from tacit.errors import DataError
from tacit.features.scattering import COARSE, FINE, scatter
from tacit.features.wavelets import ANGLES, centres

UNIT = 1 << 14
"""Norm of a row of whole numbers, whose entries fit 16 bits."""
TASK = 512
"""Images that one thread scatters before it tells of its progress."""
COLOURS = np.array([[1, 1, 1], [1, 0, -1], [1, -2, 1]]) / np.sqrt([[3], [2], [6]])
"""Opponent colours, a rotation of red, green and blue."""
SMALLEST, LARGEST = 12, 256
"""Side of an image."""


@dataclass(frozen=True)
class FeatureMap:
    """Which fixed features of an image are taken.

    `coarse` adds the group of scale 2. With `flips` features are folded to those that a horizontal flip leaves as they
    are. `weights` multiply orders 0, 1 and 2.
    """

    coarse: bool = False
    flips: bool = False
    weights: tuple[float, float, float] = (1.0, 2.0, 4.0)

    def shapes(self, pixels: int, colours: int) -> tuple[tuple[int, int], ...]:
        """Channels and positions of each group of features."""
        found = []
        for scale, channels in ((2, FINE), (3, COARSE))[: 1 + self.coarse]:
            side = len(centres(pixels, scale))
            found.append((channels * colours, side * (-(-side // 2) if self.flips else side)))
        return tuple(found)

    def blocks(self, colours: int) -> tuple[tuple[int, ...], ...]:
        """Ends of the blocks of channels in each group: of even and odd channels where flips are folded."""
        found = []
        for channels in (FINE, COARSE)[: 1 + self.coarse]:
            fixed, low, _ = _pairs(channels)
            even = (len(fixed) + len(low)) * colours
            found.append((0, even, channels * colours) if self.flips else (0, channels * colours))
        return tuple(found)


@functools.cache
def _pairs(channels: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Channels that a horizontal flip keeps, and the pairs that it exchanges: angle k becomes -k mod 8."""
    turned = [-k % ANGLES for k in range(ANGLES)]
    if channels == FINE:
        order = [0, *(1 + k for k in turned), *(9 + k for k in turned)]
        order += [17 + ANGLES * a + b for a in turned for b in turned]
    else:
        first = [0, *(1 + k for k in turned), *(9 + k for k in turned)]
        order = [ANGLES * a + b for a in first for b in turned]
    image = np.array(order)
    here = np.arange(channels)
    low = here[image > here]
    return here[image == here], low, image[low]


def _fold(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """(n, colour, channel, row, column) to (n, channels, positions): flip-invariant, and as long as it can be."""
    fixed, low, high = _pairs(values.shape[2])
    root, side = np.float32(math.sqrt(0.5)), values.shape[-1]
    left, half = -(-side // 2), side // 2
    even = np.concatenate([values[:, :, fixed], (values[:, :, low] + values[:, :, high]) * root], axis=2)
    odd = (values[:, :, low] - values[:, :, high]) * root
    mirrored = [it[..., ::-1][..., :left] for it in (even, odd)]
    even, odd = (even[..., :left] + mirrored[0]) * root, (odd[..., :left] - mirrored[1]) * root
    if left > half:
        even[..., half] *= root
    return np.concatenate([it.reshape(len(it), -1, side * left) for it in (even, odd)], axis=1)


def _group(values: NDArray[np.float32], colours: int, feature_map: FeatureMap, orders: NDArray[np.int64]) -> Rows:
    """Roots of scattering (plane, channel, position), weighted, folded, scaled and rounded."""
    weight = np.asarray(feature_map.weights, dtype=np.float32)[orders]
    shaped = np.sign(values) * np.sqrt(np.abs(values)) * weight[:, None]
    side = math.isqrt(shaped.shape[-1])
    shaped = shaped.reshape(-1, colours, shaped.shape[1], side, side)
    rows = _fold(shaped) if feature_map.flips else shaped.reshape(len(shaped), -1, side * side)
    square = np.einsum("nkp,nkp->n", rows, rows, dtype=np.float64)
    # Rounding moves a row by at most half the root of its length: what is stored has norm UNIT at most.
    length = UNIT - math.sqrt(rows[0].size) / 2 - 1
    scale = np.where(square > 0, length / np.sqrt(np.maximum(square, 1e-30)), 0.0).astype(np.float32)
    return np.asarray(np.rint(rows * scale[:, None, None]), dtype=np.int16)


Rows = NDArray[np.int16]
_ORDERS = {
    FINE: np.array([0] + [1] * 2 * ANGLES + [2] * ANGLES**2),
    COARSE: np.array([1] * ANGLES + [2] * 2 * ANGLES**2),
}


def as_planes(images: NDArray[np.generic]) -> NDArray[np.float32]:
    """(image, colour, row, column) in [0, 1] of images (n, side, side) or (n, side, side, 3)."""
    values = images.astype(np.float32)
    if images.dtype == np.uint8:
        values /= 255
    if values.ndim == 3:
        return values[:, None]
    return np.ascontiguousarray(np.einsum("kc,nhwc->nkhw", COLOURS.astype(np.float32), values))


def require_images(images: object) -> NDArray[np.generic]:
    """Refuse what is no array of square images of bytes, or of floats in [0, 1]."""
    array = require_format(np.asarray(images))
    if any(not valid.all() for _, valid in _valid(array)):
        raise DataError("Images of floats must lie in [0, 1]. Divide bytes by 255.")
    return array


def blackened(images: NDArray[np.generic]) -> NDArray[np.generic]:
    """Read images that are not in [0, 1] as black ones, each on its own; refuse shapes and types alone."""
    array = require_format(images)
    for first, valid in _valid(array):
        if not valid.all():
            array = array.copy() if array is images else array
            array[first + np.flatnonzero(~valid)] = 0
    return array


def _valid(array: NDArray[np.generic]) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """Which images have valid numbers, some at a time; bytes always have."""
    for first in range(0, 0 if array.dtype == np.uint8 else len(array), 4096):
        part: NDArray[np.floating] = array[first : first + 4096]  # type: ignore[assignment]
        pixels = tuple(range(1, part.ndim))
        # Of what is no number least and largest are none either, and lie nowhere.
        yield first, (part.min(axis=pixels) >= 0) & (part.max(axis=pixels) <= 1)


def require_format(array: NDArray[np.generic]) -> NDArray[np.generic]:
    """Refuse other shapes and types than those of images; no number is looked at."""
    shaped = array.ndim == 3 or (array.ndim == 4 and array.shape[-1] == 3)
    if not shaped or array.shape[1] != array.shape[2] or not SMALLEST <= array.shape[1] <= LARGEST:
        raise DataError(
            f"Images must have the shape (n, side, side), or (n, side, side, 3) in colour, with a side from {SMALLEST} "
            f"to {LARGEST}; got {array.shape}."
        )
    if array.dtype != np.uint8 and array.dtype.kind != "f":
        raise DataError("Images must be bytes from 0 to 255 (uint8), or floats from 0 to 1. Convert them first.")
    return array


def scattered(
    images: NDArray[np.generic],
    write: Callable[[slice, tuple[NDArray[np.float32], ...]], None],
    *,
    coarse: bool,
    threads: int,
    progress: Callable[[int, int, str], None] | None = None,
) -> None:
    """Scatter images and hand each result to `write`, from several threads.

    Guarantee: what `write` gets is a function of its own image, to the last bit. Images are scattered one by one: a
    library product of several would round a row by its place among them, and by their number.
    """
    ends = [*range(0, len(images), TASK), len(images)]
    done = iter(range(1, len(ends)))

    def work(first: int, last: int) -> None:
        for place in range(first, last):
            part = slice(place, place + 1)
            planes = as_planes(images[part])
            write(part, scatter(planes.reshape(-1, *planes.shape[2:]), coarse=coarse))
        if progress is not None:
            progress(ends[next(done)], len(images), "scattering")

    # Planes have threads of their own.
    with _blas().limit(limits=1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
        for task in [pool.submit(work, first, last) for first, last in pairwise(ends)]:
            task.result()


@functools.cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


def image_rows(
    images: NDArray[np.generic],
    feature_map: FeatureMap,
    *,
    threads: int = 2,
    progress: Callable[[int, int, str], None] | None = None,
) -> tuple[Rows, ...]:
    """Rows of whole numbers (n, channel, position) of every group of features, each of norm at most `UNIT`.

    Guarantee: a row is a function of its own image, to the last bit.
    """
    colours = 3 if images.ndim == 4 else 1
    groups = tuple(
        np.empty((len(images), *shape), dtype=np.int16) for shape in feature_map.shapes(images.shape[1], colours)
    )

    def write(part: slice, found: tuple[NDArray[np.float32], ...]) -> None:
        for rows, values in zip(groups, found, strict=True):
            rows[part] = _group(values, colours, feature_map, _ORDERS[values.shape[1]])

    scattered(images, write, coarse=feature_map.coarse, threads=threads, progress=progress)
    return groups
