"""The one Newton step: what it leaves out is bounded, and told where it may matter."""

import math

import numpy as np
import pytest
from scipy import special

from tacit import LogisticRegression
from tacit.inference.results import Results
from tacit.solvers.one_step import step_error


@pytest.mark.parametrize("length", [0.05, 0.3, 1.0])
def test_the_bound_holds_for_a_newton_step(length: float) -> None:
    """From a pilot off by some length, rare ones: the error left, against its bound."""
    rng = np.random.default_rng(0)
    Z = np.column_stack([np.ones(20_000), rng.standard_normal((20_000, 2))])
    truth = np.array([-2.5, 0.8, -0.6])
    mean = special.expit(Z @ truth)
    direction = np.array([0.2, 0.9, -0.4])
    pilot = truth - length * direction / np.linalg.norm(direction)
    p = special.expit(Z @ pilot)
    # Without sampling error: responses are their means, and the truth is the minimum.
    curvature = (Z * (p * (1 - p))[:, None]).T @ Z / len(Z)
    step = np.linalg.solve(curvature, Z.T @ (p - mean) / len(Z))
    left = pilot - step - truth
    variance = curvature / len(Z)
    size = math.sqrt(left @ curvature @ left) * math.sqrt(len(Z))
    bound = step_error(step, curvature, variance)
    assert size < bound < 60 * size


def test_no_variance_and_no_curvature_are_no_crash() -> None:
    assert step_error(np.ones(2), np.zeros((2, 2)), np.zeros((2, 2))) == 0.0
    assert step_error(np.ones(2), np.eye(2), -np.eye(2)) > 1e100


def test_a_pilot_that_has_not_arrived_is_told() -> None:
    """One step of descent towards a strong signal; the default pilot arrives."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((20_000, 3))
    y = rng.random(20_000) < special.expit(X @ [3.0, -3.0, 1.0])
    said = {}
    for iterations in (1, None):
        model = LogisticRegression(
            epsilon=4.0, bounds=(-6, 6), inference=True, iterations=iterations, random_state=0
        )
        said[iterations] = Results(model.fit(X, y).release_).judgement
    assert said[1].statement == "conservative"
    assert any("leaves out" in reason for reason in said[1].reasons)
    assert said[None].statement == "nominal"
