"""Cells of tables for networks as numbers, each by itself. Private: what is given and what is returned."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.rows.encoding.cells import to_float64
from tacit.rows.sources.arrays import as_column, as_matrix


def numbers_of_table(cells: Any) -> NDArray[np.float64]:
    """Numbers of a table, record by record; a cell that is none is not finite.

    Guarantee: what a cell is read as depends on that cell alone, and none raises or warns; a record of a list that is
    unlike most is one of no numbers. What is no table of two dimensions is returned with the dimensions that it has.
    """
    return to_float64(as_matrix(cells), "X")


def numbers_of_column(cells: Any) -> NDArray[np.float64]:
    """Numbers of one column, as `numbers_of_table` reads them."""
    return to_float64(as_column(cells, "y", len(cells)), "y")
