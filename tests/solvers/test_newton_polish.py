"""Newton steps at the end: to the minimum where curvature is seen, short where noise hides it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit

import tacit
from tacit.contract.plan import Plan
from tacit.contract.query import Answer, GradientSum, Query, SecondMoments, Weights
from tacit.solvers.coordinates import Coordinates
from tacit.solvers.newton_polish import NewtonPolish
from tacit.solvers.noisy_steps import Descent
from tacit.solvers.rules import NEWTON_POLISH
from tacit.solvers.whitened_gradient import Whitening

Vector = NDArray[np.float64]
RECORDS, WIDTH = 4000, 4
DESCENT = Descent(6, 3.0, 0.7, 1.0, "tail")
RULE = NewtonPolish(Whitening(2, 0.6, 2.0), DESCENT, newton_steps=6, ridge=0.6, averaged=2)


class Exact:
    """A gate that answers without noise, and says that noise of some deviation was there."""

    def __init__(self, rows: Vector, y: Vector, noise: float = 1e-3) -> None:
        self.rows, self.y, self.noise = rows, y, noise
        self.asked: list[Query] = []

    def ask(self, query: Query) -> Answer:
        self.asked.append(query)
        if isinstance(query, SecondMoments):
            assert query.theta is not None
            p = expit(self.rows @ query.theta)
            weighted = self.rows * (4 * p * (1 - p))[:, None]
            return Answer(weighted.T @ self.rows, self.noise)
        assert isinstance(query, GradientSum)
        assert query.balanced
        return Answer((expit(self.rows @ query.theta) - self.y) @ self.rows, self.noise)


class Answering:
    """A gate that gives the same answers to whatever is asked."""

    def __init__(self, moments: Vector, gradient: Vector, noise: float) -> None:
        self.moments, self.gradient, self.noise = moments, gradient, noise

    def ask(self, query: Query) -> Answer:
        value = self.moments if isinstance(query, SecondMoments) else self.gradient
        return Answer(value, self.noise)


def plan() -> Plan:
    return tacit.LogisticRegression(epsilon=1.0, bounds=(-1, 1)).plan(RECORDS, WIDTH - 1)


def table(level: float) -> tuple[Vector, Vector]:
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(RECORDS, WIDTH))
    rows[:, -1] = 1.0
    margins = rows @ np.array([1.0, -0.5, 0.2, level])
    return rows, (rng.random(RECORDS) < expit(margins)).astype(float)


COORDINATES = Coordinates(np.eye(WIDTH), float(WIDTH))


@pytest.mark.parametrize("level", [0.0, -4.0])
def test_newton_steps_reach_the_minimum_for_even_and_uneven_labels(level: float) -> None:
    rows, y = table(level)
    start = np.array([0.5, -0.2, 0.0, 0.6 * level])
    gate = Exact(rows, y)
    found = RULE.polish(gate, plan(), COORDINATES, start, 5.0)
    gradient = (expit(rows @ found) - y) @ rows / RECORDS
    before = (expit(rows @ start) - y) @ rows / RECORDS
    assert np.linalg.norm(gradient) < 0.1 * np.linalg.norm(before)


def test_the_curvature_is_asked_for_once_and_before_the_gradients() -> None:
    rows, y = table(0.0)
    gate = Exact(rows, y)
    RULE.polish(gate, plan(), COORDINATES, np.zeros(WIDTH), 5.0)
    first, *others = gate.asked
    assert isinstance(first, SecondMoments)
    assert first.weights is Weights.CURVATURE
    assert [type(query) for query in others] == [GradientSum] * RULE.newton_steps


def test_what_noise_hides_takes_short_steps() -> None:
    rows, y = table(0.0)
    clear = RULE.inverse_curvature(Exact(rows, y), plan(), COORDINATES, np.zeros(WIDTH))
    hidden = RULE.inverse_curvature(Exact(rows, y, 1e6), plan(), COORDINATES, np.zeros(WIDTH))
    assert np.linalg.eigvalsh(clear) == pytest.approx(4.0, rel=0.2)
    assert np.linalg.eigvalsh(hidden).max() < 0.1


def test_no_curvature_at_all_makes_for_the_longest_steps() -> None:
    empty = Answering(np.zeros((WIDTH, WIDTH)), np.zeros(WIDTH), 1e-3)
    steps = RULE.inverse_curvature(empty, plan(), COORDINATES, np.zeros(WIDTH))
    assert np.linalg.eigvalsh(steps) == pytest.approx(NEWTON_POLISH.longest)


@pytest.mark.parametrize("size", [-1e12, 1e-9, 1e12])
def test_no_answer_is_too_wrong(size: float) -> None:
    rng = np.random.default_rng(0)
    noise = size * rng.normal(size=(WIDTH, WIDTH))
    gate = Answering(noise + noise.T, size * rng.normal(size=WIDTH), abs(size))
    found = RULE.polish(gate, plan(), COORDINATES, np.zeros(WIDTH), 5.0)
    assert np.isfinite(found).all()
