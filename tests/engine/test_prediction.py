"""Margins of new records, on the user's scale and block by block."""

import numpy as np
import pandas as pd
import pytest

from tacit.engine import prediction
from tacit.errors import SchemaError
from tacit.problem.design import matrix_design
from tacit.problem.response import Binary

NAMES = ("a", "b")


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("block", [2, 7, 100])
def test_margins_are_the_linear_predictor(
    monkeypatch: pytest.MonkeyPatch, intercept: bool, block: int
) -> None:
    monkeypatch.setattr(prediction, "BLOCK_ROWS", block)
    design = matrix_design(
        NAMES, Binary("y", (0, 1)), bounds=(0, 5), row_norm=None, intercept=intercept
    )
    frame = pd.DataFrame(np.random.default_rng(0).uniform(-20, 20, (20, 2)), columns=list(NAMES))
    coefficients = np.array([0.5, 2.0, -1.0])[0 if intercept else 1 :]
    found = np.concatenate(list(prediction.margins(frame, design, coefficients)))
    expected = frame.to_numpy() @ [2.0, -1.0] + (0.5 if intercept else 0.0)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_record_that_cannot_be_predicted_is_missing() -> None:
    design = matrix_design(
        NAMES, Binary("y", (0, 1)), bounds=(0, 5), row_norm=None, intercept=False
    )
    frame = pd.DataFrame({"a": [1.0, np.nan, np.inf, 2.0], "b": [1.0, 1.0, 1.0, None]})
    found = np.concatenate(list(prediction.margins(frame, design, np.array([1.0, 1.0]))))
    assert found[0] == 2.0
    assert np.isnan(found[1:]).all()


def test_a_missing_column_is_named() -> None:
    design = matrix_design(
        NAMES, Binary("y", (0, 1)), bounds=(0, 5), row_norm=None, intercept=False
    )
    with pytest.raises(SchemaError, match="'b'"):
        next(prediction.margins(pd.DataFrame({"a": [1.0, 2.0]}), design, np.zeros(2)))
