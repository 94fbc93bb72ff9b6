"""Sparse tables: the same records are admitted as of dense ones."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from tacit.design.attached_columns import AttachedColumns, Offset, Unit, Weighting
from tacit.design.design import Design, matrix_design
from tacit.design.feature_map import Polynomial
from tacit.design.response import Binary, Continuous
from tacit.errors import BoundsError, DataError
from tacit.rows.admission.admit_rows import admit, stays_sparse
from tacit.rows.sources.opening import open_source
from tacit.rows.sources.source import Source
from tacit.rows.storage.record_store import BLOCK_ROWS, SparseStore
from tacit.rows.storage.tiles import to_rows

RNG = np.random.default_rng(4)
ROWS, COLUMNS = BLOCK_ROWS + 77, 6
X = RNG.uniform(-2, 2, (ROWS, COLUMNS)) * (RNG.random((ROWS, COLUMNS)) < 0.3)
Y = RNG.integers(0, 2, ROWS)
NAMES = tuple(f"x{j}" for j in range(COLUMNS))


def design_of(**facts: Any) -> Design:
    given: dict[str, Any] = {"bounds": (-1, 1), "row_norm": None, "intercept": True, "shifted": False}
    return matrix_design(NAMES, Binary("y", (0, 1)), **(given | facts))


def through(source: Source, design: Design, dtype: Any = np.float32) -> SparseStore:
    store = admit(source, design, dtype=dtype, invalid_rows="zero")
    assert isinstance(store, SparseStore)
    return store


def content(store: Any) -> NDArray[Any]:
    blocks = [store.block(index) for index in range(store.block_count)]
    tiles = [b if isinstance(b, np.ndarray) else b.dense(store.width) for b in blocks]
    return to_rows(np.concatenate(tiles), store.length)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("row_norm", [None, 0.9])
def test_the_same_records_as_dense_ones(dtype: Any, row_norm: float | None) -> None:
    design = design_of(row_norm=row_norm)
    sparse = through(open_source(sp.csr_array(X), Y), design, dtype)
    dense = admit(open_source(X, Y), design, dtype=dtype)
    assert (sparse.length, sparse.width, sparse.layout.dtype) == (ROWS, COLUMNS + 1, np.dtype(dtype))
    assert (content(sparse) == content(dense)).all()


def test_weights_and_offsets_are_stored() -> None:
    weight, offset = RNG.random(ROWS) * 3, RNG.normal(size=ROWS)
    attached = {"sample_weight": weight, "offset": offset}
    plain = design_of()
    design = Design(
        plain.columns,
        Continuous.of("y", 0.0, 1.0),
        plain.feature_norm,
        attached=AttachedColumns(Weighting("sample_weight", 2.0), Offset("offset", -1.0, 1.0)),
    )
    sparse = through(open_source(sp.csr_array(X), Y, attached=attached), design)
    assert (sparse.layout.weighted, sparse.layout.shifted) == (True, True)
    assert (content(sparse) == content(admit(open_source(X, Y, attached=attached), design))).all()


def test_t40_invalid_records_hold_nothing() -> None:
    values = X[:5].copy()
    values[1, 2], labels = np.nan, np.array([0, 1, 1, 7, 0])
    source = open_source(sp.csr_array(values), labels)
    store = through(source, design_of())
    assert not content(store)[[1, 3]].any()
    assert content(store)[[0, 2, 4], COLUMNS].all()


def test_invalid_records_are_refused_where_they_are_errors() -> None:
    values = X[:5].copy()
    values[1, 2] = np.inf
    source = open_source(sp.csr_array(values), Y[:5])
    with pytest.raises(DataError, match="invalid"):
        admit(source, design_of())


def test_bounds_that_exclude_zero_are_refused_though_zeros_are_stored() -> None:
    stored = sp.csr_array((np.zeros(4), np.zeros(4, dtype=int), np.arange(5)), shape=(4, COLUMNS))
    with pytest.raises(BoundsError, match="toarray"):
        through(open_source(stored, Y[:4]), design_of(bounds=(1, 2)))


def test_which_tables_stay_sparse() -> None:
    sparse, dense = open_source(sp.csr_array(X), Y), open_source(X, Y)
    assert stays_sparse(sparse, design_of())
    assert stays_sparse(open_source(sp.csr_array(X)), design_of())
    assert not stays_sparse(dense, design_of())
    some = matrix_design(NAMES[:3], Binary("y", (0, 1)), bounds=(-1, 1), row_norm=None, intercept=True)
    assert not stays_sparse(sparse, some)
    assert not stays_sparse(sparse, design_of(bounds="private", shifted=True))
    assert not stays_sparse(sparse, design_of(feature_map=Polynomial(2)))
    persons = replace(design_of(), attached=AttachedColumns(unit=Unit("unit", 2)))
    assert not stays_sparse(sparse, persons)
    assert (content(admit(sparse, some)) == content(admit(dense, some))).all()
