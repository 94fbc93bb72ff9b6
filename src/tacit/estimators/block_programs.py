"""What a black box does with one block: programs that a process of its own loads, and so few imports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FittedNumbers:
    """A fresh clone, fitted to a block, and the numbers that are read off it: coefficients, or those of `output`."""

    estimator: Any
    output: Callable[[Any], Any] | None
    labels: NDArray[Any] | None

    def __call__(self, X: Floats, y: Floats) -> Floats:
        """Numbers of a block."""
        response = y if self.labels is None else self.labels[y.astype(np.int64)]
        model = clone(self.estimator).fit(X, response)
        if self.output is not None:
            return np.asarray(self.output(model), dtype=np.float64).ravel()
        # A block without a class has fewer coefficients than were declared, and gives the default.
        return np.concatenate([np.ravel(model.intercept_), np.ravel(model.coef_)]).astype(np.float64)


@dataclass(frozen=True)
class TaughtLabels:
    """A fresh clone, fitted to a block; the numbers of the classes that it predicts for the public rows."""

    estimator: Any
    rows: Floats

    def __call__(self, X: Floats, y: Floats) -> Floats:
        """Votes of a block."""
        return np.asarray(clone(self.estimator).fit(X, y.astype(np.int64)).predict(self.rows), dtype=np.float64)
