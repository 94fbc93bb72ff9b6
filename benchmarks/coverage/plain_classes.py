"""Multinomial logistic regression without privacy, in numpy: the reference for several classes.

Coefficients are found for all classes but the first and then centred, so that those of a column add
up to 0 over the classes, as `tacit.glm` reports them.
"""

from __future__ import annotations

import numpy as np

from benchmarks.coverage.plain_fit import NEAR, ROUNDS, PlainFit, scaling
from benchmarks.coverage.population import Matrix, Population


def shares_of(population: Population, response: Matrix) -> Matrix:
    """Indicators of the classes, one column a class."""
    return np.asarray(response[:, None] == np.arange(len(population.classes)), dtype=float)


def chances(Z: Matrix, theta: Matrix) -> Matrix:
    """Probabilities of all classes; theta is (class, width)."""
    margins = Z @ theta.T
    raised = np.exp(margins - margins.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def fit_classes(Z: Matrix, shares: Matrix) -> PlainFit:
    """Estimates with HC0 errors, class after class; `shares` are indicators or expected shares."""
    width, classes = Z.shape[1], shares.shape[1]
    to_user = scaling(Z)
    W, theta = Z @ to_user, np.zeros((classes, width))
    size = (classes - 1) * width
    for _ in range(ROUNDS):
        p = chances(W, theta)
        gradient = ((shares - p).T @ W)[1:].ravel()
        curvature = np.zeros((classes - 1, width, classes - 1, width))
        for k in range(1, classes):
            for m in range(1, classes):
                curvature[k - 1, :, m - 1] = (W * (p[:, k] * ((k == m) - p[:, m]))[:, None]).T @ W
        inverse = np.linalg.inv(curvature.reshape(size, size))
        step = (inverse @ gradient).reshape(classes - 1, width)
        theta[1:] += step
        if np.abs(step).max() < NEAR:
            break
    residuals = (shares - chances(W, theta))[:, 1:]
    scores = (residuals[:, :, None] * W[:, None]).reshape(len(Z), size)
    centred = np.kron((np.eye(classes) - 1 / classes)[:, 1:], to_user)
    covariance = centred @ inverse @ (scores.T @ scores) @ inverse @ centred.T
    return PlainFit(centred @ theta[1:].ravel(), np.sqrt(np.maximum(np.diagonal(covariance), 0.0)))
