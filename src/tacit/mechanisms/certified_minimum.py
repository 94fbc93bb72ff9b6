"""Points that are near the minimiser of a convex objective beyond doubt. Private: the store.

This is not a sum: it minimises over all records, with the exact gradients as sums. A computed point is only near the
minimiser. It is accepted where its gradient, added up in integers, is provably small. Proof:
proofs/mechanisms/certified_minimum.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from tacit.contract.accuracy_of_minimum import GRADIENT_BOUND, Accuracy
from tacit.contract.query import CurvatureAndScore, SecondMoments, Weights
from tacit.contract.sensitivity import FINEST_BOUND
from tacit.losses.dispatch import shape_of
from tacit.losses.loss import Code, Loss
from tacit.mechanisms.kernels import add_gradients, enforceable
from tacit.mechanisms.moments import integer_pairs, integer_second_moments, moment_limit, pair_limit, rounded_entries
from tacit.mechanisms.newton_direction import Exact, square
from tacit.mechanisms.softmax_gradient import add_class_gradients
from tacit.rows.storage.store import BlockSum, Layout, Store
from tacit.rows.storage.tiles import Floats, Integers, dense_tiles, readonly, tile_parts

TILES_AT_ONCE = 128
"""8192 records, so that integers of up to 2^49 add up below 2^62."""
LOW_BITS = 32
NEWTON_STEPS, HALVINGS = 100, 30
"""Public caps on the work of Newton's method; descent has that of `Accuracy.steps`."""
SMOOTH = frozenset({Code.LOGISTIC, Code.SOFTMAX})
"""Losses whose curvature does not jump."""
CURVATURES, GRADIENTS = 14, 20
CURVATURES_OF_JUMPS, GRADIENTS_OF_JUMPS = 20, 64
"""Passes that are made on every table, so that how long a fit takes says little of the records."""


class Minimised(Protocol):
    """A query for a minimum: rows up to `clip`, a loss, and its linear predictors."""

    @property
    def clip(self) -> float:
        """Bound on the norm of a row; longer ones are weighed down."""

    @property
    def loss(self) -> Loss:
        """The loss of a record."""

    @property
    def classes(self) -> int:
        """Number of linear predictors."""


def fine_gradient_sum(theta: Floats, query: Minimised, store: Store) -> list[int]:
    """Sum of the records' downweighted integer gradients, of norm up to 2^49 each, class after class. Private."""
    high, low = store.total(fine_gradients, (theta, query), GRADIENT_BOUND)
    return [(int(a) << LOW_BITS) + int(b) for a, b in zip(high, low, strict=True)]


def fine_gradients(layout: Layout, at: tuple[Floats, Minimised], bound: int) -> BlockSum:
    """Fine integer gradients of a block at a point in two halves, high and low bits."""
    theta, query = at
    size, loss = len(theta), query.loss
    limit = enforceable(bound, size)
    clip = limit / (query.clip * loss.lipschitz), limit, query.clip
    how = (int(loss.code), shape_of(loss)), (layout.weighted, False), clip
    by_class = np.ascontiguousarray(theta.reshape(query.classes, -1))

    def add(block: Any, total: Integers) -> None:
        for part in tile_parts(block, TILES_AT_ONCE):
            some = np.zeros(by_class.shape, dtype=np.int64)
            if query.classes == 1:
                add_gradients(part, theta, *how, some[0])
            else:
                # Margins are of the tiles' type, and those of float32 would be too rough.
                tiles = readonly(dense_tiles(part, layout.width).astype(np.float64))
                add_class_gradients(tiles, by_class, layout.weighted, clip, some)
            # Two halves, each with space for 2^31 summands.
            total[0] += some.ravel() >> LOW_BITS
            total[1] += some.ravel() & ((1 << LOW_BITS) - 1)

    return BlockSum((2, size), add)


@dataclass(frozen=True)
class Objective:
    """Σ w loss(z·theta, y) + (ridge / 2)‖theta‖² + linear·theta over one store, theta class after class. Private.

    Without `even` no passes are made up for: only for simulated records, which anybody may time.
    """

    query: Minimised
    store: Store
    ridge: float
    linear: Exact
    accuracy: Accuracy
    even: bool = True

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return self.store.width * self.query.classes

    def gradient(self, theta: Floats) -> Exact:
        """The gradient, from the integers of the records, in exact rationals."""
        query = self.query
        unit = Fraction(enforceable(GRADIENT_BOUND, self.size) / (query.clip * query.loss.lipschitz))
        ridge = Fraction(self.ridge)
        sums = fine_gradient_sum(theta, query, self.store)
        return [
            total / unit + ridge * Fraction(float(at)) + push
            for total, at, push in zip(sums, theta, self.linear, strict=True)
        ]

    def curvature(self, theta: Floats) -> Floats:
        """The second derivative; it only has to be near."""
        query, bound = self.query, min(FINEST_BOUND, 2**61 // max(self.store.length, 1))
        if query.classes > 1:
            point = np.ascontiguousarray(theta.reshape(query.classes, -1).T)
            pair = CurvatureAndScore(point, query.clip, None, query.loss)
            limit = pair_limit(bound, pair.joint, rounded_entries(pair, self.store.layout))
            sums = integer_pairs(pair, bound, self.store)[0]
        else:
            moments = SecondMoments(query.clip, None, theta, Weights.CURVATURE, query.loss)
            limit = moment_limit(bound, self.store.layout)
            sums = integer_second_moments(moments, bound, self.store)
        curved = sums * (query.loss.smoothness / (limit / query.clip) ** 2)
        return np.asarray(curved + self.ridge * np.eye(self.size))

    def accepts(self, theta: Floats, gradient: Exact) -> bool:
        """Whether a point is near enough to the minimiser, beyond doubt."""
        clip = Fraction(self.query.clip)
        least = Fraction(self.accuracy.tolerance) * clip * Fraction(self.query.loss.lipschitz)
        reached = [Fraction(float(at)) * clip for at in theta]
        return square(gradient) <= least**2 and square(reached) <= Fraction(self.accuracy.radius) ** 2


def find_minimum(objective: Objective) -> Floats:
    """A point that the objective accepts, whatever the records are.

    Newton's method finds one in a few steps. Should it not, gradient descent does: every step to a
    point that is not accepted lowers the objective by a fixed part of what is left.

    Guarantee
    ---------
    - At least `least_passes` passes are made on every table, and at most a public number.
    """
    theta = np.zeros(objective.size)
    gradient = objective.gradient(theta)
    curvatures, gradients = 0, 1
    while not (found := objective.accepts(theta, gradient)) and curvatures < NEWTON_STEPS:
        curvatures += 1
        step = _newton_step(objective, theta, gradient)
        if step is None:
            gradients += HALVINGS
            break
        theta, gradient, tried = step
        gradients += tried
    if not found:
        return descend_to_minimum(objective)
    least = least_passes(objective.query.loss) if objective.even else (0, 0)
    for _ in range(curvatures, least[0]):
        _spectrum(objective, theta)
    for _ in range(gradients, least[1]):
        objective.gradient(theta)
    return theta


def least_passes(loss: Loss) -> tuple[int, int]:
    """Curvatures and gradients that a minimisation asks for on every table; usual tables need no more."""
    return (CURVATURES, GRADIENTS) if loss.code in SMOOTH else (CURVATURES_OF_JUMPS, GRADIENTS_OF_JUMPS)


def descend_to_minimum(objective: Objective) -> Floats:
    """A point that the objective accepts, by gradient descent from 0, within a public number of steps."""
    query = objective.query
    steepest = objective.store.length * query.loss.smoothness * query.clip**2 + objective.ridge
    steepest *= 1 + 2.0**-20
    theta = np.zeros(objective.size)
    for _ in range(objective.accuracy.steps + 1):
        gradient = objective.gradient(theta)
        if objective.accepts(theta, gradient):
            return theta
        theta = theta - _floats(gradient) / steepest
    # The theorem says that no table leads here. If one did, this would be what it is told.
    return np.zeros(objective.size)


def _spectrum(objective: Objective, theta: Floats) -> tuple[Floats, Floats] | None:
    """Eigenvalues, at least the ridge, and eigenvectors of the curvature; None where LAPACK finds none."""
    try:
        values, vectors = np.linalg.eigh(objective.curvature(theta))
    except np.linalg.LinAlgError:
        return None
    return np.maximum(values, objective.ridge), vectors


def _newton_step(objective: Objective, theta: Floats, gradient: Exact) -> tuple[Floats, Exact, int] | None:
    """A step that shortens the gradient, and how many were tried; None where none was found.

    Lengths are in the norm of the inverse curvature. In the plain norm a step along a flat
    direction would seem too long: the curvature's rounding turns it a little to a steep one. Where
    the curvature jumps, a step that stays before the minimum along it is good as well.
    """
    spectrum = _spectrum(objective, theta)
    if spectrum is None:
        return None
    roots, vectors = np.sqrt(spectrum[0]), spectrum[1]
    slope = (vectors.T @ _floats(gradient)) / roots
    step = vectors @ (slope / roots)
    jumps = objective.query.loss.code not in SMOOTH
    length = 1.0
    for tried in range(1, HALVINGS + 1):
        trial = theta - length * step
        found = objective.gradient(trial)
        left = (vectors.T @ _floats(found)) / roots
        before = jumps and float(left @ slope) >= 0.0
        if before or np.linalg.norm(left) <= (1 - length / 4) * np.linalg.norm(slope):
            return trial, found, tried
        length /= 2
    return None


def _floats(vector: Exact) -> Floats:
    return np.array([float(entry) for entry in vector])
