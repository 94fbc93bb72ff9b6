"""A response of one column is taken as scikit-learn takes it, by its shape alone."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import DataConversionWarning

import tacit
from tacit.errors import DataError
from tacit.estimators.column_vector import column_vector

NUMBERS = np.arange(6.0)


@pytest.mark.parametrize(
    "column",
    [NUMBERS[:, None], pd.DataFrame({"y": NUMBERS}), pl.DataFrame({"y": NUMBERS})],
    ids=["numpy", "pandas", "polars"],
)
def test_the_one_column_is_taken_with_a_warning(column: Any) -> None:
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed when a 1d array was expected"):
        found = column_vector(column)
    np.testing.assert_array_equal(np.asarray(found), NUMBERS)


@pytest.mark.parametrize("other", [NUMBERS, NUMBERS.tolist(), NUMBERS.reshape(3, 2), [[1], [2]], None, "y"], ids=str)
def test_all_else_is_left_as_it_is(other: Any) -> None:
    assert column_vector(other) is other


def test_a_fit_takes_it_and_refuses_two() -> None:
    X, y = np.linspace(0, 1, 200).reshape(-1, 1), np.arange(200) % 2
    model = tacit.LogisticRegression(epsilon=1.0, bounds=(0, 1), random_state=1)
    plain = model.fit(X, y).coef_
    with pytest.warns(DataConversionWarning):
        assert model.fit(X, y[:, None]).coef_.tobytes() == plain.tobytes()
    with pytest.raises(DataError, match="one column"):
        model.fit(X, np.column_stack([y, y]))
