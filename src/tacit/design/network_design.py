"""The design of a network: inputs go to the module as they are, and its parameters are the coefficients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.design.design import Design


@dataclass(frozen=True)
class NetworkDesign(Design):
    """A design without columns: the released vector is that of all parameters, which have no other scale."""

    parameters: int = 1

    @property
    def width(self) -> int:
        """Number of parameters."""
        return self.parameters

    @property
    def outputs(self) -> int:
        """One vector, whatever the module returns."""
        return 1

    @property
    def names(self) -> tuple[str, ...]:
        """Parameters by their places in the vector."""
        return tuple(f"w{place}" for place in range(self.parameters))

    def user_coefficients(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the parameters as they are."""
        return np.array(theta)

    def shift(self) -> NDArray[np.float64]:
        """Return zeros: nothing is centred."""
        return np.zeros(self.parameters)
