"""Uniform numbers and uniform directions, in floats: what rejection sampling over the reals is made of.

Floats only come near the laws of real numbers, so what is made of these draws is certified with the arithmetic
"real-number proof". Proof: `proofs/noise/unit_directions.md`.
"""

import numpy as np
from numpy.typing import NDArray

from tacit.noise.entropy import Entropy
from tacit.noise.gaussian import MAXIMUM_BITS, rounded_gaussian
from tacit.validate import whole

WORD_BITS = 64


def uniforms(count: int, entropy: Entropy) -> NDArray[np.float64]:
    """Independent uniform numbers in (0, 1], each from a random word of its own."""
    return np.asarray((entropy.words(whole("count", count, 0)).astype(np.float64) + 0.5) * 2.0**-WORD_BITS)


def unit_directions(count: int, size: int, entropy: Entropy) -> NDArray[np.float64]:
    """Independent vectors of norm 1, one a row, uniform on the sphere: the directions of exact Gaussians.

    Guarantee: over the reals the law is exact. It is private if and only if `entropy` is secure.
    """
    shape = whole("count", count, 0), whole("size", size, 1)
    drawn = rounded_gaussian(shape[0] * shape[1], MAXIMUM_BITS, entropy).reshape(shape).astype(np.float64)
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1)[:, np.newaxis])
