"""The responder: holds the records, answers queries at a price. Private: everything it holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.contract import block_query as of_blocks
from tacit.contract import query as queries
from tacit.contract import selection_query as selecting
from tacit.contract.block_query import AnyBlockQuery, BlockFunction
from tacit.contract.column_query import ColumnMoments
from tacit.contract.deviance_query import DevianceSum
from tacit.contract.grouped_query import GroupedQuery
from tacit.contract.network_query import NetworkGradient
from tacit.contract.query import KIND_OF, Answer, Progress, Query, TableQuery
from tacit.contract.score_query import ScoreHistogram
from tacit.contract.sensitivity import AnyPrice, require_kind
from tacit.contract.statistic_query import BoundedSums, GroupSums
from tacit.deferred import deferred
from tacit.design.design import Design
from tacit.errors import SettingError
from tacit.noise.entropy import BYTES_PER_WORD, Entropy, SeededEntropy, SystemEntropy
from tacit.rows.admission.clip_and_scale import rescale
from tacit.rows.storage.record_store import Draw
from tacit.rows.storage.store import Store

if TYPE_CHECKING:
    from tacit.mechanisms.block_results import Draws

_answer = partial(deferred, "tacit.mechanisms")

MECHANISMS: Mapping[type, Callable[..., Answer]] = {
    queries.GradientSum: _answer("gradient.answer_gradient"),
    queries.BatchGradientSum: _answer("batch_gradient.answer_batch_gradient"),
    queries.SecondMoments: _answer("moments.answer_second_moments"),
    ColumnMoments: _answer("column_moments.answer_column_moments"),
    queries.CurvatureAndScore: _answer("moments.answer_curvature_and_score"),
    queries.ColumnCounts: _answer("counts.answer_counts"),
    queries.ResidualSize: _answer("counts.answer_counts"),
    queries.GradientNorm: _answer("counts.answer_counts"),
    DevianceSum: _answer("deviance.answer_deviance"),
    BoundedSums: _answer("means.answer_means"),
    GroupSums: _answer("means.answer_means"),
    ScoreHistogram: _answer("score_histogram.answer_score_histogram"),
    queries.PerturbedMinimum: _answer("objective_perturbation.answer_perturbed_minimum"),
    queries.NoisyMinimum: _answer("output_perturbation.answer_noisy_minimum"),
    queries.DampedDirection: _answer("newton_direction.answer_damped_direction"),
    queries.CurvatureTrace: _answer("newton_direction.answer_curvature_trace"),
    selecting.CandidateChoice: _answer("selection.answer_selection"),
    selecting.StatisticChoice: _answer("selection.answer_selection"),
    selecting.VertexChoice: _answer("vertex_choice.answer_vertex"),
    selecting.PosteriorDraw: _answer("posterior_draw.answer_posterior"),
    selecting.LossDifference: _answer("loss_difference.answer_difference"),
    of_blocks.BlockMean: _answer("block_mean.answer_block_mean"),
    of_blocks.BlockMedian: _answer("block_median.answer_block_median"),
    of_blocks.BlockDepth: _answer("block_depth.answer_block_depth"),
    of_blocks.VoteChecks: _answer("votes.answer_votes"),
    of_blocks.VoteCounts: _answer("votes.answer_votes"),
}
"""Which mechanism, "module.function" here, answers which query; each has a page in proofs/mechanisms."""
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
        self._settled: NDArray[np.float64] | None = None
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
        from tacit.mechanisms.block_results import block_results

        key = query.function, query.blocks
        if key not in self._results:
            self._results[key] = block_results(*key, self._store, self._draws(), self._progress)
        return self._results[key]

    def _draws(self) -> Draws:
        from tacit.mechanisms.block_results import SecretDraws

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
        if isinstance(query, DevianceSum):
            # Of released coefficients of the prepared row: z·(M⁻¹θ) = u·θ.
            if self._settled is None:
                return query
            return replace(query, theta=coefficients_there(self._settled, query.theta))
        matrix = None if isinstance(query, queries.WITHOUT_COORDINATES) else query.matrix
        if matrix is not None and self._settled is None:
            self._store = self._store.recast(matrix)
            # The matrix itself, which a solver keeps, and no copy: wide ones are a good part of a fit's memory.
            self._settled = matrix
        if matrix is not self._settled and (
            matrix is None or self._settled is None or not np.array_equal(matrix, self._settled)
        ):
            raise SettingError("The working coordinates were settled before and cannot change.")
        return query if isinstance(query, queries.WITHOUT_COORDINATES) else replace(query, matrix=None)

    def prepare_with(self, design: Design) -> None:
        """Rescale raw records by the bounds found; in float64 where no noise is added."""
        exact = self._entropy is None
        self._store = self._store.applied(rescale, design, np.float64 if exact else np.float32)

    def __enter__(self) -> Responder:
        return self

    def __exit__(self, *error: object) -> None:
        self._store.close()
        self._results.clear()


def coefficients_there(matrix: NDArray[np.float64], theta: NDArray[np.float64]) -> NDArray[np.float64]:
    """X with M x = θ. Where a solver keeps few directions M is singular; θ is then among what it spans."""
    try:
        found = np.linalg.solve(matrix, theta)
    except np.linalg.LinAlgError:
        found = np.linalg.lstsq(matrix, theta)[0]
    return np.asarray(found, dtype=np.float64)


def exchange_key(seed: int | None) -> bytes:
    """Draw the key of the hash by which workers exchange persons' records. Secret; no answer depends on it."""
    entropy: Entropy = SystemEntropy() if seed is None else SeededEntropy(seed + 2 * SEEDED_STREAM)
    return entropy.words(4).tobytes()


def subsample_draw(seed: int | None) -> Draw:
    """Draw the independent uniform bytes, one a record, that decide what the subsample is. Secret.

    Guarantee
    ---------
    - The bytes do not depend on the records; without a seed every fit draws fresh ones.
    - With a seed they are those of the seed, and not of the noise made with it.
    """
    entropy: Entropy = SystemEntropy() if seed is None else SeededEntropy(seed + SEEDED_STREAM)
    return lambda count: entropy.words(-(-count // BYTES_PER_WORD)).view(np.uint8)[:count]
