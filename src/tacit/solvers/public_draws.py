"""A fixed sequence of normal numbers, the same in every fit: numerical integrals over public laws.

The k-th number is arithmetic on k and a public seed (SplitMix64, then Box and Muller), no generator
and no entropy: it hides nothing. Noise is drawn in `tacit.noise` alone.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

STEP = 0x9E3779B97F4A7C15
MIXERS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))


class PublicSequence:
    """The sequence of a seed, which is a rule, from its beginning."""

    def __init__(self, seed: int) -> None:
        self._seed, self._place = seed, 0

    def standard_normal(self, size: int | tuple[int, ...] = ()) -> NDArray[np.float64]:
        """The next numbers of the sequence, in this shape."""
        count = math.prod(size) if isinstance(size, tuple) else size
        pairs = (count + 1) // 2
        uniform = self._uniform(2 * pairs).reshape(2, pairs)
        radius, angle = np.sqrt(-2 * np.log(uniform[0])), 2 * math.pi * uniform[1]
        normal = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])
        return np.asarray(normal[:count].reshape(size))

    def _uniform(self, count: int) -> NDArray[np.float64]:
        """Numbers in (0, 1)."""
        places = np.arange(self._place + 1, self._place + count + 1, dtype=np.uint64)
        self._place += count
        bits = (places + np.uint64(self._seed << 32)) * np.uint64(STEP)
        for shift, factor in MIXERS:
            bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
        bits ^= bits >> np.uint64(31)
        return np.asarray(((bits >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52)
