from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from tacit.design.attached_columns import AttachedColumns, Offset, Weighting
from tacit.design.design import Column, Design, matrix_design
from tacit.design.factor import Factor, Indicator, Numeric
from tacit.design.response import Absent, Binary, Count, Response
from tacit.errors import SchemaError
from tacit.rows.encoding.encode_rows import RecordEncoder
from tacit.rows.sources.opening import open_source

LEVELS = {"ward": ("a", "b", "c"), "sex": ("0", "1")}
RESPONSE = Binary("out", ("no", "yes"))
NOTHING = AttachedColumns()


def design_of(
    *products: Sequence[Factor], response: Response = RESPONSE, attached: AttachedColumns = NOTHING
) -> Design:
    columns = tuple(Column(f"c{j}", tuple(factors), -9.0, 9.0, 0.0, 1.0) for j, factors in enumerate(products))
    return Design(columns, response, 3.0, levels=LEVELS, attached=attached)


def encode_frame(frame: Any, design: Design) -> tuple[NDArray[Any], ...]:
    encoder = RecordEncoder.of(design)
    source = open_source(frame)
    batch = next(source.batches(100, numeric=encoder.numbers, labels=encoder.labels))
    return encoder.encode(batch)


FRAME = pd.DataFrame(
    {
        "age": [2.0, 3.0, 4.0, 5.0],
        "dose": [0.5, 1.0, 2.0, 4.0],
        "ward": ["a", "b", "c", "b"],
        "sex": [0, 1, 1, 0],
        "out": ["no", "yes", "yes", "no"],
    }
)


def test_products_of_factors() -> None:
    age, dose, b, female = (Numeric("age"), Numeric("dose"), Indicator("ward", "b"), Indicator("sex", "1"))
    values, response, valid = encode_frame(FRAME, design_of((age,), (b,), (age, dose), (age, b), (b, female)))
    expected = [[2, 0, 1, 0, 0], [3, 1, 3, 3, 1], [4, 0, 8, 0, 0], [5, 1, 20, 5, 0]]
    np.testing.assert_array_equal(values, expected)
    assert values.flags.c_contiguous
    assert response.tolist() == [[0.0], [1.0], [1.0], [0.0]]
    assert valid.all()


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("age", np.nan),
        ("age", np.inf),
        ("age", -np.inf),
        ("ward", None),
        ("ward", "zebra"),
        ("sex", 2),
        ("out", None),
        ("out", "maybe"),
    ],
)
def test_t37_undeclared_and_missing_values_make_the_row_invalid(column: str, value: Any) -> None:
    design = design_of((Numeric("age"),), (Indicator("ward", "b"),), (Indicator("sex", "1"),))
    frame = FRAME.astype({column: object})
    frame.loc[1, column] = value
    before, after = encode_frame(FRAME, design), encode_frame(frame, design)
    assert after[2].tolist() == [True, False, True, True]
    for old, new in zip(before[:2], after[:2], strict=True):
        np.testing.assert_array_equal(np.delete(new, 1, axis=0), np.delete(old, 1, axis=0))


def test_an_unused_column_may_hold_anything() -> None:
    frame = FRAME.assign(dose=np.nan)
    assert encode_frame(frame, design_of((Numeric("age"),)))[2].all()


def test_t36_levels_must_be_declared() -> None:
    columns = (Column("c", (Indicator("ward", "b"),), 0.0, 1.0, 0.0, 1.0),)
    with pytest.raises(SchemaError, match="levels of ward"):
        RecordEncoder.of(Design(columns, Binary("out", (0, 1)), 1.0))
    with pytest.raises(SchemaError, match="'d'"):
        RecordEncoder.of(design_of((Indicator("ward", "d"),)))


def test_t40_overflowing_products_stay_finite() -> None:
    frame = FRAME.assign(age=[1e200, -1e200, 0.0, 1e308])
    age = Numeric("age")
    values, _, valid = encode_frame(frame, design_of((age, age, Numeric("dose")), (age, age, age)))
    assert np.isfinite(values).all()
    assert valid.all()


def test_features_do_not_need_a_response() -> None:
    design = design_of((Numeric("age"),), (Indicator("ward", "b"),))
    encoder = RecordEncoder.of(design)
    source = open_source(FRAME.drop(columns="out"))
    batch = next(source.batches(9, numeric=encoder.reader.numeric, labels=tuple(encoder.reader.levels)))
    values, valid = encoder.reader.read(batch)
    np.testing.assert_array_equal(values, encode_frame(FRAME, design)[0])
    assert valid.all()


def test_columns_are_asked_for_once_and_only_where_needed() -> None:
    attached = AttachedColumns(Weighting("dose", 4.0), Offset("age", 0.0, 1.0))
    counts = RecordEncoder.of(design_of((Numeric("age"),), response=Count("visits", 9), attached=attached))
    assert (counts.reader.numeric, counts.numbers) == (("age",), ("age", "visits", "dose"))
    assert counts.labels == ()
    wards = RecordEncoder.of(design_of((Indicator("ward", "b"),)))
    assert (wards.numbers, wards.labels) == ((), ("ward", "out"))
    assert RecordEncoder.of(design_of((Numeric("age"),), response=Absent())).labels == ()


def test_a_record_is_invalid_by_its_features_or_by_what_stands_behind_them() -> None:
    frame = FRAME.assign(age=[2.0, np.nan, 4.0, 5.0], dose=[0.5, 1.0, -2.0, 4.0])
    design = design_of((Numeric("age"),), attached=AttachedColumns(Weighting("dose", 4.0)))
    _, behind, valid = encode_frame(frame, design)
    assert valid.tolist() == [True, False, False, True]
    assert behind[valid].tolist() == [[0.0, 0.125], [0.0, 1.0]]


def test_plain_matrix_is_not_copied() -> None:
    X = np.zeros((3, 2))
    source = open_source(X, response=[0, 1, 0])
    design = matrix_design(source.names, Binary("y", (0, 1)), bounds=(0, 1), row_norm=None, intercept=True)
    batch = next(source.batches(9, numeric=source.names, labels=("y",)))
    assert np.shares_memory(RecordEncoder.of(design).encode(batch)[0], X)
