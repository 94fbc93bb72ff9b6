"""Squared distance as a margin loss: -z, whose gradient sum is minus the sum of the rows."""

import numpy as np

from tacit.losses import regression
from tests.losses.loss_identities import Case, check_constants, check_derivatives, check_signs

CASE = Case(regression.DISTANCE, lambda z, _: -z, (0.0, 1.0))


def test_identities() -> None:
    check_derivatives(CASE)
    check_constants(CASE)
    check_signs(CASE)


def test_the_gradient_is_that_of_the_distance_at_zero() -> None:
    x, step = np.array([0.3, -2.0, 1.1]), 1e-6

    def distance(theta: np.ndarray) -> float:
        return float(0.5 * np.sum((theta - x) ** 2))

    found = [(distance(step * e) - distance(-step * e)) / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(found, -x, atol=1e-9)
