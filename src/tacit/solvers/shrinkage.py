"""Free shrinkage of a descent's result: blocks of directions that are mostly noise are pulled in.

The noise of every answer is known, so the variance v_i of the result in each direction is too. In
the eigenbasis of the last second moments, directions are ordered by the spread of the rows along
them and grouped into blocks of growing size; a block with coefficients c is multiplied by

    max(0, 1 - strength · Σ a v / Σ a c²)          (a: the whitened curvature)

which is positive-part Stein shrinkage. Everything in it was released: it costs nothing.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tacit.solvers.coordinates import Coordinates, Matrix, Vector
from tacit.solvers.noisy_steps import Descent
from tacit.solvers.quantiles import SMALLEST
from tacit.solvers.rules import CORRECTIONS
from tacit.solvers.spectrum import one_thread
from tacit.solvers.step_correction import tail_variance

Integers = NDArray[np.int64]


def shrink(theta: Vector, coordinates: Coordinates, descent: Descent, noise: float, strength: float) -> Vector:
    """Shrink what descent found; `noise` is the deviation of its mean gradients."""
    if coordinates.matrix is None or coordinates.directions is None:
        return theta
    resolved = coordinates.directions[1]
    curvature = np.clip(resolved, CORRECTIONS.smallest_curvature, 1.0)
    unclipped = unclipped_share(descent.clip_factor or math.inf)
    variance = tail_variance(unclipped * curvature, descent) * noise**2
    order, vectors = ordered_directions(coordinates)
    rotated = vectors.T @ theta
    for block in blocks(len(rotated)):
        chosen = order[block]
        noisy = float(np.sum(curvature[chosen] * variance[chosen]))
        found = float(np.sum(curvature[chosen] * rotated[chosen] ** 2))
        rotated[chosen] *= max(0.0, 1.0 - strength * noisy / max(found, SMALLEST))
    return np.asarray(vectors @ rotated)


def ordered_directions(coordinates: Coordinates) -> tuple[Integers, Matrix]:
    """Directions of the last second moments as columns, and their order by the spread of prepared rows along them."""
    matrix, (vectors, resolved) = coordinates.matrix, coordinates.directions or (None, np.ones(1))
    vectors = np.eye(len(resolved)) if vectors is None else vectors
    # v'(M'M)⁻¹v of every direction v; the product M'M may be singular where M is not.
    with one_thread(len(resolved)):
        spread = np.sum((vectors if matrix is None else np.linalg.solve(matrix.T, vectors)) ** 2, axis=0)
    return np.argsort(-spread), vectors


def unclipped_share(clip: float) -> float:
    """Share of normal residuals within a clip that is in units of their mean size."""
    return math.erf(math.sqrt(2 / math.pi) * clip / math.sqrt(2))


def blocks(count: int) -> list[slice]:
    """Slices of 1, 2, 3, 5, … directions; a last one that would be short joins the one before."""
    found, start, size = [], 0, 1
    while start < count:
        end = min(count, start + size)
        if count - end < size:
            end = count
        found.append(slice(start, end))
        start, size = end, math.ceil(CORRECTIONS.growth * size)
    return found
