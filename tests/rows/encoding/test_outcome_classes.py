from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit.errors import DataError, SchemaError
from tacit.rows.encoding.outcome import read_classes
from tacit.rows.sources.opening import open_source


def classes_of(response: Any) -> list[Any]:
    return read_classes(open_source(np.zeros((len(response), 1)), response=response), "y")


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ([1, 0, 1], [0, 1]),
        ([True, False], [False, True]),
        ([2.5, -1.0, np.nan], [-1.0, 2.5]),
        (["b", "a", "b"], ["a", "b"]),
        (["10", "9"], ["9", "10"]),
        (pd.Series(["no", None, "yes"]), ["no", "yes"]),
        (np.array([None, "x", 3], dtype=object), [3, "x"]),
        ([2, 0, 1, 2], [0, 1, 2]),
        (["b", "10", "a", "9"], ["9", "10", "a", "b"]),
        (np.arange(1000)[::-1], list(range(1000))),
    ],
)
def test_kinds_sorted(response: Any, expected: list[Any]) -> None:
    found = classes_of(response)
    assert found == expected
    assert [type(label) for label in found] == [type(label) for label in expected]


def test_t08_answer_does_not_depend_on_the_order(tmp_path: Path) -> None:
    labels = ["1.0", "0", "1", "0.00"]
    answers = []
    for order in (labels, labels[::-1]):
        path = tmp_path / "a.csv"
        path.write_text("x,y\n" + "".join(f"1,{label}\n" for label in order))
        answers.append(read_classes(open_source(path), "y"))
    assert answers[0] == answers[1] == ["0", "1"]


def test_t41_a_kind_too_many_is_not_named() -> None:
    source = open_source(np.zeros((4, 1)), response=["canary", "dog", "eel", "fox"])
    assert len(read_classes(source, "y", most=4)) == 4
    with pytest.raises(DataError, match="more than 2 kinds") as caught:
        read_classes(source, "y", most=2)
    assert not any(word in str(caught.value) for word in ("canary", "dog", "eel", "fox", "4"))


@pytest.mark.parametrize("response", [np.arange(1001), np.linspace(0, 1, 5000)])
def test_a_thousand_kinds_are_read_and_no_more(response: Any) -> None:
    with pytest.raises(DataError, match=r"more than 1000 kinds.*classes=…"):
        classes_of(response)


def test_classes_are_read_beside_other_columns() -> None:
    source = open_source(pd.DataFrame({"y": [1.0, 2.0]}), response=["b", "a"], attached={"unit": ["p", "q"]})
    assert read_classes(source, "y_") == ["a", "b"]
    assert read_classes(source, "unit") == ["p", "q"]


def test_one_kind_is_not_named() -> None:
    with pytest.raises(DataError, match="needs two kinds") as caught:
        classes_of(["canary", "canary", None])
    assert "canary" not in str(caught.value)


class Mute:
    def __str__(self) -> str:
        raise ZeroDivisionError

    def __hash__(self) -> int:
        raise ZeroDivisionError


@pytest.mark.parametrize(
    "strange",
    [[1], {}, Mute(), object(), Fraction(10**5000, 3), 10**5000, "x" * 1001, "\ud800", np.zeros(2)],
    ids=lambda value: type(value).__name__,
)
def test_strange_labels_are_no_class(strange: Any) -> None:
    assert classes_of(["b", strange, "a", "b"]) == ["a", "b"]


def test_unknown_column() -> None:
    with pytest.raises(SchemaError, match="'x0', 'y'"):
        read_classes(open_source(np.zeros((2, 1)), response=[0, 1]), "z")


def test_t29_a_private_number_of_records_is_not_told() -> None:
    said = set()
    for count in range(4):
        source = open_source(np.zeros((count, 1)), response=["a"] * count, fewest=0)
        with pytest.raises(DataError) as caught:
            read_classes(source, "y", fewest=0)
        said.add(str(caught.value))
    assert len(said) == 1
