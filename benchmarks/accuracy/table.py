"""A table split into training and test rows, with the public facts that methods may use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["classification", "regression"]
Group = Literal["codebook", "held out", "bundled"]
Vector = NDArray[np.float64]
Matrix = NDArray[np.floating]

SPLIT_SEED, TEST_SHARE, LARGEST = 12345, 5, 125_000


@dataclass(frozen=True)
class Table:
    """Rows mapped to [-1, 1] and indicators by public knowledge alone; the last column is 1.

    `row_norm` bounds the L2 norm of a row, the constant counted; `y_bounds` bounds the response.
    Labels are 0 and 1.
    """

    name: str
    kind: Kind
    group: Group
    X_train: Matrix
    y_train: Matrix
    X_test: Matrix
    y_test: Matrix
    row_norm: float
    y_bounds: tuple[float, float] = (0.0, 1.0)

    @property
    def features(self) -> Matrix:
        """Training rows without the constant, for estimators with an intercept of their own."""
        return self.X_train[:, :-1]

    @property
    def test_features(self) -> Matrix:
        """Test rows without the constant."""
        return self.X_test[:, :-1]

    @property
    def feature_norm(self) -> float:
        """Public bound on the norm of a row without the constant."""
        return float(np.sqrt(self.row_norm**2 - 1.0))


def split(
    name: str,
    kind: Kind,
    group: Group,
    encoded: tuple[Matrix, float],
    y: Matrix,
    y_bounds: tuple[float, float] = (0.0, 1.0),
) -> Table:
    """Split rows at random with a fixed seed, a fifth for the test, as the codebook does."""
    X, row_norm = encoded
    order = np.random.RandomState(SPLIT_SEED).permutation(len(y))[:LARGEST]
    test = np.sort(order[: len(order) // TEST_SHARE])
    train = np.sort(order[len(order) // TEST_SHARE :])
    clipped = np.clip(np.asarray(y, dtype=np.float32), *y_bounds)
    return Table(name, kind, group, X[train], clipped[train], X[test], clipped[test], row_norm, y_bounds)
