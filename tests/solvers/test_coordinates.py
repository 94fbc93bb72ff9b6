"""Turned coordinates: triangular, with all lengths of before."""

from __future__ import annotations

import numpy as np

from tacit.solvers.coordinates import triangular


def test_a_turn_keeps_lengths_and_makes_the_matrix_triangular() -> None:
    rng = np.random.default_rng(3)
    for width in (1, 2, 7):
        matrix = rng.normal(size=(width, width))
        lower, turn = triangular(matrix)
        np.testing.assert_array_equal(lower, np.tril(lower))
        np.testing.assert_allclose(lower, matrix @ turn, atol=1e-12)
        np.testing.assert_allclose(turn.T @ turn, np.eye(width), atol=1e-12)
        row = rng.normal(size=width)
        assert np.isclose(np.linalg.norm(lower.T @ row), np.linalg.norm(matrix.T @ row))


def test_singular_coordinates_are_turned_too() -> None:
    lower, turn = triangular(np.zeros((3, 3)))
    assert np.isfinite(lower).all()
    np.testing.assert_allclose(turn.T @ turn, np.eye(3), atol=1e-12)
