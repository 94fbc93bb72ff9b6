"""Responses: labels and bounds that are none are refused, bounds map to [-1, 1]."""

import math
from typing import Any

import numpy as np
import pytest

from tacit.design.response import Absent, Binary, Classes, Continuous, Count
from tacit.errors import SettingError


@pytest.mark.parametrize("labels", [[0], [0, 1, 2], ["a", "a"], [], [1, 1.0]])
def test_two_labels_are_two(labels: list[Any]) -> None:
    with pytest.raises(SettingError, match="two different labels"):
        Binary.of("y", labels)


@pytest.mark.parametrize("labels", [[0, 1], ["a", "b", "a"], [], [0, 1, 1.0]])
def test_more_labels_are_three_or_more(labels: list[Any]) -> None:
    with pytest.raises(SettingError, match="at least three"):
        Classes.of("y", labels)
    with pytest.raises(SettingError, match="at least three"):
        Classes("y", tuple(labels))


def test_labels_of_numpy_become_those_of_python() -> None:
    two = Binary.of("y", list(np.array([3, 7])))
    three = Classes.of("y", list(np.array(["a", "b", "c"])))
    assert [type(label) for label in (*two.classes, *three.classes)] == [int, int, str, str, str]


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-3.0, 7.0), (5, 6)])
def test_bounds_are_mapped_into_the_unit_interval(bounds: tuple[float, float], centred: bool) -> None:
    response = Continuous.of("y", *bounds, centred=centred)
    ends = [(end - response.center) / response.scale for end in bounds]
    assert max(map(abs, ends)) == 1.0
    assert (ends == [-1.0, 1.0]) if centred else response.center == 0.0
    assert not response.is_open


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ((1.0, 1.0), "lower one first"),
        ((2.0, 1.0), "lower one first"),
        ((0.0, math.inf), "finite"),
        ((math.nan, 1.0), "finite"),
        ((-1e308, 1e308), "moderate"),
        ((0.0, 1e-160), "moderate"),
    ],
)
def test_wrong_bounds_are_refused(bounds: tuple[float, float], words: str) -> None:
    with pytest.raises(SettingError, match=words):
        Continuous.of("y", *bounds)


@pytest.mark.parametrize("upper", [0.5, 0.0, -1.0, 1e10, math.inf, math.nan])
def test_a_largest_count_is_moderate(upper: float) -> None:
    assert [Count("y", good).upper for good in (1, 1e9)] == [1.0, 1e9]
    with pytest.raises(SettingError, match="largest count"):
        Count("y", upper)


def test_open_bounds_and_no_response() -> None:
    assert Continuous.opened("y").is_open
    assert (Absent().column, Absent().classes) == (None, ())
