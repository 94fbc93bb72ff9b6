"""The scale of residuals, found along with the coefficients: Huber's second equation.

    mean min(r²/s², c²) = κ(c)

Each round asks for the mean on the left at its own (θ, s), as a count, and moves s to where normal
errors would explain what was seen. s stays within public ends whatever the noise is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.losses.consistency import explaining_ratio
from tacit.problem.gate import Gate
from tacit.problem.plan import Plan
from tacit.problem.query import Measure, ResidualSize
from tacit.solvers.coordinates import Coordinates

SMALLEST = 2.0**-14
"""Floor of a scale, in units of half the declared range of the response."""
LARGEST = 2.0
SHORTER, LONGER = 1 / 8, 2.0
"""A round changes the scale by no more."""
FARTHEST = 1e6
"""Predictions are kept within it."""


def rescale(
    gate: Gate,
    plan: Plan,
    coordinates: Coordinates,
    theta: NDArray[np.float64],
    scale: float,
    threshold: float,
    damping: float,
) -> float:
    """Ask for the residuals' squares and return the next scale."""
    query = ResidualSize(
        theta, threshold * scale, coordinates.matrix, -FARTHEST, FARTHEST, Measure.SQUARE
    )
    seen = threshold**2 * float(gate.ask(query).value[0]) / plan.count
    ratio = explaining_ratio(seen, threshold, SHORTER, LONGER)
    return float(min(max(scale * ratio**damping, SMALLEST), LARGEST))
