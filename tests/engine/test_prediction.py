"""Margins of new records, on the user's scale and block by block."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tacit.design.attached_columns import AttachedColumns, Offset
from tacit.design.design import matrix_design
from tacit.design.response import Absent, Binary
from tacit.engine import prediction
from tacit.errors import SchemaError
from tacit.rows.sources import opening

NAMES = ("a", "b")


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("block", [2, 7, 100])
def test_margins_are_the_linear_predictor(monkeypatch: pytest.MonkeyPatch, intercept: bool, block: int) -> None:
    monkeypatch.setattr(prediction, "BLOCK_ROWS", block)
    design = matrix_design(NAMES, Binary("y", (0, 1)), bounds=(0, 5), row_norm=None, intercept=intercept)
    frame = pd.DataFrame(np.random.default_rng(0).uniform(-20, 20, (20, 2)), columns=list(NAMES))
    coefficients = np.array([0.5, 2.0, -1.0])[0 if intercept else 1 :]
    found = np.concatenate(list(prediction.margins(frame, design, coefficients)))
    expected = frame.to_numpy() @ [2.0, -1.0] + (0.5 if intercept else 0.0)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_record_that_cannot_be_predicted_is_missing() -> None:
    design = matrix_design(NAMES, Binary("y", (0, 1)), bounds=(0, 5), row_norm=None, intercept=False)
    frame = pd.DataFrame({"a": [1.0, np.nan, np.inf, 2.0], "b": [1.0, 1.0, 1.0, None]})
    found = np.concatenate(list(prediction.margins(frame, design, np.array([1.0, 1.0]))))
    assert found[0] == 2.0
    assert np.isnan(found[1:]).all()


def test_a_missing_column_is_named() -> None:
    design = matrix_design(NAMES, Binary("y", (0, 1)), bounds=(0, 5), row_norm=None, intercept=False)
    with pytest.raises(SchemaError, match="'b'"):
        next(prediction.margins(pd.DataFrame({"a": [1.0, 2.0]}), design, np.zeros(2)))


def test_an_offset_is_added_where_it_is_asked_for() -> None:
    plain = matrix_design(NAMES, Binary("y", (0, 1)), bounds=(0, 5), row_norm=None, intercept=True)
    design = replace(plain, attached=AttachedColumns(offset=Offset("t", -2.0, 2.0)))
    frame = pd.DataFrame({"a": 1.0, "b": 2.0, "t": [0.5, -9.0, np.nan, 2.0]})
    coefficients = np.array([0.25, 1.0, 1.0])
    shifted = np.concatenate([*prediction.margins(frame, design, coefficients, shifted=True)])
    np.testing.assert_array_equal(shifted, [3.75, 1.25, np.nan, 5.25])
    (terms,) = prediction.offsets(frame, design)
    np.testing.assert_array_equal(terms, [0.5, -2.0, np.nan, 2.0])
    (bare,) = prediction.margins(frame[["a", "b"]], design, coefficients)
    assert (bare == 3.25).all()
    (classes,) = prediction.margins(frame, design, np.ones((3, 2)), shifted=True)
    np.testing.assert_array_equal(classes[:, 1], [4.5, 2.0, np.nan, 6.0])
    with pytest.raises(SchemaError, match="'t'"):
        next(prediction.margins(frame[["a", "b"]], design, coefficients, shifted=True))


def test_without_an_offset_the_terms_are_zero() -> None:
    plain = matrix_design(NAMES, Binary("y", (0, 1)), bounds=(0, 5), row_norm=None, intercept=True)
    (terms,) = prediction.offsets(pd.DataFrame({"a": [1.0, 2.0], "b": 0.0}), plain)
    assert terms.tolist() == [0.0, 0.0]


def test_the_engine_hands_on_the_description_of_rows() -> None:
    assert prediction.describe is opening.describe


@pytest.mark.parametrize("width", [2, 7, 33])
def test_a_mapped_row_has_the_bits_of_its_own_record(width: int) -> None:
    """The fault: a library product rounds a row by its place, and by the number of rows."""
    rng = np.random.default_rng(1)
    design = matrix_design([f"x{j}" for j in range(width)], Absent(), bounds=(-2, 2), row_norm=1.5, intercept=True)
    rows, matrix = rng.normal(size=(300, width)), rng.normal(size=(width - 1, width))
    mean = rng.normal(size=width) / 10
    found = prediction.mapped_rows(rows, design, mean, matrix, 0.5)
    prepared = np.clip(rows, -2, 2) / 2
    prepared *= np.minimum(1.0, 1.5 / np.linalg.norm(prepared, axis=1))[:, None]
    expected = (prepared - mean) @ matrix.T
    expected *= np.minimum(1.0, 0.5 / np.linalg.norm(expected, axis=1))[:, None]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)
    for cut in (1, 3, 64, 299):
        assert np.array_equal(prediction.mapped_rows(rows[cut:], design, mean, matrix, 0.5), found[cut:])
    assert prediction.mapped_rows(rows[:0], design, mean, matrix, 0.5).shape == (0, width - 1)
