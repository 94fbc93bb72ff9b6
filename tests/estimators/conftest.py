"""A small public table with a known truth, and a mechanism that must not be asked."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.mechanisms.query_responder import Responder


@dataclass(frozen=True)
class Simulated:
    """Records of a logistic model whose coefficients are known; the arrays are read-only."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    coef: NDArray[np.float64]
    intercept: float


def simulate(n: int, d: int, seed: int = 0) -> Simulated:
    """Uniform features in [0, 10] and labels of a logistic model."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 10, (n, d))
    coef = np.resize([0.5, -0.3, 0.2, 0.0], d) / np.sqrt(max(1, d / 4))
    intercept = float(-5 * coef.sum() + 0.3)
    y = (rng.random(n) < 1 / (1 + np.exp(-X @ coef - intercept))).astype(np.int64)
    for array in (X, y, coef):
        array.flags.writeable = False
    return Simulated(X, y, coef, intercept)


@pytest.fixture(scope="session")
def simulated() -> Simulated:
    """Two thousand records of three features."""
    return simulate(2000, 3)


@pytest.fixture
def nothing_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail the test as soon as any mechanism is asked for an answer."""

    def refuse(*arguments: Any, **settings: Any) -> None:
        raise AssertionError("A mechanism ran.")

    monkeypatch.setattr(Responder, "answer", refuse)
