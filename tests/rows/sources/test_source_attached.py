from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tacit.errors import DataError, SchemaError
from tacit.rows.sources.opening import open_source
from tacit.rows.sources.source import attached_names, column_types, names_read

X = np.arange(14.0).reshape(7, 2)
WEIGHT = np.arange(7) / 8
UNIT = list("aabbbcc")


def test_batches_hold_the_same_records_of_table_and_columns() -> None:
    source = open_source(X, np.arange(7), attached={"sample_weight": WEIGHT, "unit": UNIT})
    names = ("x1", "sample_weight", "x0", "y")
    for _ in range(2):
        batches = list(source.batches(3, numeric=names, labels=("unit",)))
        assert [batch.length for batch in batches] == [3, 3, 1]
        table = np.vstack([batch.numeric(names) for batch in batches])
        expected = np.column_stack([X[:, 1], WEIGHT, X[:, 0], np.arange(7)])
        np.testing.assert_array_equal(table, expected)
        assert np.concatenate([batch.labels("unit") for batch in batches]).tolist() == UNIT


def test_batches_that_ask_for_none_of_them_are_views() -> None:
    source = open_source(X, np.arange(7), attached={"sample_weight": WEIGHT})
    batch = next(source.batches(7, numeric=source.names, labels=("y",)))
    assert np.shares_memory(batch.numeric(source.names), X)


def test_names_avoid_the_columns_and_each_other() -> None:
    frame = pd.DataFrame({"y": [1.0, 2.0], "unit": [1, 2], "unit_": [3, 4]})
    source = open_source(frame, [0, 1], attached={"unit": ["p", "q"], "y": [5.0, 6.0]})
    assert source.names == ("y", "unit", "unit_")
    assert source.response == "y_"
    assert attached_names(source) == {"unit": "unit__", "y": "y__"}
    assert names_read(source) == ("y", "unit", "unit_", "y_", "unit__", "y__")
    batch = next(source.batches(2, numeric=("y", "y__"), labels=("unit", "unit__", "y_")))
    assert batch.numeric(("y", "y__")).tolist() == [[1.0, 5.0], [2.0, 6.0]]
    assert batch.labels("unit").tolist() == [1, 2]
    assert batch.labels("unit__").tolist() == ["p", "q"]
    assert batch.labels("y_").tolist() == [0, 1]


def test_a_column_of_the_table_may_be_named(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1.0, 2.0], "out": [0, 1], "w": [0.5, 0.25]})
    path = tmp_path / "a.csv"
    frame.write_csv(path)
    for data in (frame, path):
        source = open_source(data, "out", attached={"sample_weight": "w", "unit": None})
        assert source.response == "out"
        assert attached_names(source) == {"sample_weight": "w"}
        assert names_read(source) == ("a", "out", "w")
        batch = next(source.batches(2, numeric=("w",), labels=("out",)))
        assert batch.numeric(("w",)).tolist() == [[0.5], [0.25]]
        with pytest.raises(SchemaError, match="'a', 'out', 'w'"):
            open_source(data, "out", attached={"sample_weight": "weight"})


def test_nothing_beside_leaves_the_source_as_it_is(tmp_path: Path) -> None:
    assert type(open_source(X)) is type(open_source(X, attached={"unit": None}))
    assert attached_names(open_source(X)) == {}
    assert names_read(open_source(X)) == ("x0", "x1")


def test_files_take_names_only(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,0\n2,1\n")
    with pytest.raises(DataError, match="columns of the file"):
        open_source(path, "y", attached={"sample_weight": [1.0, 2.0]})


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        ([31337.0] * 3, "'sample_weight' and the table must have equally many"),
        (np.full((7, 1), 31337.0), "'sample_weight' must have one dimension"),
    ],
)
def test_t41_columns_that_do_not_fit_are_refused_without_a_value(weights: Any, text: str) -> None:
    with pytest.raises(DataError, match=text) as caught:
        open_source(X, attached={"sample_weight": weights})
    assert "3" not in str(caught.value)


def test_what_is_no_number_is_infinite() -> None:
    source = open_source(X, attached={"sample_weight": [1.0] * 5 + ["canary", [1.0]]})
    batch = next(source.batches(7, numeric=("sample_weight",), labels=()))
    assert batch.numeric(("sample_weight",))[:, 0].tolist() == [1.0] * 5 + [np.inf] * 2


def test_types_that_are_taken_as_given(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,0\n2,1\n")
    assert column_types(open_source(path)) == {}
    assert column_types(open_source([[1.0], [2.0]], [0, 1])) == {}
    frame = pd.DataFrame({"x": [1.0, 2.0]})
    source = open_source(frame, np.array([0, 1]), attached={"unit": pl.Series([1, 2]), "w": [1, 2]})
    given = {"columns of the table": "pandas", "y": "numpy", "unit": "polars"}
    assert column_types(source) == given
    # One record can make objects of numbers, and must not be told of.
    mixed = pd.DataFrame({"x": [1.0, "a"]})
    source = open_source(mixed, np.array([0, "b"]), attached={"unit": pl.Series([1, 2]), "w": [1, 2]})
    assert column_types(source) == given


def test_missing_cells_are_nan() -> None:
    source = open_source(X[:3], attached={"a": [1, None, 2.5], "b": pd.Series([True, None, False])})
    batch = next(source.batches(3, numeric=("a", "b"), labels=()))
    np.testing.assert_array_equal(batch.numeric(("a", "b")), [[1, 1], [np.nan] * 2, [2.5, 0]])


def test_repr_shows_no_values() -> None:
    source = open_source(np.full((2, 1), 31337.0), [31337, 0], attached={"w": [31337.0, 1.0]})
    batch = next(source.batches(2, numeric=("w",), labels=()))
    assert "31337" not in repr(source) + repr(batch)
