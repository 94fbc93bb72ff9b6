"""Declared columns: what stands for missing and undeclared cells."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tacit.design.factor import LabelCell, NumericCell
from tacit.errors import InputError
from tacit.schema.columns import BinaryColumn, FactorColumn, NumericColumn


def test_cells_say_what_is_declared() -> None:
    assert NumericColumn(0, 1).cell == NumericCell(0.0, 1.0)
    assert NumericColumn(0, 1, missing=1).cell == NumericCell(0.0, 1.0, 1.0)
    assert FactorColumn(("a", "b")).cell == LabelCell()
    assert FactorColumn((1, 2), missing=2, other="1.0").cell == LabelCell("2", "1")
    assert BinaryColumn((False, True), missing=True).cell == LabelCell("True", None)


def test_a_substitute_is_spelt_like_its_level() -> None:
    assert FactorColumn((1, 2), missing="1.0").missing == 1
    assert BinaryColumn(("false", "true"), other=True).other == "true"
    assert FactorColumn(("a", "b"), missing=np.str_("a")).missing == "a"
    assert type(NumericColumn(0, 2, missing=np.float64(1)).missing) is float


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"missing": 111}, "within"),
        ({"missing": -1}, "within"),
        ({"missing": math.nan}, "finite"),
        ({"missing": "0"}, "must be a number"),
        ({"missing": True}, "must be a number"),
        ({"missing_indicator": True}, "missing = "),
        ({"missing": 0, "missing_indicator": 1}, "true or false"),
    ],
)
def test_t37_a_constant_must_be_a_declared_number(facts: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        NumericColumn(0, 110, **facts)


@pytest.mark.parametrize("key", ["missing", "other"])
@pytest.mark.parametrize("value", ["c", 3, "", math.nan, ["a"], "A"])
def test_t37_a_substitute_must_be_a_declared_level(key: str, value: Any) -> None:
    for kind in (FactorColumn, BinaryColumn):
        with pytest.raises(InputError, match=f"{key} must be one of the declared levels"):
            kind(("a", "b"), **{key: value})
