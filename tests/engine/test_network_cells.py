"""Cells of tables for networks: one record neither raises, nor warns, nor changes another."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit.engine.network_cells import numbers_of_column, numbers_of_table
from tests.rows.poison import CELLS

TABLE: list[Any] = [[0.5, 1.0], [1.5, 2.0], [2.5, "3"], [3.5, None], [b"4", True]]
OTHERS = [[0.5, 1.0], [2.5, 3.0], [3.5, np.nan], [4.0, 1.0]]


@pytest.mark.parametrize("name", CELLS)
def test_no_cell_changes_another_record(name: str) -> None:
    """Regression: a record that was longer or shorter made the training of a list fail, inside a ledger too."""
    cell = CELLS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for record in ([cell, 2.0], [cell], [1.0, 2.0, cell], cell):
            found = numbers_of_table([TABLE[0], record, *TABLE[2:]])
            assert found.shape == (5, 2)
            np.testing.assert_array_equal(np.delete(found, 1, axis=0), OTHERS)
        column = numbers_of_column([0.5, cell, "3", None])
        assert column.shape == (4,)
        np.testing.assert_array_equal(np.delete(column, 1), [0.5, 3.0, np.nan])


def test_arrays_and_tables_are_read_alike() -> None:
    expected = [[0.5, 1.0], [2.5, np.inf]]
    cells = np.array([[0.5, 1.0], [2.5, "text"]], dtype=object)
    for table in (cells, cells.tolist(), pd.DataFrame(cells), np.array(expected)):
        np.testing.assert_array_equal(numbers_of_table(table), expected)
    assert numbers_of_table(np.zeros(3)).ndim == 1
