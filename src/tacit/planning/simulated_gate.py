"""A gate over public rows in float arithmetic: the plan's noise without the cost of exactness.

It answers as the mechanisms do, up to the rounding of integers, and draws the noise of the plan's
prices from numpy. A fit of a thousand records takes milliseconds, so that ten thousand can be run.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.contract.accuracy_of_minimum import minimum_accuracy, minimum_step
from tacit.contract.batches import BatchPrice
from tacit.contract.column_query import ColumnMoments
from tacit.contract.plan import Plan
from tacit.contract.query import (
    KIND_OF,
    Answer,
    BatchGradientSum,
    CurvatureAndScore,
    GradientSum,
    NoisyMinimum,
    PerturbedMinimum,
    Query,
    SecondMoments,
)
from tacit.contract.sensitivity import AnyPrice, GammaPrice, LaplacePrice, MinimumPrice, Price, PurePrice, ridge_of
from tacit.errors import SettingError
from tacit.losses.loss import Code
from tacit.planning.row_sums import Matrix, RowSums, Sum, Vector

NEWTON_STEPS, HALVINGS = 60, 30
"""Of a perturbed minimum; the objective has a ridge, so a few steps are enough."""


class SimulatedGate:
    """Answers a plan's queries in order from prepared rows (intercept last) and responses.

    With `records` the rows stand for so many records: sums are multiplied by records / rows, the noise is not.
    """

    def __init__(
        self,
        plan: Plan,
        rows: Matrix,
        response: Vector,
        generator: np.random.Generator | None,
        records: float | None = None,
        offset: float | Vector = 0.0,
    ) -> None:
        self._plan = plan
        self._schedule = [step for step in plan.steps for _ in range(step.times)]
        self.sums = RowSums.standing_for(len(rows) if records is None else records, rows, response, offset)
        self._generator = generator
        self.asked: list[Query] = []

    def ask(self, query: Query) -> Answer:
        """Answer the next reserved step; without a generator there is hardly any noise."""
        step = self._schedule[len(self.asked)]
        if KIND_OF[type(query)] is not step.kind or step.price is None:
            raise AssertionError(f"{step.kind} was reserved.")
        if getattr(query, "size", 1) != step.size:
            raise AssertionError("Another number of counts was reserved.")
        self.asked.append(query)
        return self._answer(query, step.price)

    def _answer(self, query: Query, price: AnyPrice) -> Answer:
        unit = 2.0**price.bits / price.bound * getattr(query, "every", 1)
        if self._generator is None:
            unit *= 1e-9
        match query:
            case BatchGradientSum():
                return self._batch(query, price, unit)
            case GradientSum() | ColumnMoments():
                return self._noised(self.sums.total(query), unit * query.clip, price)
            case SecondMoments():
                return self._symmetric(self.sums.total(query), unit * query.row_bound**2)
            case CurvatureAndScore():
                joint = math.sqrt(query.joint)
                return self._symmetric(self.sums.total(query), unit * query.row_bound**2 * joint)
        if isinstance(query, Sum):
            return self._noised(self.sums.total(query), unit, price)
        return self._minimum(query, price, unit)

    def _minimum(self, query: Query, price: AnyPrice, unit: float) -> Answer:
        """Minimum of a perturbed objective, or with noise on it."""
        width, classes = self.sums.rows.shape[1], getattr(query, "classes", 1)
        if isinstance(query, PerturbedMinimum) and isinstance(price, MinimumPrice | PurePrice):
            scale = query.clip * query.loss.lipschitz * unit
            linear = self._draw((width, classes), scale, price)
            return Answer(minimum(self.sums, query, ridge_of(price, query.clip, query.loss), linear), scale)
        if not isinstance(query, NoisyMinimum) or not isinstance(price, Price | GammaPrice):
            raise SettingError(f'solver="{self._plan.solver.name}" is not simulated: plan another, or use its bound.')
        accuracy = minimum_accuracy(query, records=self._plan.records, width=width)
        scale = float(minimum_step(query, price, accuracy, width=width)) * price.bound * unit
        found = minimum(self.sums, query, query.ridge, np.zeros((width, classes)))
        return Answer(found + self._draw((width, classes), scale, price).reshape(found.shape), scale)

    def _batch(self, query: BatchGradientSum, price: AnyPrice, unit: float) -> Answer:
        """Sum over a fresh batch of the rows, over its rate; each row is drawn for all records it stands for."""
        assert isinstance(price, BatchPrice)  # noqa: S101 - by the step's kind
        rate, whole = float(price.batches.rate), self.sums
        if self._generator is not None:
            drawn = self._generator.poisson(rate * float(np.mean(whole.weight)), len(whole.rows))
            whole = replace(whole, weight=drawn / rate)
        plain = GradientSum(query.theta, query.clip, query.matrix, query.downweighted, query.loss, query.balanced)
        return self._noised(whole.total(plain), unit * query.clip / rate, price)

    def _draw(self, shape: tuple[int, ...], scale: float, price: AnyPrice) -> NDArray[np.float64]:
        """Noise of a price's law in units of its scale."""
        if self._generator is None:
            return np.zeros(shape)
        if isinstance(price, LaplacePrice):
            return np.asarray(self._generator.laplace(0.0, scale, shape))
        normal = self._generator.standard_normal(shape)
        if isinstance(price, GammaPrice | PurePrice):
            # Density ∝ exp(-‖b‖ / scale): a direction, and a Gamma length.
            length = self._generator.gamma(normal.size)
            return np.asarray(scale * length * normal / np.linalg.norm(normal))
        return np.asarray(scale * normal)

    def _noised(self, value: NDArray[np.float64], scale: float, price: AnyPrice) -> Answer:
        return Answer(value + self._draw(value.shape, scale, price), scale)

    def _symmetric(self, value: Matrix, scale: float) -> Answer:
        if self._generator is None:
            return Answer(value, scale)
        noise = self._generator.standard_normal(value.shape)
        return Answer(value + scale / 2 * (noise + np.swapaxes(noise, -1, -2)), scale)


class ExactGate:
    """Answers any sum over public rows without noise: for the fit without privacy, and for excess losses."""

    def __init__(self, sums: RowSums) -> None:
        self.sums = sums

    def ask(self, query: Query) -> Answer:
        """Answer without noise."""
        if not isinstance(query, Sum):
            raise SettingError("Only sums are answered without noise.")
        return Answer(self.sums.total(query), 0.0)


def minimum(sums: RowSums, query: PerturbedMinimum | NoisyMinimum, ridge: float, linear: Matrix) -> Vector:
    """Minimise Σ w loss(z·θ, y) + (ridge / 2)‖θ‖² + linear·θ with w = min(1, (clip / ‖z‖)²), by Newton's method."""
    z, norm = sums.mapped(query.matrix)
    weight = np.minimum(1.0, (query.clip / norm) ** 2) * sums.weight
    several = query.loss.code is Code.SOFTMAX
    theta = np.zeros(linear.shape if several else len(linear))
    pull = linear if several else linear[:, 0]

    def gradient(at: Vector) -> Vector:
        slope = sums.derivatives(query.loss, at, z)[0]
        return np.asarray(z.T @ (slope.T * weight).T + ridge * at + pull)

    now = gradient(theta)
    for _ in range(NEWTON_STEPS):
        second = sums.derivatives(query.loss, theta, z)[1]
        # Of classes the bound diag p: a step that is never too long.
        columns = second.T if several else [second]
        solved = [
            np.linalg.solve((z.T * (weight * own)) @ z + ridge * np.eye(z.shape[1]), part)
            for own, part in zip(columns, np.atleast_2d(now.T), strict=True)
        ]
        step = -np.stack(solved, axis=-1) if several else -solved[0]
        length = 1.0
        for _ in range(HALVINGS):
            trial = gradient(theta + length * step)
            if np.sum(trial * step) <= -0.9 * np.sum(now * step):
                break
            length /= 2
        theta, now = theta + length * step, trial
        if np.abs(length * step).max() <= 1e-9 * max(1.0, np.abs(theta).max()):
            break
    return theta
