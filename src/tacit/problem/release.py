"""The release: what left the wall. Everything from here on is post-processing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.problem.plan import Plan


@dataclass(frozen=True)
class Release:
    """Coefficients in prepared coordinates (intercept last) and the plan that paid for them.

    `reproducible` says that the noise came from a seed somebody chose: it then protects nobody.
    """

    plan: Plan
    theta: NDArray[np.float64]
    reproducible: bool = False

    @property
    def private(self) -> bool:
        """Whether the guarantee holds: noise was added, and from the operating system."""
        return self.plan.private and not self.reproducible

    def coefficients(self) -> NDArray[np.float64]:
        """Coefficients on the user's scale, the intercept first."""
        return self.plan.design.to_user() @ self.theta
