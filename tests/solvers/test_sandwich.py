"""Matrices of the sandwich: scales, lifting, and what a shifted score does to coefficients."""

from dataclasses import dataclass

import numpy as np
import pytest

from tacit import LogisticRegression
from tacit.contract.query import Answer, CurvatureAndScore, Query
from tacit.losses import classification
from tacit.solvers.coordinates import Coordinates
from tacit.solvers.interval_rules import NEWTON
from tacit.solvers.sandwich import ask_sandwich, coefficient_errors

PLAN = LogisticRegression(epsilon=1.0, bounds=(-2, 2), inference=True).plan(n=500, d=1)
MATRIX = np.array([[2.0, 0.5], [0.0, 1.0]])
"""User coefficients of a working one: the design's map first, then this."""


@dataclass
class OneAnswer:
    """Answers one query with given matrices."""

    value: np.ndarray
    noise: float
    asked: Query | None = None

    def ask(self, query: Query) -> Answer:
        self.asked = query
        return Answer(self.value, self.noise)


def test_matrices_are_means_over_the_declared_records_in_units_of_the_loss() -> None:
    gate = OneAnswer(np.stack([500 * np.eye(2), 500 * np.diag([2.0, 3.0])]), 5.0)
    theta, loss = np.array([0.1, 0.2]), classification.LOGISTIC
    found = ask_sandwich(gate, PLAN, Coordinates(MATRIX, 2.0), theta, 1.5, loss)
    assert isinstance(gate.asked, CurvatureAndScore)
    assert (gate.asked.theta is theta, gate.asked.row_bound) == (True, 1.5)
    assert found.curvature.tolist() == (np.eye(2) / 4).tolist()
    assert found.score.tolist() == np.diag([2.0, 3.0]).tolist()
    assert (found.curvature_noise, found.score_noise) == (0.01 / 4, 0.01)
    assert found.to_user.tolist() == (PLAN.design.to_user() @ MATRIX).tolist()
    assert not found.lifted


def test_a_curvature_below_its_noise_is_lifted() -> None:
    gate = OneAnswer(np.zeros((2, 2, 2)), 50.0)
    found = ask_sandwich(gate, PLAN, Coordinates(None, 2.0), np.zeros(2), 1.5, classification.LOGISTIC)
    assert found.lifted
    assert np.linalg.eigvalsh(found.curvature) == pytest.approx(2 * [NEWTON.lifted * 0.1 / 4])
    assert found.to_user.tolist() == PLAN.design.to_user().tolist()


def test_a_shift_of_the_score_moves_coefficients_by_the_inverse_curvature() -> None:
    gate = OneAnswer(np.stack([500 * np.diag([4.0, 8.0]), np.eye(2)]), 0.0)
    coordinates = Coordinates(MATRIX, 2.0)
    asked = ask_sandwich(gate, PLAN, coordinates, np.zeros(2), 1.5, classification.LOGISTIC)
    row = np.array([0.3, 1.0])
    by_hand = PLAN.design.to_user() @ MATRIX @ (0.7 * (MATRIX.T @ row) / [1.0, 2.0])
    assert coefficient_errors(PLAN, coordinates, asked, 0.7, row) == pytest.approx(by_hand)
