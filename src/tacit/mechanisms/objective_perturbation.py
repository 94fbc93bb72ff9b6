"""Minimisers of an objective with linear Gaussian noise. Private: the store.

This mechanism is not a sum: it minimises over all records, with the exact gradients as sums. The noise in the objective
hides a record in the exact minimiser. A computed point is only near it: its gradient is provably small, and a second
noise hides the difference. Proof: proofs/mechanisms/objective_perturbation.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.contract.query import Answer, PerturbedMinimum, SecondMoments, Weights
from tacit.contract.sensitivity import FARTHEST, FINEST_BOUND, GRADIENT_BOUND, Accuracy, MinimumPrice, ridge_of
from tacit.errors import SettingError
from tacit.losses.dispatch import shape_of
from tacit.mechanisms.kernels import add_gradients, enforceable
from tacit.mechanisms.moments import integer_second_moments, moment_limit
from tacit.mechanisms.newton_direction import Exact, square
from tacit.noise.entropy import Entropy
from tacit.noise.gaussian import rounded_gaussian
from tacit.rows.storage.store import BlockSum, Layout, Store
from tacit.rows.storage.tiles import Floats, Integers, tile_parts

TILES_AT_ONCE = 128
"""8192 records, so that integers of up to 2^49 add up below 2^62."""
LOW_BITS = 32
NEWTON_STEPS, HALVINGS = 500, 30


def fine_gradient_sum(theta: Floats, query: PerturbedMinimum, store: Store) -> list[int]:
    """Sum of the records' downweighted integer gradients, of norm up to 2^49 each. Private."""
    high, low = store.total(fine_gradients, (theta, query), GRADIENT_BOUND)
    return [(int(a) << LOW_BITS) + int(b) for a, b in zip(high, low, strict=True)]


def fine_gradients(layout: Layout, at: tuple[Floats, PerturbedMinimum], bound: int) -> BlockSum:
    """Fine integer gradients of a block at a point in two halves, high and low bits."""
    theta, clip, loss = at[0], at[1].clip, at[1].loss
    limit = enforceable(bound, layout.width)
    how = (int(loss.code), shape_of(loss)), (layout.weighted, False), (limit / clip, limit, clip / loss.lipschitz)

    def add(block: Any, total: Integers) -> None:
        for part in tile_parts(block, TILES_AT_ONCE):
            some = np.zeros(layout.width, dtype=np.int64)
            add_gradients(part, theta, *how, some)
            # Two halves, each with space for 2^31 summands.
            total[0] += some >> LOW_BITS
            total[1] += some & ((1 << LOW_BITS) - 1)

    return BlockSum((2, layout.width), add)


@dataclass(frozen=True)
class Objective:
    """Σ w loss(z·theta, y) + (ridge / 2)‖theta‖² + linear·theta over one store. Private."""

    query: PerturbedMinimum
    store: Store
    ridge: float
    linear: Exact
    accuracy: Accuracy

    def gradient(self, theta: Floats) -> Exact:
        """The gradient, from the integers of the records, in exact rationals."""
        unit = Fraction(enforceable(GRADIENT_BOUND, self.store.width) / self.query.clip)
        ridge = Fraction(self.ridge)
        sums = fine_gradient_sum(theta, self.query, self.store)
        return [
            total / unit + ridge * Fraction(float(at)) + push
            for total, at, push in zip(sums, theta, self.linear, strict=True)
        ]

    def curvature(self, theta: Floats) -> Floats:
        """The second derivative; it only has to be near."""
        query = SecondMoments(self.query.clip, None, theta, Weights.CURVATURE, self.query.loss)
        bound = min(FINEST_BOUND, 2**61 // max(self.store.length, 1))
        sums = integer_second_moments(query, bound, self.store)
        unit = (moment_limit(bound, self.store.layout) / self.query.clip) ** 2
        curved = sums * (self.query.loss.smoothness / unit)
        return np.asarray(curved + self.ridge * np.eye(self.store.width))

    def accepts(self, theta: Floats, gradient: Exact) -> bool:
        """Whether a point is near enough to the minimiser, beyond doubt."""
        clip = Fraction(self.query.clip)
        near = square(gradient) <= (Fraction(self.accuracy.tolerance) * clip) ** 2
        reached = [Fraction(float(at)) * clip for at in theta]
        return near and square(reached) <= Fraction(self.accuracy.radius) ** 2


def find_minimum(objective: Objective) -> Floats:
    """A point that the objective accepts, whatever the records are.

    Newton's method finds one in a few steps. Should it not, gradient descent does: every step to a
    point that is not accepted lowers the objective by a fixed part of what is left.
    """
    theta = np.zeros(objective.store.width)
    gradient = objective.gradient(theta)
    for _ in range(NEWTON_STEPS):
        if objective.accepts(theta, gradient):
            return theta
        found = _newton_step(objective, theta, gradient)
        if found is None:
            break
        theta, gradient = found
    return descend_to_minimum(objective)


def descend_to_minimum(objective: Objective) -> Floats:
    """A point that the objective accepts, by gradient descent from 0."""
    query = objective.query
    steepest = objective.store.length * query.loss.smoothness * query.clip**2 + objective.ridge
    steepest *= 1 + 2.0**-20
    theta = np.zeros(objective.store.width)
    gradient = objective.gradient(theta)
    while not objective.accepts(theta, gradient):
        theta = theta - _floats(gradient) / steepest
        gradient = objective.gradient(theta)
    return theta


def _newton_step(objective: Objective, theta: Floats, gradient: Exact) -> tuple[Floats, Exact] | None:
    """A step that shortens the gradient; None where none was found.

    Lengths are in the norm of the inverse curvature. In the plain norm a step along a flat
    direction would seem too long: the curvature's rounding turns it a little to a steep one.
    """
    try:
        values, vectors = np.linalg.eigh(objective.curvature(theta))
    except np.linalg.LinAlgError:
        return None
    roots = np.sqrt(np.maximum(values, objective.ridge))
    slope = (vectors.T @ _floats(gradient)) / roots
    step = vectors @ (slope / roots)
    length = 1.0
    for _ in range(HALVINGS):
        trial = theta - length * step
        found = objective.gradient(trial)
        left = (vectors.T @ _floats(found)) / roots
        if np.linalg.norm(left) <= (1 - length / 4) * np.linalg.norm(slope):
            return trial, found
        length /= 2
    return None


def _floats(vector: Exact) -> Floats:
    return np.array([float(entry) for entry in vector])


def answer_perturbed_minimum(
    query: PerturbedMinimum, price: MinimumPrice, store: Store, entropy: Entropy | None
) -> Answer:
    """The minimiser, with noise; `noise_scale` is that of the linear noise in the objective.

    Guarantee
    ---------
    - A record's gradient is at most `clip` and its curvature at most ratio·ridge, for any theta.
    - The point found is within `Accuracy.drift` / clip of the exact minimiser, on any table.
    - For one exact minimiser the released integers differ by at most `drift.bound` before noise.
    - Both noises are rounded real Gaussians of scale 2^bits, drawn exactly.
    """
    if store.layout.shifted or store.layout.unit_rows != 1:
        raise SettingError("The objective is perturbed for plain records, without offset or units.")
    width = store.width
    ridge = ridge_of(price, query.clip, query.loss)
    accuracy = Accuracy.of(price, records=store.length, width=width, smoothness=query.loss.smoothness)
    drawn = [0] * width
    if entropy is not None:
        farthest = FARTHEST << price.bits
        noise = rounded_gaussian(width, price.bits, entropy)
        drawn = [max(-farthest, min(int(draw), farthest)) for draw in noise]
    clip = Fraction(query.clip)
    linear = [draw * clip / price.bound for draw in drawn]
    theta = find_minimum(Objective(query, store, ridge, linear, accuracy))
    if entropy is None:
        return Answer(theta, 0.0)
    step = Fraction(accuracy.step(price, width)) / clip
    cover = rounded_gaussian(width, price.drift.bits, entropy)
    released = [
        float((round(Fraction(float(at)) / step) + int(draw)) * step) for at, draw in zip(theta, cover, strict=True)
    ]
    return Answer(np.array(released), query.clip * 2.0**price.bits / price.bound)
