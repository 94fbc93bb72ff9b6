"""The bytes that decide which records are in the subsample. Secret: which record drew what.

Proof: proofs/mechanisms/subsampling.md.
"""

from __future__ import annotations

import numpy as np

from tacit.noise.entropy import BYTES_PER_WORD, Entropy, SeededEntropy, SystemEntropy
from tacit.rows.storage.memory_store import Draw

SEEDED_STREAM = 1 << 128
"""Added to a seed: the subsample comes from a stream that no noise is made of."""


def subsample_draw(seed: int | None) -> Draw:
    """Draw independent uniform bytes, one a record: the operating system's, or those of a seed.

    Guarantee
    ---------
    - The bytes do not depend on the records; without a seed every fit draws fresh ones.
    - With a seed they are those of the seed, and not of the noise made with it.
    """
    entropy: Entropy = SystemEntropy() if seed is None else SeededEntropy(seed + SEEDED_STREAM)
    return lambda count: entropy.words(-(-count // BYTES_PER_WORD)).view(np.uint8)[:count]
