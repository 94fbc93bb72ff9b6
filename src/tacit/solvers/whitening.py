"""Whitening: private second moments, looked at once or more, as working coordinates.

Descent in coordinates where the second moments are the identity needs tens of passes where plain
descent needs hundreds, and its noise is spread by information, not by the units of the columns.
A second look, at the rows whitened by the first, resolves columns that are narrow inside their
bounds.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tacit.contract.gate import Gate
from tacit.contract.plan import Plan, Whitening
from tacit.contract.query import SecondMoments
from tacit.solvers.coordinates import Coordinates, triangular

MANY_ROWS = 0.25
"""Power of a unit's most rows by which the first look reaches beyond one row's norm.

Rows of a unit together are as long as one row, or √max_rows times that: how many rows units have is
not public. The geometric mean serves both, and the later looks correct it.
"""

SMALLEST_RIDGE = 1e-7
"""Ridge as a share of the largest eigenvalue there could be.

A column without spread is widened by every look, by no more than this allows.
"""
LONGEST_MAP = 1e14
"""Bound on the norm of the map that all looks together make: entries of 1e15 would be refused."""


def whiten(gate: Gate, plan: Plan, whitening: Whitening) -> Coordinates:
    """Ask for the second moments `rounds` times, each in the coordinates of the one before."""
    width = plan.design.width
    matrix: NDArray[np.float64] | None = None
    seen: NDArray[np.float64] | None = None
    look: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    dimension, noise = float(width), 0.0
    for taken in range(whitening.rounds):
        bound = plan.design.row_norm * plan.design.unit_rows**MANY_ROWS
        if taken > 0:
            bound = whitening.row_factor * math.sqrt(dimension)
        every = 1 if taken == 0 else whitening.every
        answer = gate.ask(SecondMoments(bound, matrix, every=every))
        seen, noise = answer.value / plan.count, answer.noise_scale / plan.count
        if matrix is not None:
            inverse = np.linalg.inv(matrix)
            seen = inverse.T @ seen @ inverse
        values, vectors = np.linalg.eigh(answer.value)
        spread = shrink_eigenvalues(values, answer.noise_scale)
        edge = answer.noise_scale * math.sqrt(2 * width)
        # Whitened rows have mean squares of about 1; the first look's are at most the row norm's.
        largest = plan.count * (bound**2 if taken == 0 else 1.0)
        least = whitening.ridge
        if taken >= 2 and whitening.late_ridge is not None:
            least = whitening.late_ridge
        ridge = edge * ridge_in_edges(least, whitening.steepest, edge / largest)
        ridge = max(ridge, SMALLEST_RIDGE * largest)
        if matrix is not None:
            # The new map is at most √(count / ridge) times as long as the one before.
            ridge = max(ridge, plan.count * (float(np.linalg.norm(matrix)) / LONGEST_MAP) ** 2)
        root = (vectors * np.sqrt(plan.count / (spread + ridge))) @ vectors.T
        matrix, turn = triangular(root if matrix is None else matrix @ root)
        look = turn.T @ vectors, spread / (spread + ridge)
        dimension = max(1.0, float(np.sum(look[1])))
    return Coordinates(matrix, dimension, seen, look, noise)


def ridge_in_edges(least: float, steepest: float | None, edge: float) -> float:
    """Ridge in units of the noise edge, which is given as a share of the largest eigenvalue.

    An eigenvalue that noise has pushed down by an edge would be whitened too much: its curvature
    would be 1 / (1 - edge + ridge), and a step that suits the others would overshoot along it.
    """
    if steepest is None or edge == 0.0:
        return least
    return max(least, (1 / steepest - max(0.0, 1.0 - edge)) / edge)


def shrink_eigenvalues(values: NDArray[np.float64], noise: float) -> NDArray[np.float64]:
    """Denoised eigenvalues under symmetric Gaussian noise, not below zero.

    Rotation-invariant shrinkage: v_i - s² Σ_j (v_i - v_j) / ((v_i - v_j)² + 2 s²). Needs no record.
    """
    gaps = values[:, None] - values[None, :]
    push = np.sum(gaps / (gaps**2 + 2 * noise**2), axis=1)
    return np.asarray(np.maximum(0.0, values - noise**2 * push))
