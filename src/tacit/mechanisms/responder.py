"""The responder: holds the records, answers queries at a price. Private: everything it holds."""

from __future__ import annotations

from dataclasses import replace
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.mechanisms.gradient import answer_gradient
from tacit.mechanisms.moments import answer_second_moments
from tacit.noise.entropy import Entropy, SeededEntropy, SystemEntropy
from tacit.problem.query import (
    Answer,
    ColumnCounts,
    GradientSum,
    Query,
    ResidualSize,
    SecondMoments,
)
from tacit.problem.sensitivity import Price
from tacit.rows.store import Store

MECHANISMS = {GradientSum: answer_gradient, SecondMoments: answer_second_moments}
"""Which mechanism answers which query; each has a page in proofs/mechanisms."""


class Responder:
    """Answers over one store, in the coordinates that queries ask for.

    Looks at second moments may use any coordinates. The first gradient in others than the design's
    settles them: the rows are recast, in place where they lie in memory, and stay so.

    Parameters
    ----------
    store
        The prepared records.
    private
        False only where the budget is infinite: no noise is added then.
    seed
        A seed for reproducible noise, which protects nobody; None for the operating system's.
    """

    def __init__(self, store: Store, *, private: bool, seed: int | None) -> None:
        self._store = store
        self._settled: bytes | None = None
        self._entropy: Entropy | None = None
        if private:
            self._entropy = SystemEntropy() if seed is None else SeededEntropy(seed)

    def answer(self, query: Query, price: Price) -> Answer:
        """Answer a query; the plan it belongs to has been reserved before."""
        match query:
            case SecondMoments():
                self._require_width(query.theta)
                # Before coordinates are settled, rows are mapped as they are read and not kept.
                if self._settled is not None:
                    self._require_settled(query.matrix)
                    query = replace(query, matrix=None)
                return answer_second_moments(query, price, self._store, self._entropy)
            case GradientSum():
                self._require_width(query.theta)
                self._settle(query.matrix)
                return answer_gradient(query, price, self._store, self._entropy)
            case ColumnCounts() | ResidualSize():
                raise SettingError("Counts are not answered here.")

    def _settle(self, matrix: NDArray[np.float64] | None) -> None:
        """Let the first gradient in other coordinates recast the rows; refuse any after it."""
        if matrix is not None and self._settled is None:
            self._store = self._store.recast(matrix)
            self._settled = matrix.tobytes()
        self._require_settled(matrix)

    def _require_width(self, theta: NDArray[np.float64] | None) -> None:
        width = self._store.width
        if theta is not None and theta.shape[0] != width:
            raise SettingError(f"theta must have {width} entries.")

    def _require_settled(self, matrix: NDArray[np.float64] | None) -> None:
        """Refuse coordinates other than those that the first gradient settled."""
        asked = None if matrix is None else matrix.tobytes()
        if asked != self._settled:
            raise SettingError("The working coordinates were settled before and cannot change.")

    def __enter__(self) -> Responder:
        """Take responsibility for the store."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the records up, whatever happened."""
        self._store.close()
