"""Votes of blocks for classes of public rows, with exact Gaussian noise (GNMax of PATE). Private: the votes.

Proof: proofs/mechanisms/votes.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.contract.block_query import VoteChecks, VoteCounts
from tacit.contract.query import Answer
from tacit.contract.sensitivity import Price
from tacit.mechanisms.gaussian_sum import noised_sum
from tacit.noise.entropy import Entropy

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def count_votes(results: Floats, classes: int) -> Integers:
    """Votes (row, class). Private.

    Guarantee: a block has one vote for each row, whatever it returned: what is no class counts as class 0.
    """
    known = (results >= 0.0) & (results < classes)
    codes = np.where(known, results, 0.0).astype(np.int64)
    return np.stack([(codes == label).sum(axis=0) for label in range(classes)], axis=1).astype(np.int64)


def integer_votes(query: VoteChecks | VoteCounts, bound: int, results: Floats) -> Integers:
    """The votes that are asked for, times `bound`. Private."""
    votes = count_votes(results, query.classes)
    if isinstance(query, VoteChecks):
        return np.asarray(votes.max(axis=1) * bound)
    return np.asarray(votes[np.array(query.rows, dtype=np.int64)] * bound)


def answer_votes(query: VoteChecks | VoteCounts, price: Price, results: Floats, entropy: Entropy | None) -> Answer:
    """The noised votes for each class, or the noised largest votes; without entropy the votes alone (ε = ∞).

    Guarantee
    ---------
    - One block moves two votes of a row by one, and the largest votes of a row by at most one.
    """
    return noised_sum(integer_votes(query, price.bound, results), float(price.bound), price, entropy)
