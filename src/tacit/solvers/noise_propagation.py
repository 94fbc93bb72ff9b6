"""What the noise of all steps leaves in the result of a noisy descent: the whole recursion.

A step θ ← θ - P_t(g(θ) + ν_t), near a minimum with curvature M, moves the error e = θ - θ* by

    e_{t+1} = (I - P_t M) e_t - P_t ν_t,   ν_t of deviation σ_t

and the result is a weighted mean of iterates. All P_t and σ_t are known, M was released, so the
covariance of the result is a sum of known terms. For P_t = η M⁻¹ and the last of T iterates it is
σ² M⁻² η²(1 - (1-η)^{2T}) / (1 - (1-η)²): the last noise alone, σ² M⁻² η², would be too little.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.solvers.coordinates import Matrix
from tacit.solvers.interval_rules import NEWTON
from tacit.solvers.spectrum import Spectrum


def carry_noise(
    curvature: Matrix, steps: Sequence[Matrix], noises: Sequence[float], weights: Sequence[float]
) -> tuple[Matrix, Matrix]:
    """Return the covariance that noise leaves in Σ_t weights_t·θ_{t+1}, and what is left of e_0.

    Parameters
    ----------
    curvature
        M, positive definite.
    steps, noises, weights
        P_t (symmetric, positive semidefinite), σ_t, and the weight of the iterate after it.
    """
    spectrum = Spectrum.of(curvature)
    values = np.maximum(spectrum.values, np.finfo(float).tiny)
    root = spectrum.with_values(np.sqrt(values))
    back = (spectrum.vectors / np.sqrt(values)) @ spectrum.vectors.T
    unit = np.eye(len(values))
    total, ahead = np.zeros_like(root), np.zeros_like(root)
    for step, noise, weight in zip(reversed(steps), reversed(noises), reversed(weights), strict=True):
        # What the result answers to a change of the iterate after this step, in units of M^-½.
        ahead = ahead + weight * unit
        response = ahead @ root @ step
        total += noise**2 * (response @ response.T)
        ahead = ahead @ (unit - _limited(root @ step @ root))
    return back @ total @ back, back @ ahead @ root


def _limited(matrix: Matrix) -> Matrix:
    """Cut eigenvalues: an error that would grow is taken as one that stays."""
    spectrum = Spectrum.of((matrix + matrix.T) / 2)
    return spectrum.with_values(np.minimum(spectrum.values, NEWTON.steepest))
