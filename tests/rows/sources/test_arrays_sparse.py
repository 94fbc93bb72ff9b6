"""Sparse matrices are read record by record, whatever their format and however untidy."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from tacit.errors import DataError
from tacit.rows.sources.arrays import SparseSource
from tacit.rows.sources.opening import open_source
from tacit.rows.sources.source import Batch, SparseRows

DENSE = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [1.5, 0.0, -3.0], [0.0, 0.0, 4.0]])
NAMES = ("x0", "x1", "x2")


def whole(source: SparseSource) -> Batch:
    return next(source.batches(source.length or 1, numeric=(), labels=()))


def rows_in(batch: Batch) -> SparseRows:
    assert batch.sparse_rows is not None
    return batch.sparse_rows()


def raw(data: Any, indices: Any, starts: Any, width: int = 3) -> Any:
    """A CSR array exactly as given, duplicates and disorder included."""
    matrix = sp.csr_array((len(starts) - 1, width), dtype=np.asarray(data).dtype)
    matrix.data = np.asarray(data)
    matrix.indices, matrix.indptr = np.asarray(indices), np.asarray(starts)
    return matrix


@pytest.mark.parametrize("format_", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
def test_every_format_is_read(format_: str, kind: Any) -> None:
    source = SparseSource.of(kind(DENSE).asformat(format_))
    assert (source.names, source.length, source.resident) == (NAMES, 4, True)
    assert whole(source).numeric(NAMES).tolist() == DENSE.tolist()
    assert whole(source).numeric(("x2", "x0")).tolist() == DENSE[:, [2, 0]].tolist()
    assert whole(source).labels("x1").tolist() == DENSE[:, 1].tolist()


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.float32, bool])
def test_every_real_type_is_read(dtype: Any) -> None:
    values = (DENSE > 0).astype(dtype)
    source = SparseSource.of(sp.csr_array(values))
    assert whole(source).numeric(NAMES).tolist() == (DENSE > 0).astype(float).tolist()


def test_one_complex_number_does_not_change_others() -> None:
    values = DENSE.astype(complex)
    values[1, 1] = 1j
    found = whole(SparseSource.of(sp.csr_array(values))).numeric(NAMES)
    expected = DENSE.copy()
    expected[1, 1] = np.inf
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("places", "values"),
    [([0], []), ([0, 7], [1.0, 2.0]), ([-1], [1.0]), ("ab", [1.0, 2.0]), ([0.5], [1.0]), (None, 3)],
)
def test_a_broken_list_concerns_its_own_record(places: Any, values: Any) -> None:
    matrix = sp.lil_array(DENSE)
    matrix.rows[1], matrix.data[1] = places, values
    found = whole(SparseSource.of(matrix)).numeric(NAMES)
    assert np.isnan(found[1]).all()
    assert np.delete(found, 1, axis=0).tolist() == np.delete(DENSE, 1, axis=0).tolist()
    matrix.rows[1], matrix.data[1] = [2, 0], ["x", 1]
    assert whole(SparseSource.of(matrix)).numeric(NAMES)[1].tolist() == [1.0, 0.0, np.inf]


@pytest.mark.parametrize("rows", [1, 2, 3, 9])
def test_batches_keep_order_and_cover_all(rows: int) -> None:
    batches = [*SparseSource.of(sp.csr_array(DENSE)).batches(rows, numeric=(), labels=())]
    assert [batch.length for batch in batches][:-1] == [rows] * (len(batches) - 1)
    assert np.concatenate([batch.numeric(NAMES) for batch in batches]).tolist() == DENSE.tolist()


def test_duplicates_are_added_and_disorder_is_put_in_order() -> None:
    matrix = raw([1.0, 2.0, 5.0, 0.5], [2, 0, 1, 2], [0, 2, 2, 4])
    rows = rows_in(whole(SparseSource.of(matrix)))
    assert rows.indices.tolist() == [0, 2, 1, 2]
    assert rows.values.tolist() == [2.0, 1.0, 5.0, 0.5]
    twice = raw([1.0, 2.0, 4.0], [2, 0, 2], [0, 3, 3])
    assert whole(SparseSource.of(twice)).numeric(NAMES).tolist() == [[2.0, 0.0, 5.0], [0.0] * 3]


def test_flags_of_the_matrix_are_not_believed_and_it_is_left_alone() -> None:
    matrix = raw([1.0, 2.0, 4.0], [2, 0, 2], [0, 3, 3])
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    before = matrix.data.tolist(), matrix.indices.tolist(), matrix.indptr.tolist()
    assert rows_in(whole(SparseSource.of(matrix))).indices.tolist() == [0, 2]
    assert (matrix.data.tolist(), matrix.indices.tolist(), matrix.indptr.tolist()) == before


def test_t08_an_untidy_record_does_not_change_how_others_are_read() -> None:
    tidy = rows_in(whole(SparseSource.of(raw([1.0, 2.0, 7.0], [0, 2, 1], [0, 2, 3]))))
    matrix = raw([1.0, 2.0, 7.0, 1.0], [0, 2, 1, 1], [0, 2, 4])
    untidy = rows_in(whole(SparseSource.of(matrix)))
    assert untidy.values[:2].tolist() == tidy.values[:2].tolist()
    assert untidy.indices[:2].tolist() == tidy.indices[:2].tolist()


def test_wide_indices_are_not_folded_into_the_table() -> None:
    matrix = raw([1.0, 1.0], np.array([2**32 + 1, 1]), np.array([0, 1, 2]))
    block = whole(SparseSource.of(matrix)).numeric(NAMES)
    assert np.isnan(block[0]).all()
    assert block[1].tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("indices", "starts"),
    [
        ([0, 1], [0, 3, 3]),
        ([0, 1], [0, 2, 1]),
        ([0, 1], [1, 1, 2]),
        ([0, 1], [0, 2]),
        ([0], [0, 1, 1]),
        ([[0, 1]], [0, 1, 2]),
        ([0.0, 1.0], [0, 1, 2]),
    ],
)
def test_t41_a_broken_matrix_is_refused_without_its_values(indices: Any, starts: Any) -> None:
    matrix = sp.csr_array((2, 3))
    matrix.data = np.array([77.25, 77.25])
    matrix.indices, matrix.indptr = np.array(indices), np.array(starts)
    with pytest.raises(DataError, match="broken") as caught:
        SparseSource.of(matrix)
    assert "77" not in str(caught.value)


@pytest.mark.parametrize(
    ("matrix", "text"),
    [
        (sp.coo_array(np.ones(3)), "two dimensions"),
        (sp.csr_array((3, 0)), "no columns"),
        (sp.csr_array((1, 2)), "fewer than 2"),
    ],
)
def test_what_is_no_table_is_refused(matrix: Any, text: str) -> None:
    with pytest.raises(DataError, match=text):
        SparseSource.of(matrix)


def test_opening_puts_the_response_beside() -> None:
    source = open_source(sp.csr_array(DENSE), [0, 1, 1, 0])
    assert (source.names, source.response, source.length) == (NAMES, "y", 4)
    batch = next(source.batches(2, numeric=(), labels=("y",)))
    assert [int(label) for label in batch.labels("y")] == [0, 1]
    assert batch.numeric(("x1",)).tolist() == [[2.0], [0.0]]
    with pytest.raises(DataError, match="equally many"):
        open_source(sp.csr_array(DENSE), [0, 1])
    with pytest.raises(DataError, match="no column names"):
        open_source(sp.csr_array(DENSE), "x0")
