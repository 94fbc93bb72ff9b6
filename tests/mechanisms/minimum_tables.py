"""Tables on which minima are sought, and their gradients in 60 digits."""

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

from tacit.contract.accuracy_of_minimum import Accuracy
from tacit.contract.query import PerturbedMinimum
from tacit.contract.sensitivity import MinimumPrice, Price, ridge_of
from tacit.mechanisms.certified_minimum import Objective
from tests.rows.memory_stores import memory_store

RNG = np.random.default_rng(23)
WIDTH = 3
CLIP = 1.5
PRICE = MinimumPrice(2**48, 50, Fraction(1, 2), Price(2**10, 12))
QUERY = PerturbedMinimum(CLIP)

Rows = NDArray[np.float64]


def table(rows: int) -> Rows:
    values = RNG.normal(size=(rows, WIDTH + 1))
    values[:, WIDTH] = RNG.random(rows) < 1 / (1 + np.exp(-values[:, 0]))
    return values


def separable() -> Rows:
    values = RNG.uniform(0.1, 3.0, (200, WIDTH + 1))
    values[::2, :WIDTH] *= -1
    values[:, WIDTH] = values[:, 0] > 0
    return values


TABLES: dict[str, Rows] = {
    "usual": table(300),
    "one record": table(1),
    "zeros": np.zeros((40, WIDTH + 1)),
    "separable": separable(),
    "duplicates": np.repeat(table(2), 150, axis=0),
    "far out": table(90) * np.array([1e30, 1e-30, 1.0, 1.0]),
    "far out and usual": np.vstack([table(200), table(20) * np.array([1e6, 1e6, 1e6, 1.0])]),
    "tiny": table(70) * np.array([1e-3, 1e-200, 1e-3, 1.0]),
    "one label": table(100) * np.array([1.0, 1.0, 1.0, 0.0]),
}


def make(
    values: Rows, drawn: list[int], price: MinimumPrice = PRICE, query: PerturbedMinimum = QUERY, **layout: Any
) -> Objective:
    """The objective of a table and integers of noise."""
    store = memory_store(values, **layout)
    accuracy = Accuracy.of(price, query.loss, records=store.length, width=store.width)
    linear = [draw * Fraction(query.clip) * Fraction(query.loss.lipschitz) / price.bound for draw in drawn]
    return Objective(query, store, ridge_of(price, query.clip, query.loss), linear, accuracy)


def exact_gradient(found: Objective, values: Rows, theta: Any) -> list[Any]:
    """The gradient in 60 digits, from the definition; theta class after class."""
    query, width = found.query, found.store.width
    total = [mpmath.mpf(found.ridge) * at for at in theta]
    for j, push in enumerate(found.linear):
        total[j] += mpmath.mpf(push.numerator) / push.denominator
    for row in values:
        z = [mpmath.mpf(float(cell)) for cell in row[:width]]
        norm = sum(cell * cell for cell in z)
        weight = min(mpmath.mpf(1), mpmath.mpf(query.clip) ** 2 / norm) if norm else mpmath.mpf(1)
        margins = [
            sum(cell * at for cell, at in zip(z, theta[k * width : (k + 1) * width], strict=True))
            for k in range(query.classes)
        ]
        for k, slope in enumerate(_slopes(query.loss.name, query.loss.shape, margins, float(row[width]))):
            for j in range(width):
                total[k * width + j] += weight * slope * z[j]
    return total


def _slopes(name: str, shape: tuple[float, ...], margins: list[Any], label: float) -> list[Any]:
    z, first = margins[0], mpmath.mpf(shape[0])
    if name == "softmax":
        largest = max(margins)
        powers = [mpmath.exp(margin - largest) for margin in margins]
        return [power / sum(powers) - (k == label) for k, power in enumerate(powers)]
    if name == "logistic":
        return [1 / (1 + mpmath.exp(-z)) - label]
    if name == "huber":
        return [min(max(z - label, -first), first)]
    if name == "pinball":
        return [min(max((shape[1] + z - label) / (2 * mpmath.mpf(shape[1])), 0), 1) - first]
    sign = 2 * label - 1
    return [-sign * min(max((1 + first - sign * z) / (2 * first), 0), 1)]


def exact_norm(vector: list[Any]) -> Any:
    return mpmath.sqrt(sum(entry * entry for entry in vector))
