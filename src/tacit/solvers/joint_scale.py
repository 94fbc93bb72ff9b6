"""The scale of residuals, found along with the coefficients: Huber's second equation.

    mean min(r²/s², c²) = κ(c)

Each round asks for the mean on the left at its own (θ, s), as a count, and moves s to where normal
errors would explain what was seen. s stays within public ends whatever the noise is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.contract.gate import Gate
from tacit.contract.plan import Plan
from tacit.contract.query import Measure, ResidualSize
from tacit.losses.scale_consistency import explaining_ratio, square_slope
from tacit.solvers.coordinates import Coordinates

SMALLEST = 2.0**-14
"""Floor of a scale, in units of half the declared range of the response."""
LARGEST = 2.0
SHORTER, LONGER = 1 / 8, 2.0
"""A round changes the scale by no more."""
FIRST_DOUBT = 0.5
"""Variance of the logarithm of the first scale, which is the deviation of the response."""
DRIFT = 0.01
"""What a round adds to it, as residuals change with the coefficients."""
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
    doubt: float,
) -> tuple[float, float]:
    """Ask for the residuals' squares and return the next scale and the doubt about it."""
    query = ResidualSize(
        theta, threshold * scale, coordinates.matrix, -FARTHEST, FARTHEST, Measure.SQUARE
    )
    answer = gate.ask(query)
    seen = threshold**2 * float(answer.value[0]) / plan.count
    ratio = explaining_ratio(seen, threshold, SHORTER, LONGER)
    noise = threshold**2 * answer.noise_scale / plan.count / square_slope(threshold)
    gain = min(damping, doubt / (doubt + noise**2))
    moved = float(min(max(scale * ratio**gain, SMALLEST), LARGEST))
    return moved, (1 - gain) * doubt + DRIFT
