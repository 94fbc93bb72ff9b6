"""A gate over public rows in float arithmetic: the plan's noise without the cost of exactness.

It answers as the mechanisms do, up to the rounding of integers, and draws the noise of the plan's
prices from numpy. A fit of a thousand records takes milliseconds, so that ten thousand can be run.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tacit.contract.plan import Plan
from tacit.contract.query import (
    KIND_OF,
    Answer,
    ColumnCounts,
    CurvatureAndScore,
    GradientNorm,
    GradientSum,
    Measure,
    Query,
    ResidualSize,
    SecondMoments,
    Weights,
)
from tacit.losses import classification
from tacit.losses.dispatch import curvatures, shape_of, slopes
from tacit.losses.loss import Code

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


class SimulatedGate:
    """Answers a plan's queries in order from prepared rows (intercept last) and responses."""

    def __init__(self, plan: Plan, rows: Matrix, response: Vector, generator: np.random.Generator | None) -> None:
        self._schedule = [step for step in plan.steps for _ in range(step.times)]
        self._rows, self._response, self._generator = rows, response, generator
        self._columns = np.column_stack([rows, response])
        self.asked: list[Query] = []

    def ask(self, query: Query) -> Answer:
        """Answer the next reserved step; without a generator there is hardly any noise."""
        step = self._schedule[len(self.asked)]
        if KIND_OF[type(query)] is not step.kind or step.price is None:
            raise AssertionError(f"{step.kind} was reserved.")
        if getattr(query, "size", 1) != step.size:
            raise AssertionError("Another number of counts was reserved.")
        self.asked.append(query)
        unit = 2.0**step.price.bits / step.price.bound
        if self._generator is None:
            unit *= 1e-9
        match query:
            case ColumnCounts():
                values = self._columns[:, list(query.columns)]
                inside = (query.lower < values) & (values <= query.upper)
                return self._noised(inside.sum(axis=0).astype(float), unit)
            case ResidualSize():
                return self._noised(np.array([self._residuals(query)]), unit)
            case GradientNorm():
                return self._noised(np.array([self._norms(query)]), unit)
            case GradientSum():
                return self._noised(self._gradient(query), unit * query.clip)
            case SecondMoments():
                return self._symmetric(self._moments(query), unit * query.row_bound**2)
            case CurvatureAndScore():
                joint = math.sqrt(query.joint)
                return self._symmetric(self._pair(query), unit * query.row_bound**2 * joint)
        raise AssertionError("Such queries are not simulated.")

    def _mapped(self, matrix: Matrix | None) -> Matrix:
        return self._rows if matrix is None else self._rows @ matrix

    def _derivatives(
        self, query: GradientSum | GradientNorm | SecondMoments | CurvatureAndScore, z: Matrix
    ) -> tuple[Vector, Vector]:
        """Slopes and curvatures; those of two losses are written out once more."""
        margin = z @ np.asarray(query.theta, dtype=np.float64)
        if query.loss.code is Code.LOGISTIC:
            probability = classification.logistic_probability(margin)
            return probability - self._response, probability * (1 - probability)
        if query.loss.code is not Code.SMOOTH_HUBER:
            found = np.empty((2, len(margin)))
            for fill, out in zip((slopes, curvatures), found, strict=True):
                fill(int(query.loss.code), shape_of(query.loss), margin, self._response, out)
            return found[0], found[1]
        threshold = query.loss.shape[0]
        ratio = (margin - self._response) / threshold
        root = np.sqrt(1 + 4 * ratio**2)
        return threshold * 2 * ratio / (1 + root), 2 / (root * (1 + root))

    def _gradient(self, query: GradientSum) -> Vector:
        z = self._mapped(query.matrix)
        slope, _ = self._derivatives(query, z)
        norm = lengths_of(z)
        weight = np.ones(len(z))
        if query.downweighted:
            weight = np.minimum(1.0, (query.clip / query.loss.lipschitz / norm) ** 2)
        elif query.balanced:
            larger = np.maximum(np.abs(slope), 1 - np.abs(slope))
            weight = np.minimum(1.0, query.clip / (norm * larger))
        length = np.abs(slope) * weight * norm
        weight = weight * np.minimum(1.0, query.clip / np.maximum(length, 1e-300))
        return np.asarray(z.T @ (slope * weight))

    def _norms(self, query: GradientNorm) -> float:
        z = self._mapped(query.matrix)
        norm = lengths_of(z)
        weight = np.minimum(1.0, (query.row_bound / norm) ** 2)
        place = np.abs(self._derivatives(query, z)[0]) * weight * norm - query.start
        if query.measure is Measure.WITHIN:
            return float(((place > 0) & (place <= query.cap)).sum())
        return float(np.clip(place / query.cap, 0.0, 1.0).sum())

    def _moments(self, query: SecondMoments) -> Matrix:
        z = self._mapped(query.matrix)
        weight = np.minimum(1.0, (query.row_bound / lengths_of(z)) ** 2)
        if query.weights is Weights.CURVATURE:
            weight = weight * self._derivatives(query, z)[1] / query.loss.smoothness
        return np.asarray((z.T * weight) @ z)

    def _pair(self, query: CurvatureAndScore) -> Matrix:
        z, loss = self._mapped(query.matrix), query.loss
        slope, bend = self._derivatives(query, z)
        weight = np.minimum(1.0, (query.row_bound / lengths_of(z)) ** 2)
        score = weight * slope / loss.lipschitz
        if query.score_share is not None:
            length = np.abs(score) * lengths_of(z) / query.row_bound
            bend = np.where(length > 1.0, 0.0, bend)
            score = math.sqrt(query.score_share) * score / np.maximum(length, 1.0)
        bread = (z.T * (weight * bend / loss.smoothness)) @ z
        return np.stack([bread, (z.T * score**2) @ z])

    def _residuals(self, query: ResidualSize) -> float:
        margin = np.clip(self._mapped(query.matrix) @ query.theta, query.lowest, query.highest)
        prediction = np.exp(margin) if query.exponential else margin
        gap = self._response - prediction
        shares = {
            Measure.SIZE: np.abs(gap) / query.cap,
            Measure.WITHIN: (gap > query.start) & (gap <= query.start + query.cap),
            Measure.SHARE: (gap - query.start) / query.cap,
            Measure.DISPERSION: gap**2 / (np.maximum(1.0, prediction) * query.cap),
            Measure.TILT: 0.5 + gap * (prediction - query.start) / (2 * query.cap),
            Measure.SQUARE: (gap / query.cap) ** 2,
        }[query.measure]
        return float(np.clip(shares, 0.0, 1.0).sum())

    def _noised(self, value: Vector, scale: float) -> Answer:
        if self._generator is None:
            return Answer(value, scale)
        return Answer(value + scale * self._generator.standard_normal(value.shape), scale)

    def _symmetric(self, value: Matrix, scale: float) -> Answer:
        if self._generator is None:
            return Answer(value, scale)
        noise = self._generator.standard_normal(value.shape)
        return Answer(value + scale / 2 * (noise + np.swapaxes(noise, -1, -2)), scale)


def lengths_of(rows: Matrix) -> Vector:
    """Norms of rows; those of zeros are positive, and divide."""
    return np.asarray(np.maximum(np.linalg.norm(rows, axis=1), 1e-150))
