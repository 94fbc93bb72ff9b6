"""Spellings of bounds: each has one reading, and what has two is refused."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.design.declared_bounds import bound_vectors
from tacit.errors import BoundsError

NAMES = ("age", "bmi", "dose")
LOWER, UPPER = [0.0, 10.0, -1.0], [110.0, 60.0, 1.0]


@pytest.mark.parametrize(
    "bounds",
    [
        list(zip(LOWER, UPPER, strict=True)),
        np.column_stack([LOWER, UPPER]),
        dict(zip(NAMES[::-1], zip(LOWER[::-1], UPPER[::-1], strict=True), strict=True)),
        (LOWER, UPPER),
        np.array([LOWER, UPPER]),
    ],
)
def test_the_spellings_of_three_columns_agree(bounds: Any) -> None:
    lower, upper = bound_vectors(bounds, NAMES)
    assert (lower.tolist(), upper.tolist()) == (LOWER, UPPER)


def test_two_numbers_are_for_all_columns() -> None:
    lower, upper = bound_vectors((0, [1, 2, 3]), NAMES)
    assert (lower.tolist(), upper.tolist()) == ([0, 0, 0], [1, 2, 3])
    for bounds in ((0, 1), [(0, 1)], ([0], [1]), {"age": (0, 1)}):
        assert [side.tolist() for side in bound_vectors(bounds, ("age",))] == [[0], [1]]


def test_an_ambiguous_square_is_refused_with_the_ways_out() -> None:
    with pytest.raises(BoundsError) as refused:
        bound_vectors([(0, 50), (10, 100)], NAMES[:2])
    message = str(refused.value)
    assert "[(lower, upper), (lower, upper)]" in message
    assert "([lower, lower], [upper, upper])" in message
    assert "bounds={'age': [0.0, 50.0], 'bmi': [10.0, 100.0]}" in message
    assert "bounds={'age': [0.0, 10.0], 'bmi': [50.0, 100.0]}" in message


def test_a_square_with_one_reading_is_read() -> None:
    pairs = bound_vectors([(0, 1), (0, 1)], NAMES[:2])
    assert [side.tolist() for side in pairs] == [[0, 0], [1, 1]]
    sequences = bound_vectors(([0, -5], [1, 9]), NAMES[:2])
    assert [side.tolist() for side in sequences] == [[0, -5], [1, 9]]
    same = bound_vectors([(0, 1), (1, 2)], NAMES[:2])
    assert [side.tolist() for side in same] == [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"age": (0, 1), "bmi": (0, 1)}, "is missing 'dose'"),
        ({**dict.fromkeys(NAMES, (0, 1)), "hight": (0, 1)}, "names 'hight', which X has not"),
        (dict.fromkeys(NAMES, 1), "a pair"),
        (dict.fromkeys(NAMES, ("a", "b")), "a pair"),
        ([(0, 1), (0, 1)], "a dict by name"),
        ([(0, 1)] * 4, "a dict by name"),
        (dict.fromkeys(NAMES, (1, 0)), "reversed"),
        ([(0, 1), (0, np.inf), (0, 1)], "finite"),
    ],
)
def test_what_is_no_spelling_is_refused(bounds: Any, message: str) -> None:
    with pytest.raises(BoundsError, match=message):
        bound_vectors(bounds, NAMES)


def test_estimators_take_them_by_name() -> None:
    X = pd.DataFrame(np.random.default_rng(0).uniform(0, 1, (300, 3)), columns=list(NAMES))
    by_name = {"dose": (-1, 1), "age": (0, 110), "bmi": (10, 60)}
    model = tacit.LinearRegression(epsilon=1.0, bounds=by_name, y_bounds=(0, 1)).fit(X, X["age"])
    assert [(column.lower, column.upper) for column in model.plan_.design.columns] == list(
        zip(LOWER, UPPER, strict=True)
    )
