"""The sums that queries ask for, over public rows in float arithmetic: what a table like these rows would answer.

A row stands for `weight` records, so a few thousand rows answer for any number of records.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from tacit.contract.column_query import ColumnMoments
from tacit.contract.query import (
    ColumnCounts,
    CurvatureAndScore,
    GradientNorm,
    GradientSum,
    Measure,
    ResidualSize,
    SecondMoments,
    Weights,
)
from tacit.losses import classification
from tacit.losses.dispatch import curvatures, shape_of, slopes
from tacit.losses.loss import Code, Loss

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
_PLAIN: Matrix = np.empty((0, 0))
Sum = ColumnCounts | ColumnMoments | ResidualSize | GradientNorm | GradientSum | SecondMoments | CurvatureAndScore


@dataclass(frozen=True)
class RowSums:
    """Prepared public rows (intercept last), their responses, and how many records each row stands for."""

    rows: Matrix
    response: Vector
    weight: float | Vector = 1.0
    offset: float | Vector = 0.0
    """Added to every margin, as the offset of a record is."""
    _last: list[tuple[Matrix, Matrix, Vector]] = field(default_factory=list, repr=False, compare=False)
    """The last working coordinates with their rows and norms: steps of a descent ask in the same ones."""

    @classmethod
    def standing_for(cls, records: float, rows: Matrix, response: Vector, offset: float | Vector = 0.0) -> RowSums:
        """Rows that stand for so many records."""
        return cls(rows, response, records / len(rows), offset)

    def total(self, query: Sum) -> NDArray[np.float64]:
        """Sum over the records, without noise."""
        match query:
            case ColumnCounts():
                values = self._columns(query.columns)
                inside = (query.lower < values) & (values <= query.upper)
                return np.asarray((inside * np.reshape(self.weight, (-1, 1))).sum(axis=0), float)
            case ResidualSize():
                return np.array([np.sum(self.weight * self._residuals(query))])
            case GradientNorm():
                return np.array([np.sum(self.weight * self._norms(query))])
            case GradientSum():
                return self._gradient(query)
            case SecondMoments() | ColumnMoments():
                return self._moments(query) if isinstance(query, SecondMoments) else self._column_moments(query)
        return self._pair(query)

    def derivatives(self, loss: Loss, theta: Vector, z: Matrix) -> tuple[Vector, Vector]:
        """Slopes and curvatures of mapped rows; those of classes are p - e_y and p, a column a class."""
        margin = z @ np.asarray(theta, dtype=np.float64)
        if loss.code is Code.SOFTMAX:
            margin = np.exp(margin - margin.max(axis=1, keepdims=True))
            chance = margin / margin.sum(axis=1, keepdims=True)
            return chance - (self.response[:, None] == np.arange(chance.shape[1])), chance
        margin = margin + self.offset
        if loss.code is Code.LOGISTIC:
            probability = classification.logistic_probability(margin)
            return probability - self.response, probability * (1 - probability)
        if loss.code is not Code.SMOOTH_HUBER:
            found = np.empty((2, len(margin)))
            for fill, out in zip((slopes, curvatures), found, strict=True):
                fill(int(loss.code), shape_of(loss), margin, self.response, out)
            return found[0], found[1]
        threshold = loss.shape[0]
        ratio = (margin - self.response) / threshold
        root = np.sqrt(1 + 4 * ratio**2)
        return threshold * 2 * ratio / (1 + root), 2 / (root * (1 + root))

    def mapped(self, matrix: Matrix | None) -> tuple[Matrix, Vector]:
        """Rows in working coordinates, and their norms."""
        key = _PLAIN if matrix is None else matrix
        if not self._last or self._last[0][0] is not key:
            z = self.rows if matrix is None else self.rows @ matrix
            self._last[:] = [(key, z, lengths_of(z))]
        return self._last[0][1:]

    def _columns(self, columns: tuple[int, ...]) -> Matrix:
        width = self.rows.shape[1]
        return np.column_stack([self.response if j == width else self.rows[:, j] for j in columns])

    def _gradient(self, query: GradientSum) -> Vector:
        z, norm = self.mapped(query.matrix)
        slope, second = self.derivatives(query.loss, query.theta, z)
        size = sizes_of(slope)
        weight = np.ones(len(z))
        if query.downweighted and query.shortened:
            weight = shortened_weights(norm, second, query.clip / query.loss.lipschitz, query.loss)
        elif query.downweighted:
            weight = np.minimum(1.0, (query.clip / query.loss.lipschitz / norm) ** 2)
        elif query.balanced:
            larger = np.maximum(size, 1 - size)
            weight = np.minimum(1.0, query.clip / (norm * larger))
        weight = weight * np.minimum(1.0, query.clip / np.maximum(size * weight * norm, 1e-300)) * self.weight
        return np.asarray(z.T @ (slope.T * weight).T)

    def _norms(self, query: GradientNorm) -> Vector:
        z, norm = self.mapped(query.matrix)
        shrunk = np.minimum(1.0, query.row_bound / norm)
        size = sizes_of(self.derivatives(query.loss, query.theta, z)[0])
        place = size * (shrunk if query.shortened else shrunk**2) * norm - query.start
        if query.measure is Measure.WITHIN:
            return np.asarray((place > 0) & (place <= query.cap), float)
        return np.asarray(np.clip(place / query.cap, 0.0, 1.0))

    def _moments(self, query: SecondMoments) -> Matrix:
        z, norm = self.mapped(query.matrix)
        shrunk = np.minimum(1.0, (query.row_bound / norm) ** 2)
        weight = shrunk * self.weight
        if query.theta is not None:
            slope, second = self.derivatives(query.loss, query.theta, z)
            if query.weights is Weights.CURVATURE:
                weight = weight * second / query.loss.smoothness
            else:
                weight = weight * shrunk * (slope / query.loss.lipschitz) ** 2
        return np.asarray((z.T * weight) @ z)

    def _column_moments(self, query: ColumnMoments) -> Matrix:
        z = self.rows * query.scale + self.rows[:, -1:] * query.shift
        both = np.column_stack([z, z**2])
        weight = self.weight * np.minimum(1.0, query.clip / lengths_of(both))
        return np.asarray((both.T * weight).sum(axis=1).reshape(2, -1))

    def _pair(self, query: CurvatureAndScore) -> Matrix:
        (z, norm), loss = self.mapped(query.matrix), query.loss
        slope, second = self.derivatives(loss, query.theta, z)
        weight = np.minimum(1.0, (query.row_bound / norm) ** 2)
        if query.shortened:
            weight = shortened_weights(norm, second, query.row_bound, loss)
        if slope.ndim > 1:
            return self._class_pair(z, slope, second, weight)
        score = weight * slope / loss.lipschitz
        if query.score_share is not None:
            length = np.abs(score) * norm / query.row_bound
            second = np.where(length > 1.0, 0.0, second)
            score = math.sqrt(query.score_share) * score / np.maximum(length, 1.0)
        bread = (z.T * (self.weight * weight * second / loss.smoothness)) @ z
        return np.stack([bread, (z.T * (self.weight * score**2)) @ z])

    def _class_pair(self, z: Matrix, slope: Matrix, chance: Matrix, weight: Vector) -> Matrix:
        """(diag p - p p') over ½ and (p - e)(p - e)' over 2, ⊗ z z', class after class."""
        width, classes = z.shape[1], chance.shape[1]
        found = np.empty((2, classes, width, classes, width))
        for a in range(classes):
            for b in range(classes):
                second = chance[:, a] * ((a == b) - chance[:, b]) * 2
                score = slope[:, a] * slope[:, b] / 2
                found[0, a, :, b] = (z.T * (self.weight * weight * second)) @ z
                found[1, a, :, b] = (z.T * (self.weight * weight**2 * score)) @ z
        return found.reshape(2, classes * width, classes * width)

    def _residuals(self, query: ResidualSize) -> Vector:
        margin = np.clip(self.mapped(query.matrix)[0] @ query.theta + self.offset, query.lowest, query.highest)
        prediction = np.exp(margin) if query.exponential else margin
        gap = self.response - prediction
        shares = {
            Measure.SIZE: np.abs(gap) / query.cap,
            Measure.WITHIN: (gap > query.start) & (gap <= query.start + query.cap),
            Measure.SHARE: (gap - query.start) / query.cap,
            Measure.DISPERSION: gap**2 / (np.maximum(1.0, prediction) * query.cap),
            Measure.TILT: 0.5 + gap * (prediction - query.start) / (2 * query.cap),
            Measure.SQUARE: (gap / query.cap) ** 2,
            Measure.LABEL_TILT: 0.5 + self._label_tilts(query, prediction) / (2 * query.cap),
        }[query.measure]
        return np.asarray(np.clip(shares, 0.0, 1.0), float)

    def _label_tilts(self, query: ResidualSize, margin: Vector) -> Vector:
        chance = expit(margin)
        longest = query.cap / np.maximum(chance, 1 - chance)
        return np.asarray((self.response - chance) * np.clip(margin - query.start, -longest, longest))


def shortened_weights(norm: Vector, curvature: Vector, row_bound: float, loss: Loss) -> Vector:
    """Weights of rows that are as large as the bounds on gradient and curvature let them be."""
    flat = loss.smoothness * row_bound**2 / np.maximum(curvature * norm**2, 1e-300)
    return np.asarray(np.minimum(np.minimum(1.0, row_bound / norm), flat))


def lengths_of(rows: Matrix) -> Vector:
    """Norms of rows; those of zeros are positive, and divide."""
    return np.asarray(np.maximum(np.linalg.norm(rows, axis=1), 1e-150))


def sizes_of(slopes: Vector) -> Vector:
    """Absolute slopes, or the norms of those of several classes."""
    return np.abs(slopes) if slopes.ndim == 1 else np.asarray(np.linalg.norm(slopes, axis=1))
