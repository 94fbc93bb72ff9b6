"""What a perturbed minimum costs at δ = 0: never less than the densities say."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special

from tacit.contract.accuracy_of_minimum import pure_cover_scale
from tacit.contract.query import QueryKind
from tacit.contract.sensitivity import PurePrice, event_of, events_of, pure_rate
from tacit.errors import SettingError
from tacit.privacy.event import Pure
from tacit.privacy.relation import Relation

SPAN = np.linspace(-12.0, 12.0, 601)
GRID = np.stack(np.meshgrid(SPAN, SPAN, indexing="ij"), axis=-1)
BASIS = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]]) / np.sqrt([[2.0], [6.0]])
Record = tuple[float, float]


def log_density(gradient: np.ndarray, hessian: np.ndarray, scale: float) -> np.ndarray:
    """Logarithm of the density of a minimiser on the grid, up to a constant that all tables share."""
    return np.asarray(-np.linalg.norm(gradient, axis=-1) / scale + np.linalg.slogdet(hessian)[1])


def margins(records: list[Record], ridge: float, scale: float, loss: str) -> np.ndarray:
    """For rows of norm 1 at an angle, and a label or a response."""
    gradient, hessian = ridge * GRID, np.broadcast_to(ridge * np.eye(2), (*GRID.shape, 2)).copy()
    for turn, y in records:
        x = np.array([math.cos(turn), math.sin(turn)])
        z = GRID @ x
        slope = special.expit(z) - y if loss == "logistic" else np.clip(z - y, -1.0, 1.0)
        bend = special.expit(z) * special.expit(-z) if loss == "logistic" else (np.abs(z - y) <= 1.0).astype(float)
        gradient = gradient + slope[..., None] * x
        hessian += bend[..., None, None] * np.outer(x, x)
    return log_density(gradient, hessian, scale)


def classes(records: list[Record], ridge: float, scale: float) -> np.ndarray:
    """For one feature and three classes, in the plane of contrasts.

    The norm of the noise is that in all three dimensions; what all classes have in common is 0 here.
    """
    gradient, hessian = ridge * GRID, np.broadcast_to(ridge * np.eye(2), (*GRID.shape, 2)).copy()
    for x, label in records:
        share = special.softmax(x * (GRID @ BASIS), axis=-1)
        gradient = gradient + x * (share - np.eye(3)[int(label)]) @ BASIS.T
        spread = share[..., None] * np.eye(3) - share[..., None] * share[..., None, :]
        hessian += x * x * (BASIS @ spread @ BASIS.T)
    return log_density(gradient, hessian, scale)


def test_densities_of_neighbours_are_within_the_rate() -> None:
    """Logistic and Huber in the plane, softmax of three classes: the largest log ratio on the grid, both relations."""
    ridge, scale = 1.5, 2.0
    closest = 0.0
    for loss, curvature, unit, classes_ in (
        ("logistic", 0.25, 1.0, 1),
        ("huber", 1.0, 1.0, 1),
        ("softmax", 0.5, 2**0.5, 3),
    ):
        changed: list[Record] = [(0.0, 1.0), (1.1, 0.0), (math.pi, 1.0), (2.0, -2.0), (0.0, -2.0)]
        rest: list[Record] = [(0.4, 1.0), (2.2, 0.0)]
        if loss == "softmax":
            changed, rest = [(1.0, 0.0), (-1.0, 0.0), (1.0, 2.0), (-1.0, 1.0)], [(0.8, 1.0), (-0.5, 2.0)]
        elif loss == "logistic":
            changed = [record for record in changed if record[1] >= 0]

        def density(records: list[Record], loss: str = loss) -> np.ndarray:
            return classes(records, ridge, scale) if loss == "softmax" else margins(records, ridge, scale, loss)

        # In units of the gradient's bound: the scale is 2^bits / bound.
        bits = 40
        bound = round(2**bits * unit / scale)
        price = PurePrice(bound, bits, Fraction(curvature) / Fraction(ridge), Fraction(1, 200), classes_)
        zero, replace = (float(pure_rate(price, it)) for it in (Relation.ZERO_OUT, Relation.REPLACE_ONE))
        tables = [density([*rest, record]) for record in changed]
        without = density(rest)
        for one in tables:
            found = float(np.abs(one - without).max())
            assert found <= zero * (1 + 1e-9)
            closest = max(closest, found / zero)
        for one, other in itertools.combinations(tables, 2):
            found = float(np.abs(one - other).max())
            assert found <= replace * (1 + 1e-9)
            closest = max(closest, found / replace)
    # Not vacuous: with half the scale the bound would be passed.
    assert closest > 0.7


def test_both_events_are_pure_and_exact() -> None:
    price = PurePrice(2**49, 50, Fraction(1, 4), Fraction(1, 100))
    first, second = events_of(QueryKind.MINIMUM, price, Relation.REPLACE_ONE)
    assert isinstance(first, Pure)
    assert second == Pure(Fraction(1, 100), "accuracy of the minimum")
    assert float(first.epsilon) == pytest.approx(1 + math.log(1.25))
    assert first.epsilon > 1 + Fraction(math.log1p(0.25))
    assert float(pure_rate(price, Relation.ZERO_OUT)) == pytest.approx(0.5 + math.log(1.25))
    three = PurePrice(2**49, 50, Fraction(1, 4), Fraction(1, 100), 3)
    assert float(pure_rate(three, Relation.ZERO_OUT)) == pytest.approx(0.5 + 2 * math.log1p(0.5 / 3))
    assert pure_cover_scale(three, 12) * price.cover >= Fraction(2**20) * Fraction(math.sqrt(12))
    for kind, relation in ((QueryKind.MINIMUM, Relation.ADD_REMOVE), (QueryKind.GRADIENT, Relation.ZERO_OUT)):
        with pytest.raises(SettingError):
            events_of(kind, price, relation)
    with pytest.raises(SettingError, match="no μ"):
        event_of(QueryKind.MINIMUM, price, Relation.ZERO_OUT)
