import numpy as np

from tacit.rows.sources.arrays import MatrixSource
from tacit.rows.sources.opening import open_source


def test_batches_are_slices_in_order() -> None:
    X = np.arange(14.0).reshape(7, 2)
    source = open_source(X, response=np.arange(7))
    for _ in range(2):
        batches = list(source.batches(3, numeric=source.names, labels=("y",)))
        assert [batch.length for batch in batches] == [3, 3, 1]
        np.testing.assert_array_equal(np.vstack([b.numeric(source.names) for b in batches]), X)
        assert np.concatenate([b.labels("y") for b in batches]).tolist() == list(range(7))


def test_chosen_columns_in_the_order_asked() -> None:
    X = np.arange(6.0).reshape(2, 3)
    batch = next(open_source(X).batches(9, numeric=(), labels=()))
    block = batch.numeric(("x2", "x0"))
    assert block.tolist() == [[2.0, 0.0], [5.0, 3.0]]
    assert block.flags.c_contiguous
    assert batch.labels("x1").tolist() == [1.0, 4.0]


def test_block_is_a_view_where_it_can_be() -> None:
    X = np.zeros((4, 2))
    batch = next(open_source(X).batches(4, numeric=(), labels=()))
    assert np.shares_memory(batch.numeric(("x0", "x1")), X)


def test_repr_shows_no_values() -> None:
    assert "31337" not in repr(open_source(np.full((2, 1), 31337.0), response=[31337, 0]))


def test_a_signalling_nan_is_not_warned_of() -> None:
    cells = np.ones((2, 1), dtype=np.float32)
    cells.view(np.uint32)[1] = 0x7FA00000
    batch = next(MatrixSource(cells, names=("x0",), length=len(cells)).batches(2, numeric=("x0",), labels=()))
    np.testing.assert_array_equal(batch.numeric(("x0",)), [[1.0], [np.nan]])
