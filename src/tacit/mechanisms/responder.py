"""The responder: holds the records, answers queries at a price. Private: everything it holds."""

from __future__ import annotations

from contextlib import ExitStack
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.mechanisms.gradient import answer_gradient
from tacit.mechanisms.moments import answer_second_moments
from tacit.noise.entropy import Entropy, SeededEntropy, SystemEntropy
from tacit.problem.query import Answer, GradientSum, Query, SecondMoments
from tacit.problem.sensitivity import Price
from tacit.rows.store import Store

MECHANISMS = {GradientSum: answer_gradient, SecondMoments: answer_second_moments}
"""Which mechanism answers which query; each has a page in proofs/mechanisms."""


class Responder:
    """Answers over one store, and over it in the coordinates that queries ask for.

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
        self._original = store
        self._mapped: tuple[bytes, Store] | None = None
        self._entropy: Entropy | None = None
        if private:
            self._entropy = SystemEntropy() if seed is None else SeededEntropy(seed)

    def answer(self, query: Query, price: Price) -> Answer:
        """Answer a query; the plan it belongs to has been reserved before."""
        width = self._original.width
        if query.theta is not None and query.theta.shape != (width,):
            raise SettingError(f"theta must have {width} entries.")
        if isinstance(query, SecondMoments):
            return answer_second_moments(query, price, self._original, self._entropy)
        store = self._in_coordinates(query.matrix)
        return answer_gradient(query, price, store, self._entropy)

    def _in_coordinates(self, matrix: NDArray[np.float64] | None) -> Store:
        """Store of z = matrix' u; the last one asked for is kept."""
        if matrix is None:
            return self._original
        key = matrix.tobytes()
        if self._mapped is not None and self._mapped[0] == key:
            return self._mapped[1]
        self._forget()
        mapped = self._original.map(matrix)
        self._mapped = (key, mapped)
        return mapped

    def _forget(self) -> None:
        if self._mapped is not None:
            self._mapped[1].close()
            self._mapped = None

    def __enter__(self) -> Responder:
        """Take responsibility for the store."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close every store, whatever happened."""
        with ExitStack() as stack:
            stack.callback(self._original.close)
            stack.callback(self._forget)
