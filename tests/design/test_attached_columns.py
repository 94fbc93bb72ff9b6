"""Declarations of weight, offset and privacy unit refuse what means nothing."""

import math
from typing import Any

import pytest

from tacit.design.attached_columns import Offset, Unit, Weighting
from tacit.errors import SettingError


def test_the_largest_weight_is_that_of_cell_and_class_together() -> None:
    assert Weighting("w", 4.0).largest == 4.0
    assert Weighting(None, by_class=(0.5, 3.0)).largest == 3.0
    assert Weighting("w", 4.0, (0.5, 3.0)).largest == 12.0


@pytest.mark.parametrize(
    "facts",
    [
        {"maximum": 0.0},
        {"maximum": -1.0},
        {"maximum": math.inf},
        {"maximum": math.nan},
        {"by_class": (0.0, 0.0)},
        {"by_class": (1.0, -1.0)},
        {"by_class": (1.0, math.inf)},
        {"by_class": (1.0, math.nan)},
    ],
)
def test_weights_that_mean_nothing_are_refused(facts: dict[str, Any]) -> None:
    with pytest.raises(SettingError):
        Weighting("w", **facts)


@pytest.mark.parametrize("ends", [(1.0, 1.0), (2.0, 1.0), (-1e7, 0.0), (0.0, 1e7), (math.nan, 1.0), (0.0, math.inf)])
def test_offsets_are_of_moderate_size(ends: tuple[float, float]) -> None:
    assert Offset("t", -1e6, 1e6).exposure is False
    with pytest.raises(SettingError, match="moderate"):
        Offset("t", *ends)


@pytest.mark.parametrize("rows", [0, -1, 10_001, 2.5, True, "3", None])
def test_a_unit_keeps_a_whole_number_of_records(rows: Any) -> None:
    assert [Unit("id", good).max_rows for good in (1, 10_000)] == [1, 10_000]
    with pytest.raises(SettingError, match="whole number from 1 to 10000"):
        Unit("id", rows)
