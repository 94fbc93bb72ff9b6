"""Attacks on the privacy claim, kept as tests: no record changes how others are read."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import tacit
from tacit.contract.query import GradientSum, QueryKind
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.engine.gate import PlannedGate
from tacit.errors import DataError, FileError, PlanViolation
from tacit.formula.formula import design_from_formula
from tacit.mechanisms.kernels import add_gradients, enforceable
from tacit.mechanisms.query_responder import Responder
from tacit.rows.admission.admit_rows import admit
from tacit.rows.encoding.cells import level_codes
from tacit.rows.encoding.outcome import read_classes
from tacit.rows.sources.opening import open_source
from tacit.rows.storage.tiles import LANES, to_rows
from tacit.schema.schema import Schema
from tests.rows.memory_stores import memory_store

LOGISTIC = ((0, np.zeros(2)), (False, False))

ROWS = 10


def objects(values: list[Any]) -> NDArray[Any]:
    """An object array that leaves every cell as it is."""
    array = np.empty(len(values), dtype=object)
    for index, value in enumerate(values):
        array[index] = value
    return array


def prepared(response: Any, classes: tuple[Any, Any]) -> NDArray[Any]:
    """Stored rows of ten records with this response."""
    source = open_source(np.linspace(-1, 1, ROWS).reshape(-1, 1), response)
    design = matrix_design(source.names, Binary.of("y", classes), bounds=(-1, 1), row_norm=None, intercept=True)
    return to_rows(admit(source, design, invalid_rows="zero").block(0), ROWS)


class Colour(str, Enum):  # noqa: UP042 - the old way prints otherwise, which is the point
    RED = "red"


UTC, EAST = dt.UTC, dt.timezone(dt.timedelta(hours=1))


# --- one record must not change how others are read ---------------------------------------------


@pytest.mark.parametrize(
    ("twin", "label", "levels"),
    [
        (Decimal(1), 1, (0, 1)),
        (Fraction(1), 1, (0, 1)),
        (1 + 0j, 1, (0, 1)),
        (2**63, 2.0**63, (0, 2.0**63)),
        (Colour.RED, "red", ("red", "blue")),
        (
            dt.datetime(2020, 1, 1, 1, tzinfo=EAST),
            dt.datetime(2020, 1, 1, tzinfo=UTC),
            ("2020-01-01 00:00:00+00:00", "x"),
        ),
    ],
)
def test_a_label_does_not_change_the_code_of_another(twin: Any, label: Any, levels: tuple[Any, Any]) -> None:
    alone = level_codes(objects(["other", label]), levels, "y")[1]
    attached = level_codes(objects([twin, label]), levels, "y")[1]
    assert alone >= 0
    assert attached == alone


@pytest.mark.parametrize(
    ("base", "hostile", "classes"),
    [
        ([2**53 + 1, 0], float("nan"), (0, 2**53 + 1)),
        ([2**64 - 1, 0], None, (0, 2**64 - 1)),
        ([np.float32(0.1), np.float32(2)], "x", (float(np.float32(0.1)), 2)),
        ([0, 1], np.timedelta64(1, "s"), (0, 1)),
        (
            [np.datetime64("2020-01-01"), np.datetime64("2021-01-01")],
            np.datetime64("2020-01-01T05"),
            ("2020-01-01", "2021-01-01"),
        ),
    ],
)
def test_a_label_in_a_list_does_not_change_another_record(
    base: list[Any], hostile: Any, classes: tuple[Any, Any]
) -> None:
    labels = base * (ROWS // 2)
    reference = prepared(labels, classes)
    assert np.array_equal(prepared([*labels[:-1], hostile], classes)[:-1], reference[:-1])


def test_a_missing_category_does_not_change_another_record() -> None:
    categories = [0, 2**53 + 1]
    index = pd.Index(categories)
    whole = pd.Series(pd.Categorical.from_codes([0, 1] * 5, categories=index))
    holed = pd.Series(pd.Categorical.from_codes([0, 1] * 4 + [0, -1], categories=index))
    classes = (0, 2**53 + 1)
    assert np.array_equal(prepared(holed, classes)[:-1], prepared(whole, classes)[:-1])


SCHEMA = """
[columns.x]
type = "numeric"
lower = 0
upper = 10
[columns.y]
type = "binary"
"""


@pytest.mark.parametrize("line", ['1,0,"a', '1,0,"', '1,0,"""a', ""])
def test_a_line_of_a_csv_file_cannot_swallow_others(tmp_path: Path, line: str) -> None:
    lines = ["x,y,note", *(f"{i % 10},{i % 2},n" for i in range(100))]
    lines[50] = line
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n")
    design = design_from_formula("y ~ x", Schema.parse(SCHEMA))
    try:
        length = admit(open_source(path), design, invalid_rows="zero").length
    except (DataError, FileError):
        return  # refusing the file before anything is spent is as good
    assert length == 100


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_row_that_is_not_finite_contributes_nothing(bad: float) -> None:
    tile = np.zeros((1, 3, LANES))
    tile[0, :2, 0] = bad, 1.0
    total = np.zeros(2, dtype=np.int64)
    add_gradients(tile, np.ones(2), *LOGISTIC, (1e9, enforceable(2**30, 2), np.inf), total)
    assert not total.any()


def test_the_gate_goes_by_the_type_of_a_query() -> None:
    @dataclass(frozen=True)
    class Disguised(GradientSum):
        kind = QueryKind.SECOND_MOMENTS

    plan = tacit.LogisticRegression(epsilon=1.0, bounds=(-1, 1)).plan(1000, 1)
    gate = PlannedGate(plan, Responder(memory_store(np.ones((3, 3))), private=True, seed=None))
    with pytest.raises(PlanViolation):
        gate.ask(Disguised(np.zeros(2), 1.0))


@pytest.mark.parametrize("count", [0, 1])
def test_a_refusal_for_too_few_records_does_not_say_how_many(count: int) -> None:
    model = tacit.LogisticRegression(epsilon=1.0, bounds=(-1, 1), classes=(0, 1))
    with pytest.raises(DataError, match="fewer than 2 records"):
        model.fit(np.zeros((count, 1)), np.zeros(count, dtype=int))


def test_a_missing_header_is_not_quoted(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("63,1,secret\n71,0,b\n50,1,b\n")
    with pytest.raises(tacit.errors.InputError) as caught:
        tacit.glm("y ~ x", path, Schema.parse(SCHEMA), epsilon=1.0)
    assert "secret" not in str(caught.value)


def test_classes_do_not_depend_on_the_order_of_the_records() -> None:
    table = np.zeros((4, 1))
    forward = read_classes(open_source(table, objects([1, 1.0, 0, 0])), "y")
    backward = read_classes(open_source(table, objects([1.0, 1, 0, 0])), "y")
    assert list(map(repr, forward)) == list(map(repr, backward))


def test_no_cell_raises_where_invalid_rows_are_zero() -> None:
    prepared(objects([np.timedelta64(1, "s"), *[0, 1] * 4, 1]), (0, 1))
