"""Neighbouring simulated tables: the worst pairs that are known, and random ones. Public data, drawn here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.audit.twin_tables import Pair, Records
from tacit.privacy.relation import Relation

FAR = 800.0
"""Coefficient at which the margins of `opposed_rows` are 40: every slope is then at its bound."""
TILT = 0.05
"""Second feature of both opposed rows, with either sign: what a start at FAR tells apart."""
TOP = 4
"""Largest count that is declared."""


class Outcome(StrEnum):
    """Kinds of responses."""

    LABELS = "labels"
    CLASSES = "classes"
    NUMBERS = "numbers"
    COUNTS = "counts"
    NONE = "none"


FACTS: Mapping[Outcome, Mapping[str, Any]] = MappingProxyType(
    {
        Outcome.LABELS: {"classes": (0, 1)},
        Outcome.CLASSES: {"classes": (0, 1, 2)},
        Outcome.NUMBERS: {"y_bounds": (-1.0, 1.0)},
        Outcome.COUNTS: {"y_max": TOP},
        Outcome.NONE: {},
    }
)
"""What is declared of each."""
_ENDS = {Outcome.LABELS: (0, 1), Outcome.CLASSES: (0, 2), Outcome.NUMBERS: (-1.0, 1.0), Outcome.COUNTS: (0, TOP)}


def neighbours(relation: Relation, X: NDArray[np.float64], y: Any, record: Any, response: Any) -> Pair:
    """The table with its first record as it is, and the neighbour with another one, a blank one or none."""
    table = Records(X, y)
    if relation is Relation.ADD_REMOVE:
        return Pair(Records(X[1:], None if y is None else y[1:]), table)
    other, labels = X.copy(), y
    # A record with a missing value is invalid and contributes nothing.
    other[0] = np.nan if relation is Relation.ZERO_OUT else record
    if relation is Relation.REPLACE_ONE and y is not None:
        labels = y.copy()
        labels[0] = response
    return Pair(Records(other, labels), table)


def lone_row(relation: Relation, outcome: Outcome, records: int, columns: int) -> Pair:
    """A record at the corner of the bounds among records at their centre, against its opposite, a blank or none."""
    X = np.zeros((records, columns))
    X[0] = 1.0
    if outcome is Outcome.NONE:
        return neighbours(relation, X, None, -X[0], None)
    low, high = _ENDS[outcome]
    y = np.full(records, low)
    y[1::2] = high
    y[0] = high
    return neighbours(relation, X, y, X[0], low)


def sole_row(relation: Relation, outcome: Outcome, records: int, columns: int) -> Pair:
    """A record at the corner among invalid ones, which contribute nothing: no other record holds a minimum back."""
    return _without_others(lone_row(relation, outcome, records, columns), records)


def sole_level(relation: Relation, outcome: Outcome, records: int, columns: int) -> Pair:
    """A record at the centre of the bounds among invalid ones: its response alone decides the constant."""
    pair = sole_row(relation, outcome, records, columns)
    for table in (pair.first, pair.second):
        table.X[0] *= 0.0
    return pair


def sole_opposed_row(relation: Relation, outcome: Outcome, records: int, columns: int) -> Pair:
    """The first of `opposed_rows` among invalid ones: which of the others a batch holds makes no difference."""
    return _without_others(opposed_rows(relation, outcome, records, columns), records)


def _without_others(pair: Pair, records: int) -> Pair:
    pair.first.X[len(pair.first.X) - records + 1 :] = np.nan
    pair.second.X[1:] = np.nan
    return pair


def level_rows(relation: Relation, outcome: Outcome, records: int, columns: int) -> Pair:
    """A record at the corner, with the highest label, among records at ±√½ of either label.

    Columns and their squares are then in the middle of their intervals, but those of the first record.
    """
    low, high = _ENDS[outcome]
    places = np.arange(records)
    X = np.repeat(np.where(places // 2 % 2 == 0, 1.0, -1.0)[:, None] * math.sqrt(0.5), columns, axis=1)
    y = np.where(places % 2 == 0, low, high)
    X[0], y[0] = 1.0, high
    return neighbours(relation, X, y, -X[0], low)


def contrary_row(relation: Relation, outcome: Outcome, records: int, columns: int) -> Pair:
    """A record at the corner whose response contradicts those of all others, against its opposite, a blank or none.

    The responses of the others fall with the first column, so a fit gives this record a slope near its bound.
    """
    places = np.arange(records)
    # Columns of signs with periods 2, 4, 8, …: none is a combination of the others.
    X = np.array([1.0 - 2.0 * (places >> min(j, 30) & 1) for j in range(columns)]).T
    low, high = _ENDS[outcome]
    y = np.where(X[:, 0] > 0, low, high)
    X[0], y[0] = 1.0, high
    return neighbours(relation, X, y, X[0], low)


def opposed_rows(relation: Relation, outcome: Outcome, records: int, columns: int) -> Pair:
    """Two rows that are almost the same, with gradients that point away from each other.

    Their second features differ in sign. From a start of (0, FAR) the margins are 40 and -40, and the responses are at
    the wrong ends: the slopes are at their bounds, with either sign.
    """
    low, high = _ENDS[outcome]
    X = np.zeros((records, columns))
    X[0, :2] = math.sqrt(1 - TILT**2), -TILT
    y = np.full(records, low)
    y[1::2] = high
    y[0] = high
    return neighbours(relation, X, y, X[0] * np.where(np.arange(columns) == 1, -1.0, 1.0), low)


def overshot_row(relation: Relation, outcome: Outcome, records: int, columns: int) -> Pair:
    """A row whose margin is 40 from a start of (0, FAR), with the lowest response: for slopes steeper above."""
    low, _ = _ENDS[outcome]
    X = np.zeros((records, columns))
    X[0, :2] = math.sqrt(1 - TILT**2), TILT
    return neighbours(relation, X, np.full(records, low), -X[0], low)


MakePair = Callable[[Relation, Outcome, int, int], Pair]


def random_pair(rng: np.random.Generator, relation: Relation, outcome: Outcome, records: int, columns: int) -> Pair:
    """Records of some law, and a first one that is far out, within the bounds or beyond them."""
    X = rng.normal(size=(records, columns)) * rng.choice([0.01, 0.3, 1.0, 3.0], size=columns)
    if rng.random() < 0.3:
        X = np.sign(X)
    if rng.random() < 0.2:
        X[1:] = 0.0
    rows = rng.choice([-1.0, 1.0, 0.0, 1e6], p=[0.4, 0.4, 0.1, 0.1], size=(2, columns))
    X[0] = rows[0]
    if outcome is Outcome.NONE:
        return neighbours(relation, X, None, rows[1], None)
    low, high = _ENDS[outcome]
    margins = X[:, 0] * rng.choice([-5.0, 0.0, 5.0])
    if outcome is Outcome.NUMBERS:
        y = np.clip(np.tanh(margins) + 0.3 * rng.normal(size=records), low, high)
    else:
        y = np.clip(np.rint((high - low) * (0.5 + np.tanh(margins) / 2) + rng.normal(size=records)), low, high)
        y = y.astype(np.int64)
    y[0] = high
    return neighbours(relation, X, y, rows[1], low if rng.random() < 0.7 else high)
