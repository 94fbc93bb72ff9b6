"""Populations with several classes and the family "multinomial"."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.coverage.plain_classes import chances
from benchmarks.coverage.population import (
    INTERCEPT,
    RESPONSE,
    Draw,
    Generator,
    Matrix,
    Population,
    feature_terms,
    features,
    levels_of,
    normal,
    numeric,
)

EVEN = ((0.1, 0.8, -0.5, 0.0), (0.0, -0.4, 0.6, 0.5), (-0.1, -0.4, -0.1, -0.5))
RARE = ((1.1, 0.6, -0.3, 0.2), (0.7, -0.3, 0.4, 0.1), (-1.4, -0.3, -0.1, -0.3))
"""The last class has 5% of the records."""
FIVE = ((0.3, 0.7, 0.0), (0.1, -0.5, 0.4), (0.0, 0.3, -0.6), (-0.1, -0.5, -0.2), (-0.3, 0.0, 0.4))


def _population(
    name: str, about: str, width: int, classes: int, law: Callable[[Matrix], Matrix], truth: Matrix | None
) -> Population:
    labels, terms = tuple(map(str, range(classes))), feature_terms(width - 1)

    def sample(n: int, generator: Generator) -> Draw:
        X = normal(n, width - 1, generator)
        shares = law(X)
        drawn = (shares.cumsum(axis=1) < generator.random((n, 1))).sum(axis=1)
        return Draw({**features(X), RESPONSE: np.array(labels)[np.minimum(drawn, classes - 1)]}, shares)

    columns = {**{term.text: numeric(-10, 10) for term in terms}, RESPONSE: levels_of(labels)}
    names = [f"{label}: {one}" for label in labels for one in (INTERCEPT, *(term.text for term in terms))]
    known = None if truth is None else dict(zip(names, truth.ravel().tolist(), strict=True))
    nulls = tuple(name for name, value in (known or {}).items() if value == 0.0 and INTERCEPT not in name)
    return Population(name, about, "multinomial", terms, columns, sample, known, nulls, classes=labels)


def _right(name: str, about: str, rows: Sequence[Sequence[float]]) -> Population:
    theta = np.array(rows)
    theta = theta - theta.mean(axis=0)
    theta[np.abs(theta) < 1e-12] = 0.0
    return _population(
        name, about, theta.shape[1], len(theta), lambda X: chances(np.column_stack([np.ones(len(X)), X]), theta), theta
    )


def _curved(X: Matrix) -> Matrix:
    """Log odds with squares and a product, which the model does not have."""
    x, y = X[:, 0], X[:, 1]
    margins = np.column_stack([0.8 * x - 0.4 * y, -0.4 * x + 0.6 * y + 0.4 * x**2 - 0.4, 0.5 * np.tanh(2 * x * y)])
    return chances(margins, np.eye(3))


def populations() -> list[Population]:
    """All of them."""
    return [
        _right("multi3", "three classes of about the same size", EVEN),
        _right("multi3_rare", "three classes, one with 5% of the records", RARE),
        _right("multi5", "five classes", FIVE),
        _population("multi3_wrong", "three classes, log odds that are curved", 3, 3, _curved, None),
    ]
