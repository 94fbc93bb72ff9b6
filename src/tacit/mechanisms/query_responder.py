"""The responder: holds the records, answers queries at a price. Private: everything it holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.contract import block_query as of_blocks
from tacit.contract import query as queries
from tacit.contract import selection_query as selecting
from tacit.contract.block_query import AnyBlockQuery, BlockFunction
from tacit.contract.grouped_query import GroupedQuery
from tacit.contract.network_query import NetworkGradient
from tacit.contract.query import KIND_OF, Answer, Progress, Query, TableQuery
from tacit.contract.score_query import ScoreHistogram
from tacit.contract.sensitivity import AnyPrice, require_kind
from tacit.contract.statistic_query import BoundedSums, GroupSums
from tacit.design.design import Design
from tacit.errors import SettingError
from tacit.mechanisms import (
    batch_gradient,
    block_depth,
    block_mean,
    block_median,
    counts,
    gradient,
    loss_difference,
    means,
    moments,
    newton_direction,
    objective_perturbation,
    output_perturbation,
    posterior_draw,
    score_histogram,
    selection,
    vertex_choice,
    votes,
)
from tacit.mechanisms.block_results import Draws, SecretDraws, block_results
from tacit.noise.entropy import BYTES_PER_WORD, Entropy, SeededEntropy, SystemEntropy
from tacit.rows.admission.clip_and_scale import rescale
from tacit.rows.storage.record_store import Draw
from tacit.rows.storage.store import Store

MECHANISMS: Mapping[type, Callable[..., Answer]] = {
    queries.GradientSum: gradient.answer_gradient,
    queries.BatchGradientSum: batch_gradient.answer_batch_gradient,
    queries.SecondMoments: moments.answer_second_moments,
    queries.CurvatureAndScore: moments.answer_curvature_and_score,
    queries.ColumnCounts: counts.answer_counts,
    queries.ResidualSize: counts.answer_counts,
    queries.GradientNorm: counts.answer_counts,
    BoundedSums: means.answer_means,
    GroupSums: means.answer_means,
    ScoreHistogram: score_histogram.answer_score_histogram,
    queries.PerturbedMinimum: objective_perturbation.answer_perturbed_minimum,
    queries.NoisyMinimum: output_perturbation.answer_noisy_minimum,
    queries.DampedDirection: newton_direction.answer_damped_direction,
    queries.CurvatureTrace: newton_direction.answer_curvature_trace,
    selecting.CandidateChoice: selection.answer_selection,
    selecting.StatisticChoice: selection.answer_selection,
    selecting.VertexChoice: vertex_choice.answer_vertex,
    selecting.PosteriorDraw: posterior_draw.answer_posterior,
    selecting.LossDifference: loss_difference.answer_difference,
    of_blocks.BlockMean: block_mean.answer_block_mean,
    of_blocks.BlockMedian: block_median.answer_block_median,
    of_blocks.BlockDepth: block_depth.answer_block_depth,
    of_blocks.VoteChecks: votes.answer_votes,
    of_blocks.VoteCounts: votes.answer_votes,
}
"""Which mechanism answers which query; each has a page in proofs/mechanisms."""
SEEDED_STREAM = 1 << 128
"""Added to a seed: the subsample comes from a stream that no noise is made of."""


class Responder:
    """Answers over one store, in the coordinates that queries ask for.

    Second-moment queries may use any coordinates. The first gradient in coordinates other than the design's settles
    them: the rows are recast, in place where they are in memory. Columns are counted before that. Raw records, whose
    bounds are yet to be found, answer counts alone until `prepare_with` has rescaled them.

    Without `private`, where the budget is infinite, no noise is added. Noise from a `seed` can be
    reproduced and protects nobody; without one it is the operating system's.
    """

    def __init__(self, store: Store, *, private: bool, seed: int | None, progress: Progress | None = None) -> None:
        self._store, self._progress = store, progress
        self._results: dict[tuple[BlockFunction, int], NDArray[np.float64]] = {}
        self._settled: bytes | None = None
        self._entropy: Entropy | None = None
        if private:
            self._entropy = SystemEntropy() if seed is None else SeededEntropy(seed)

    def answer(self, query: Query, price: AnyPrice) -> Answer:
        """Answer a query; the plan it belongs to has been reserved before."""
        if self._store.opened is not None and not isinstance(query, queries.ColumnCounts):
            raise SettingError("These records await their bounds: they are counted, and no more.")
        if self._entropy is not None or not isinstance(query, AnyBlockQuery):
            # Blocks are answered without noise too, where a price plays no part.
            require_kind(KIND_OF[type(query)], price)
        if isinstance(query, AnyBlockQuery):
            return MECHANISMS[type(query)](query, price, self._results_of(query), self._entropy)
        if isinstance(query, GroupedQuery | NetworkGradient):
            raise SettingError("Records of a table answer no query of grouped rows or of networks.")
        ready = self._in_coordinates(query)
        return MECHANISMS[type(query)](ready, price, self._store, self._entropy)

    def _results_of(self, query: AnyBlockQuery) -> NDArray[np.float64]:
        """Results of the blocks; queries of the same function and number of blocks share them."""
        key = query.function, query.blocks
        if key not in self._results:
            self._results[key] = block_results(*key, self._store, self._draws(), self._progress)
        return self._results[key]

    def _draws(self) -> Draws:
        # Without noise nothing is private: the blocks are then the same in every run.
        return SecretDraws(self._entropy or SeededEntropy(0))

    def _in_coordinates(self, query: TableQuery) -> TableQuery:
        for name in ("theta", "gradient"):
            vector = getattr(query, name, None)
            if vector is not None and len(vector) != self._store.width:
                raise SettingError(f"{name} must have {self._store.width} entries.")
        if isinstance(query, queries.SecondMoments) and self._settled is None:
            # Before coordinates are settled, rows are mapped as they are read and not kept.
            return query
        matrix = None if isinstance(query, queries.WITHOUT_COORDINATES) else query.matrix
        if matrix is not None and self._settled is None:
            self._store = self._store.recast(matrix)
            self._settled = matrix.tobytes()
        if (None if matrix is None else matrix.tobytes()) != self._settled:
            raise SettingError("The working coordinates were settled before and cannot change.")
        return query if isinstance(query, queries.WITHOUT_COORDINATES) else replace(query, matrix=None)

    def prepare_with(self, design: Design) -> None:
        """Rescale raw records by the bounds found; in float64 where no noise is added."""
        exact = self._entropy is None
        self._store = rescale(self._store, design, np.float64 if exact else np.float32)

    def __enter__(self) -> Responder:
        return self

    def __exit__(self, *error: object) -> None:
        self._store.close()
        self._results.clear()


def subsample_draw(seed: int | None) -> Draw:
    """Draw the independent uniform bytes, one a record, that decide what the subsample is. Secret.

    Guarantee
    ---------
    - The bytes do not depend on the records; without a seed every fit draws fresh ones.
    - With a seed they are those of the seed, and not of the noise made with it.
    """
    entropy: Entropy = SystemEntropy() if seed is None else SeededEntropy(seed + SEEDED_STREAM)
    return lambda count: entropy.words(-(-count // BYTES_PER_WORD)).view(np.uint8)[:count]
