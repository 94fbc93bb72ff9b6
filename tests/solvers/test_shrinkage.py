"""Shrinkage: blocks of directions that are mostly noise go, in whatever coordinates."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.solvers.coordinates import Coordinates, triangular
from tacit.solvers.noisy_steps import Descent
from tacit.solvers.shrinkage import shrink

STAGE = Descent(4, 1.0, 0.4, 2.0, "tail")


@pytest.mark.parametrize(
    ("directions", "least"),
    [
        ([[1, 0, 1], [1, 0, 0], [-1, -1, 0]], 1e-14),
        ([[1, 1, 1], [1, 1, -1], [-1, 1, 0]], 1e-12),
        ([[1, 1, 0], [-1, -1, -1], [1, -1, 0]], 1e-12),
    ],
)
def test_t40_no_coordinates_are_too_uneven(directions: list[list[int]], least: float) -> None:
    """Looks may stretch a direction so much that M'M is singular; M is not."""
    turn = np.linalg.qr(np.array(directions, dtype=float))[0]
    matrix, _ = triangular((turn * [1.0, 1.0, least]) @ turn.T)
    coordinates = Coordinates(matrix, 3.0, directions=(turn, np.ones(3)))
    assert np.isfinite(shrink(np.ones(3), coordinates, STAGE, 0.1, 1.0)).all()


def test_directions_of_little_spread_are_shrunk_together() -> None:
    """Rows spread least along what is stretched most: a large coefficient saves no small ones."""
    coordinates = Coordinates(np.diag([1.0, 100.0, 100.0]), 3.0, directions=(np.eye(3), np.ones(3)))
    found = shrink(np.array([1.0, 0.01, 0.01]), coordinates, STAGE, 0.1, 1.0)
    assert found[0] > 0.5
    assert (found[1:] == 0.0).all()
