"""Encoded rows obey the public bounds whatever the values are."""

import numpy as np
import pytest

from benchmarks.accuracy import bundled
from benchmarks.accuracy.encoding import Encoder


def test_numbers_are_clipped_and_mapped() -> None:
    X, norm = Encoder().number([0.0, 5.0, 10.0, -99.0, 99.0, np.nan], 0, 10).rows()
    np.testing.assert_array_equal(X[:, 0], [-1, 0, 1, -1, 1, -1])
    np.testing.assert_array_equal(X[:, 1], np.ones(6))
    assert norm == pytest.approx(np.sqrt(2))


def test_logarithms_are_mapped_to_the_same_interval() -> None:
    X, _ = Encoder().number([0.0, 9.0, 99.0], 0, 99, log=True).rows()
    np.testing.assert_allclose(X[:, 0], [-1, 0, 1], atol=1e-6)


def test_unlisted_levels_have_no_indicator() -> None:
    X, norm = Encoder().category(["a", " b ", "c"], ["a", "b"]).rows()
    np.testing.assert_array_equal(X[:, :2], [[1, 0], [0, 1], [0, 0]])
    assert norm == pytest.approx(np.sqrt(2))


@pytest.mark.parametrize("load", [bundled.breast_cancer, bundled.digits, bundled.wine, bundled.diabetes])
def test_bundled_tables_keep_their_public_promises(load: object) -> None:
    assert callable(load)
    table = load()
    for X, y in ((table.X_train, table.y_train), (table.X_test, table.y_test)):
        assert np.abs(X).max() <= 1
        assert np.linalg.norm(X, axis=1).max() <= table.row_norm + 1e-5
        np.testing.assert_array_equal(X[:, -1], 1)
        assert table.y_bounds[0] <= y.min() < y.max() <= table.y_bounds[1]
    # Bounds that were too narrow would pile the rows up on them.
    on_the_bound = np.mean(table.features == 1, axis=0)
    assert on_the_bound.max() < 0.6
