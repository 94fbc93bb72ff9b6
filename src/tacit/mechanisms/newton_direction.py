"""Newton directions whose noise is on the direction, not on the matrix. Private: the store.

For a released gradient g, a change of one record's summand in H moves (H + λI)⁻¹ g by at most ‖g‖ B / (λ (λ + B)). So
noise on d numbers does what noise on d² numbers would have to. Proof: proofs/mechanisms/newton_direction.md.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from tacit.accounting.rounding import root_up
from tacit.contract.query import Answer, CurvatureTrace, DampedDirection, SecondMoments, Weights
from tacit.contract.sensitivity import Price
from tacit.mechanisms.gaussian_sum import noised_sum
from tacit.mechanisms.moments import integer_second_moments, moment_limit
from tacit.noise.entropy import Entropy
from tacit.noise.gaussian import rounded_gaussian
from tacit.rows.storage.store import Store
from tacit.rows.storage.tiles import Integers

CURVATURE_BOUND = 2**30
"""Integer bound on a record's summand in H: the sums of 2^33 records do not wrap."""
SLACK = Fraction(1, 2**20)
"""Error of the solution, as a fraction of what one record can move it by."""
REFINEMENTS = 5
SMALLEST_NORM = 1e-150
"""Stands for the norm of a gradient below it, so that a lattice has a step."""

Exact = list[Fraction]


def square(vector: Exact) -> Fraction:
    """Squared norm, exactly."""
    return sum((entry * entry for entry in vector), Fraction(0))


def integer_curvature(query: DampedDirection | CurvatureTrace, bound: int, store: Store) -> Integers:
    """Sum over the records of v v', ‖v‖² ≤ bound, near w h z z' / smoothness. Private."""
    moments = SecondMoments(query.row_bound, None, query.theta, Weights.CURVATURE, query.loss)
    return integer_second_moments(moments, bound, store)


def damping_integer(query: DampedDirection, store: Store) -> int:
    """The damping in units of the integer curvature, rounded up; at least 1. Public."""
    unit = Fraction(_unit(query, CURVATURE_BOUND, store))
    return max(1, math.ceil(Fraction(query.damping) * unit / Fraction(query.loss.smoothness)))


def largest_move(norm: Fraction, damping: int) -> Fraction:
    """How far the computed (H + damping·I)⁻¹ g can be apart between neighbours, for ‖g‖ ≤ norm."""
    exact = norm * CURVATURE_BOUND / (damping * (damping + CURVATURE_BOUND))
    return exact * (1 + 2 * SLACK)


def solve_within(matrix: Integers, damping: int, vector: Exact) -> Exact:
    """Return x with ‖x - (matrix + damping·I)⁻¹ vector‖ at most SLACK of what a record can do.

    Solved in floats and refined by residuals in exact rationals; in exact rationals throughout
    where that is not enough. The matrix must have no negative eigenvalue.
    """
    damped = [[int(entry) for entry in row] for row in matrix]
    for j, row in enumerate(damped):
        row[j] += damping
    size = square(vector)
    part = SLACK * CURVATURE_BOUND / (damping + CURVATURE_BOUND)
    approximate = np.array(damped, dtype=np.float64)
    solution, residual = [Fraction(0)] * len(vector), vector
    for _ in range(REFINEMENTS):
        # ‖x - x*‖ ≤ ‖residual‖ / damping, as no eigenvalue is below the damping.
        if square(residual) <= part**2 * size:
            return solution
        try:
            step = np.linalg.lstsq(approximate, [float(entry) for entry in residual], rcond=None)[0]
        except np.linalg.LinAlgError:
            break
        if not np.isfinite(step).all():
            break
        solution = [at + Fraction(float(change)) for at, change in zip(solution, step, strict=True)]
        residual = [
            entry - sum((a * x for a, x in zip(row, solution, strict=True)), Fraction(0))
            for row, entry in zip(damped, vector, strict=True)
        ]
    return solve_exactly(damped, vector)


def solve_exactly(matrix: list[list[int]], vector: Exact) -> Exact:
    """Gaussian elimination in rationals, for a positive definite matrix: no pivot is 0."""
    rows = [[*map(Fraction, row), entry] for row, entry in zip(matrix, vector, strict=True)]
    size = len(rows)
    for j in range(size):
        for k in range(j + 1, size):
            factor = rows[k][j] / rows[j][j]
            if factor:
                pairs = zip(rows[k], rows[j], strict=True)
                rows[k] = [below - factor * above for below, above in pairs]
    solution = [Fraction(0)] * size
    for j in reversed(range(size)):
        known = sum((rows[j][k] * solution[k] for k in range(j + 1, size)), Fraction(0))
        solution[j] = (rows[j][size] - known) / rows[j][j]
    return solution


def integer_direction(query: DampedDirection, price: Price, store: Store) -> tuple[list[int], Fraction]:
    """The direction on its lattice, before noise, and the lattice's step, which is public. Private.

    The step is such that the integers of neighbours are at most `price.bound` apart.
    """
    vector = [Fraction(float(entry)) for entry in query.gradient]
    norm = root_up(square(vector))
    damping = damping_integer(query, store)
    available = price.bound - Fraction(root_up(Fraction(store.width)))
    step = largest_move(Fraction(max(norm, SMALLEST_NORM)), damping) / available
    matrix = integer_curvature(query, CURVATURE_BOUND, store)
    solution = solve_within(matrix, damping, vector)
    return [round(entry / step) for entry in solution], step


def answer_damped_direction(query: DampedDirection, price: Price, store: Store, entropy: Entropy | None) -> Answer:
    """The noised direction; without entropy the direction alone (ε = ∞).

    Guarantee
    ---------
    - Integers of neighbours differ by at most the bound in L2 norm, under every relation.
    - The solution is within SLACK of the bound of the exact one, on any table.
    - The noise is the real Gaussian of scale 2^bits rounded to integers, drawn exactly.
    """
    integers, step = integer_direction(query, price, store)
    unit = Fraction(_unit(query, CURVATURE_BOUND, store)) / Fraction(query.loss.smoothness)
    if entropy is None:
        return Answer(np.array([float(entry * step * unit) for entry in integers]), 0.0)
    noise = rounded_gaussian(len(integers), price.bits, entropy)
    noised = [entry + int(draw) for entry, draw in zip(integers, noise, strict=True)]
    scale = float(step * unit)
    return Answer(np.array([float(entry) * scale for entry in noised]), 2.0**price.bits * scale)


def answer_curvature_trace(query: CurvatureTrace, price: Price, store: Store, entropy: Entropy | None) -> Answer:
    """The noised trace of Σ w h z z'; without entropy the trace alone (ε = ∞).

    Guarantee
    ---------
    - A record's part of the trace is an integer within 0 and the bound.
    """
    unit = _unit(query, price.bound, store) / query.loss.smoothness
    total = np.array([np.trace(integer_curvature(query, price.bound, store))])
    return noised_sum(total, unit, price, entropy)


def _unit(query: DampedDirection | CurvatureTrace, bound: int, store: Store) -> float:
    """Integer curvature per w h z z' / smoothness. Public."""
    return max((moment_limit(bound, store.layout) / query.row_bound) ** 2, np.finfo(float).tiny)
