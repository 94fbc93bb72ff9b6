"""Linear combinations as text: what is read, and what is refused in words that help."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import SettingError
from tacit.inference.hypotheses import combinations_of

NAMES = ("Intercept", "x", "x1", "C(ward)[T.a-b]", "age:smoker[T.yes]", "np.log(x, 2)", "3")


def read(text: Any) -> list[tuple[list[float], float]]:
    found = combinations_of(text, NAMES)
    return list(zip(found.weights.tolist(), found.values.tolist(), strict=True))


def row(**weights: float) -> list[float]:
    places = {"i": 0, "x": 1, "x1": 2, "ward": 3, "age": 4, "log": 5, "three": 6}
    found = [0.0] * len(NAMES)
    for name, weight in weights.items():
        found[places[name]] = weight
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", [(row(x=1), 0)]),
        ("x1 = 2", [(row(x1=1), 2)]),
        ("x - x1 = 0", [(row(x=1, x1=-1), 0)]),
        ("x-x1", [(row(x=1, x1=-1), 0)]),
        ("2*x + x1*3 - 1 = 1e1", [(row(x=2, x1=3), 11)]),
        ("-(x - 2 * (x1 + 1)) / 4", [(row(x=-0.25, x1=0.5), -0.5)]),
        ("C(ward)[T.a-b] = -.5", [(row(ward=1), -0.5)]),
        ("x = x1 = 3", [(row(x=1, x1=-1), 0), (row(x1=1), 3)]),
        ("x, x1 = 1", [(row(x=1), 0), (row(x1=1), 1)]),
        ("np.log(x, 2) + age:smoker[T.yes]", [(row(log=1, age=1), 0)]),
        ("`3` - 3", [(row(three=1), 3)]),
        ("`x1` + + x", [(row(x=1, x1=1), 0)]),
        (["x", "x1 = Intercept"], [(row(x=1), 0), (row(x1=1, i=-1), 0)]),
        (("x",), [(row(x=1), 0)]),
    ],
)
def test_what_is_read(text: Any, expected: list[tuple[list[float], float]]) -> None:
    assert read(text) == expected


def test_labels_are_what_was_written() -> None:
    assert combinations_of("x = x1 = 3, x1", NAMES).labels == ("x = x1", "x1 = 3", "x1")


def test_matrices_are_taken_as_they_are() -> None:
    found = combinations_of(np.eye(7)[1:3], NAMES)
    np.testing.assert_array_equal(found.weights, np.eye(7)[1:3])
    assert found.labels == ("c0", "c1")
    assert combinations_of(row(x=1, x1=-1), NAMES).weights.shape == (1, 7)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("z1 = 0", r"no coefficient 'z1'; the names are Intercept, x, x1"),
        ("x2", "no coefficient 'x2'"),
        ("x * x1", "linear"),
        ("x / x1", "number other than 0"),
        ("x / 0", "number other than 0"),
        ("x +", "ends where"),
        ("", "ends where"),
        ("(x", "not closed"),
        ("x)", "no coefficient"),
        ("x x1", "no coefficient"),
        ("x = 1 &", "no coefficient '&'"),
        ("x - x", "without a coefficient"),
        ("1 = 1", "without a coefficient"),
        ("(" * 5000 + "x", "too many brackets"),
        ("__import__('os')", "no coefficient"),
        ([], "rows of 7 numbers"),
        (np.eye(3), "rows of 7 numbers"),
        (np.full((1, 7), np.nan), "rows of 7 numbers"),
        (None, "rows of 7 numbers"),
        (["x", 3], "rows of 7 numbers"),
        (np.zeros((1, 7)), "without a coefficient"),
    ],
)
def test_what_is_refused(text: Any, words: str) -> None:
    with pytest.raises(SettingError, match=words):
        combinations_of(text, NAMES)


def test_long_lists_of_names_are_cut() -> None:
    with pytest.raises(SettingError, match="and 60 more"):
        combinations_of("q", [f"x{j}" for j in range(100)])


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = combinations_of(text, NAMES)
    except SettingError:
        return
    assert found.weights.shape == (len(found.labels), len(NAMES))
