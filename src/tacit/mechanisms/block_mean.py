"""The clipped mean of the results of blocks, with exact Gaussian noise. Private: the results.

Proof: proofs/mechanisms/block_mean.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.contract.block_query import BlockMean
from tacit.contract.query import Answer
from tacit.contract.sensitivity import Price
from tacit.mechanisms.gaussian_sum import noised_sum
from tacit.noise.entropy import Entropy

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def integer_results(query: BlockMean, bound: int, results: Floats) -> Integers:
    """One integer vector a block, of norm at most `bound`, which stands for `radius`. Private.

    Guarantee: the norm is checked in exact integers; a vector that exceeds it is set to zero.
    """
    with np.errstate(all="ignore"):
        # A warning would tell of a block.
        scaled = np.clip((results - query.centre) / query.half, -1.0, 1.0)
    norms = np.sqrt((scaled**2).sum(axis=1, keepdims=True))
    scaled *= np.minimum(1.0, query.radius / np.maximum(norms, 1e-300)) * (1.0 - 2.0**-40)
    # Towards zero, so that rounding makes no vector longer.
    found: Integers = np.trunc(np.nan_to_num(scaled) * (bound / query.radius)).astype(np.int64)
    for vector in found:
        if sum(entry**2 for entry in vector.tolist()) > bound**2:
            vector[:] = 0
    return found


def answer_block_mean(query: BlockMean, price: Price, results: Floats, entropy: Entropy | None) -> Answer:
    """The noised mean over the blocks, in units of `half` about `centre`; without entropy the mean alone (ε = ∞).

    Guarantee
    ---------
    - One block moves the integers of the sum by at most twice the bound, in L2 norm.
    - The divisor is the number of blocks, which is public, and not how many of them answered.
    """
    total = integer_results(query, price.bound, results).sum(axis=0)
    return noised_sum(total, price.bound / query.radius * query.blocks, price, entropy)
