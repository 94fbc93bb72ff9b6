"""The secret draws of a private search: how many trials, which setting each tries, and which rows validate.

All of them are made before the first trial and depend on no record. Proof of the whole search, trials and choice of the
best included: `proofs/mechanisms/search_draws.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tacit.mechanisms.query_responder import SEEDED_STREAM
from tacit.noise.entropy import Entropy, SeededEntropy, SystemEntropy
from tacit.noise.record_sampling import RATE_BITS, PoissonBatch, uniform_numbers
from tacit.noise.run_counts import drawn_runs
from tacit.privacy.event import RunCountLaw


@dataclass(frozen=True, repr=False, eq=False)
class SearchDraws:
    """Secret: the settings of the trials in their order, and the numbers of the units that validate."""

    settings: tuple[int, ...]
    validation: NDArray[np.bool_]


def search_draws(law: RunCountLaw, settings: int, units: int, share: Fraction, seed: int | None) -> SearchDraws:
    """Draw the trials of a search among so many settings, and the validating part of so many units.

    Guarantee: the number of trials has the law exactly. Each trial's setting is uniform, each unit validates with
    probability `share` (a whole number of 2^-32), all independently of each other and of the records. Without a seed
    they are the operating system's randomness.
    """
    entropy: Entropy = SystemEntropy() if seed is None else SeededEntropy(seed + 2 * SEEDED_STREAM)
    runs = drawn_runs(law, entropy)
    chosen = tuple(uniform_numbers(runs, settings, entropy).tolist())
    validation = np.zeros(units, dtype=np.bool_)
    validation[PoissonBatch(int(share * 2**RATE_BITS), entropy).members(0, units)] = True
    return SearchDraws(chosen, validation)
