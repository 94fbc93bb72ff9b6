"""The path of a descent: its released iterates, and what was spent up to each.

Every iterate is a function of noised answers that were paid for, so the whole path is post-processing of the release.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.accounting import gaussian


@dataclass(frozen=True, repr=False)
class Path:
    """Iterates on the user's scale, a row for each, and the budget spent when each was known.

    `names` are those of the columns, the intercept first. `mu` is that of all answers up to an iterate, and `delta` the
    one at which `epsilon` is stated.

    Guarantee: `mu` and `epsilon` rise along the path, and at its end are those of the whole plan.
    """

    names: tuple[str, ...]
    coefficients: NDArray[np.float64]
    mu: NDArray[np.float64]
    delta: float | None

    def __len__(self) -> int:
        return len(self.coefficients)

    def __repr__(self) -> str:
        """Say how long it is and what was spent, not every number."""
        spent = self.epsilon[-1:].tolist()
        at = "" if self.delta is None or not spent else f", ε from {self.epsilon[0]:.3g} to {spent[0]:.3g}"
        return f"Path: {len(self):,} iterates of {len(self.names):,} coefficients{at}"

    @property
    def epsilon(self) -> NDArray[np.float64]:
        """Spent up to each iterate, at `delta`; infinite without noise."""
        if self.delta is None:
            return np.full(len(self), math.inf)
        return np.array([gaussian.epsilon(mu, self.delta) if mu < math.inf else math.inf for mu in self.mu.tolist()])

    @property
    def last(self) -> NDArray[np.float64]:
        """The last iterate."""
        return np.array(self.coefficients[-1])

    @property
    def average(self) -> NDArray[np.float64]:
        """The mean of all iterates."""
        return np.asarray(self.coefficients.mean(axis=0))

    @property
    def tail(self) -> NDArray[np.float64]:
        """The mean of the second half of the iterates, rounded up."""
        return np.asarray(self.coefficients[len(self) // 2 :].mean(axis=0))
