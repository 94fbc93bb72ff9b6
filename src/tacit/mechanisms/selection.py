"""One of many candidates, selected by its score and released as an index. Private: the store and the scores.

A score is a sum over records of integers up to the bound. The index is drawn from its exact law: no float enters it.
Proof: proofs/mechanisms/selection.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.contract.query import Answer
from tacit.contract.selection_price import SelectionPrice
from tacit.contract.selection_query import CandidateChoice, SelectionLaw, StatisticChoice
from tacit.contract.sensitivity import Price
from tacit.contract.statistic_query import BoundedSums
from tacit.errors import SettingError
from tacit.kernel_compilation import compiled
from tacit.losses.dispatch import shape_of
from tacit.losses.values import ZERO_ONE, values
from tacit.mechanisms import kernels
from tacit.mechanisms.counts import part_of
from tacit.mechanisms.means import integer_sums
from tacit.noise.entropy import Entropy
from tacit.noise.selection import exponential_choice, permute_and_flip
from tacit.rows.storage.store import BlockSum, Layout, Store
from tacit.rows.storage.tiles import LANES, Floats, Integers

AnyPrice = SelectionPrice | Price
"""A `Price` has no rate: it is for answers without noise (ε = ∞) alone."""


def selected(scores: Integers, price: AnyPrice, entropy: Entropy | None) -> int:
    """An index, drawn by the law of the price; without entropy (ε = ∞) the first of the least scores.

    Guarantee
    ---------
    - The law is exact for all scores: P(i) ∝ exp(-rate·score), or that of permute-and-flip.
    """
    if entropy is None:
        return int(np.argmin(scores))
    if not isinstance(price, SelectionPrice):
        raise SettingError("A selection is priced by a rate.")
    draw = exponential_choice if price.law is SelectionLaw.EXPONENTIAL else permute_and_flip
    return draw(np.ascontiguousarray(scores), price.rate, entropy)


@compiled
def add_losses(
    block: Any, candidates: Floats, loss: Any, columns: Any, cap: float, bound: int, total: Integers
) -> None:
    """Add to total[c] the bound, times the record's loss at candidate c over the cap, times its weight."""
    width = candidates.shape[1]
    (code, shape), (weighted, shifted) = loss, columns
    margin, square, value = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    for t in range(kernels.count_tiles(block)):
        label = kernels.outcome_column(block, t, width, 0)
        own = kernels.outcome_column(block, t, width, int(weighted))
        for c in range(candidates.shape[0]):
            kernels.measure_tile(block, t, candidates[c], margin, square)
            kernels.add_offset(block, t, width, weighted, shifted, margin)
            values(code, shape, margin, label, value)
            part = np.int64(0)
            for lane in range(LANES):
                share = min(value[lane] / cap, 1.0)
                if weighted:
                    share *= np.float64(own[lane])
                part += part_of(float(bound), share)
            total[c] += part


def candidate_losses(layout: Layout, query: CandidateChoice, bound: int) -> BlockSum:
    """Integer losses of the records of a block, candidate by candidate."""
    if layout.grouped:
        raise SettingError("Candidates are compared on plain records, without units.")
    if query.candidates.shape[1] != layout.width:
        raise SettingError(f"A candidate must have {layout.width} entries.")
    candidates = np.ascontiguousarray(query.candidates, dtype=np.float64)
    loss = (ZERO_ONE, None) if query.zero_one else (int(query.loss.code), shape_of(query.loss))
    columns = layout.weighted, layout.shifted

    def add(block: Any, total: Integers) -> None:
        add_losses(block, candidates, loss, columns, float(query.cap), bound, total)

    return BlockSum((len(candidates),), add)


def scores_of(query: CandidateChoice | StatisticChoice, bound: int, store: Store) -> Integers:
    """The scores of all candidates, small ones being good. Private.

    Records that fill up tiles add the same to every candidate.
    """
    if isinstance(query, StatisticChoice):
        return -integer_sums(BoundedSums(query.statistics), bound, store)
    return store.total(candidate_losses, query, bound)


def answer_selection(
    query: CandidateChoice | StatisticChoice, price: AnyPrice, store: Store, entropy: Entropy | None
) -> Answer:
    """The index of a candidate; without entropy that of the best one (ε = ∞).

    Guarantee
    ---------
    - A record (or person, for statistics) adds to each score an integer within 0 and the bound, signed for statistics.
    - Nothing but the index leaves: no score, and not how near the next one was.
    """
    index = selected(scores_of(query, price.bound, store), price, entropy)
    return Answer(np.array([float(index)]), 0.0)
