"""Small tables that come with scikit-learn, so that the benchmark runs anywhere.

The bounds are those of the measurements, written by hand. These tables have a few hundred rows:
they show what happens when there is little to learn from.
"""

from __future__ import annotations

import numpy as np
from sklearn import datasets

from benchmarks.accuracy.encoding import Encoder
from benchmarks.accuracy.table import Table, split

# Of a cell nucleus: mean, standard error and worst of ten measurements.
NUCLEUS = (
    (0, 40), (0, 50), (0, 250), (0, 3000), (0, 0.3), (0, 0.5), (0, 0.6), (0, 0.3), (0, 0.5),
    (0, 0.2),
    (0, 4), (0, 6), (0, 30), (0, 600), (0, 0.05), (0, 0.2), (0, 0.5), (0, 0.1), (0, 0.1),
    (0, 0.05),
    (0, 50), (0, 60), (0, 300), (0, 5000), (0, 0.4), (0, 1.5), (0, 1.5), (0, 0.4), (0, 1),
    (0, 0.3),
)  # fmt: skip
# Alcohol, malic acid, ash, alcalinity, magnesium, phenols, flavanoids, other phenols,
# proanthocyanins, colour, hue, OD280/OD315, proline.
WINE = (
    (8, 18), (0, 8), (0, 5), (5, 40), (50, 200), (0, 5), (0, 6), (0, 1), (0, 5), (0, 15), (0, 2),
    (0, 5), (0, 2000),
)  # fmt: skip
# Age, sex, body-mass index, blood pressure, six blood serum measurements.
PATIENT = (
    (0, 100), (1, 2), (10, 60), (40, 180), (50, 400), (20, 300), (10, 120), (1, 12), (2, 7),
    (40, 200),
)  # fmt: skip


def encode(X: np.ndarray, bounds: tuple[tuple[float, float], ...]) -> Encoder:
    """All columns as numbers within their bounds."""
    encoder = Encoder()
    for column, (lower, upper) in zip(X.T, bounds, strict=True):
        encoder.number(column, lower, upper)
    return encoder


def breast_cancer() -> Table:
    """Malignant or benign, from 30 measurements."""
    X, y = datasets.load_breast_cancer(return_X_y=True)
    return split("breast_cancer", "classification", "bundled", encode(X, NUCLEUS).rows(), y)


def digits() -> Table:
    """Even or odd digit, from 8 × 8 pixels."""
    X, y = datasets.load_digits(return_X_y=True)
    return split("digits", "classification", "bundled", encode(X, ((0, 16),) * 64).rows(), y % 2 == 0)


def wine() -> Table:
    """The second of three growers, from 13 measurements."""
    X, y = datasets.load_wine(return_X_y=True)
    return split("wine", "classification", "bundled", encode(X, WINE).rows(), y == 1)


def diabetes() -> Table:
    """Progression of the disease after a year, on a scale to 400."""
    X, y = datasets.load_diabetes(return_X_y=True, scaled=False)
    return split("diabetes", "regression", "bundled", encode(X, PATIENT).rows(), y, (0.0, 400.0))
