"""Whitening: coordinates that rows can always be mapped to, whatever the answers are."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import tacit
from tacit.contract.query import Answer, Query
from tacit.rows.storage.tiles import LARGEST, public_matrix
from tacit.solvers.whitened_gradient import Whitening, whiten

WIDTH = 4
TABLES = {
    "zeros": np.zeros((WIDTH, WIDTH)),
    "one row": np.full((WIDTH, WIDTH), 1e-13),
    "one column": np.diag([1e-9, 0.0, 0.0, 0.0]),
}


class Answering:
    """A gate with hardly any noise, whose records have these second moments in any coordinates."""

    def __init__(self, moments: NDArray[np.float64]) -> None:
        self.moments = moments

    def ask(self, query: Query) -> Answer:
        del query
        return Answer(self.moments, 1e-20)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("row_norm", [1e-6, 1.0, 1e6])
def test_t40_looks_never_lead_to_a_map_that_rows_refuse(row_norm: float, table: str) -> None:
    """Each look widens what has no spread by up to 3000; rows may be 1e-6 long to begin with."""
    plan = tacit.LinearRegression(
        epsilon=1.0, bounds=(-1, 1), y_bounds=(0, 1), row_norm=row_norm, fit_intercept=False
    ).plan(5000, WIDTH)
    found = whiten(Answering(TABLES[table]), plan, Whitening(6, 0.3, 2.0))
    assert found.matrix is not None
    assert public_matrix(found.matrix, WIDTH).max() <= LARGEST
    assert np.isfinite(found.working(np.ones(WIDTH))).all()


def test_t40_a_table_of_zeros_is_fitted_at_any_budget() -> None:
    model = tacit.LinearRegression(
        epsilon=1e9, delta=1e-6, bounds=(-1, 1), y_bounds=(-2, 2), row_norm=1e-6, fit_intercept=False
    )
    model.fit(np.zeros((5000, WIDTH)), np.arange(5000) % 2)
    assert np.isfinite(model.coef_).all()
