"""Contrasts of several classes: there and back, gradients, matrices, and two classes as log odds."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from tacit.contract.query import Answer
from tacit.losses import classification
from tacit.solvers.predictors import Predictors
from tacit.solvers.pseudo_rows import expected_matrices

WIDTH = 3


def predictors(classes: int) -> Predictors:
    return Predictors.of(cast("Any", SimpleNamespace(design=SimpleNamespace(outputs=classes))))


@pytest.mark.parametrize("classes", [3, 5])
def test_coefficients_come_back_without_what_all_classes_share(classes: int) -> None:
    found, theta = predictors(classes), np.random.default_rng(0).normal(size=(WIDTH, classes))
    assert found.basis is not None
    np.testing.assert_allclose(found.basis.T @ found.basis, np.eye(classes - 1) / 2, atol=1e-15)
    flat = found.flat(theta)
    assert flat.shape == (WIDTH * (classes - 1),)
    centred = theta - theta.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(found.shaped(flat), centred, atol=1e-14)
    A = np.random.default_rng(1).normal(size=(WIDTH, WIDTH))
    np.testing.assert_allclose(found.to_user(A) @ flat, (A @ centred).T.ravel(), atol=1e-13)


def test_gradient_and_matrices_are_those_of_the_vector() -> None:
    found, rng = predictors(3), np.random.default_rng(0)
    theta, rows = rng.normal(size=(WIDTH, 3)), rng.normal(size=(40, WIDTH))

    def loss(flat: Any) -> float:
        margins = rows @ found.shaped(flat)
        return float(np.mean(np.log(np.exp(margins).sum(axis=1)) - margins[:, 0]))

    flat, step = found.flat(theta), 1e-5
    directions = step * np.eye(len(flat))
    slopes = [(loss(flat + e) - loss(flat - e)) / (2 * step) for e in directions]
    residuals = classification.softmax_probability(rows @ theta) - np.eye(3)[0]
    given = found.gradient(Answer(rows.T @ residuals / len(rows), 2.0))
    np.testing.assert_allclose(given.value, slopes, atol=1e-8)
    assert given.noise_scale == pytest.approx(np.sqrt(2.0))
    curvature, score = expected_matrices(rows, theta, classification.SOFTMAX, 1e6)
    np.testing.assert_array_equal(curvature, score)
    bent = [
        [(loss(flat + d + e) - loss(flat + d - e) - loss(flat - d + e) + loss(flat - d - e)) for e in 100 * directions]
        for d in 100 * directions
    ]
    of_vector = found.matrices(Answer(curvature, 1.0))
    np.testing.assert_allclose(of_vector.value, np.array(bent) / (2 * 100 * step) ** 2, atol=1e-5)
    assert of_vector.noise_scale == 0.5
    assert np.linalg.eigvalsh(of_vector.value).max() <= 0.25 * np.linalg.eigvalsh(rows.T @ rows / 40).max()


def test_one_predictor_is_left_alone() -> None:
    found, vector = predictors(1), np.arange(3.0)
    assert found.flat(vector) is found.shaped(vector) is vector
    answer = Answer(vector, 1.0)
    assert found.gradient(answer) is found.matrices(answer) is answer
