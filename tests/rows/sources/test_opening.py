from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from tacit.errors import DataError, FileError, SchemaError
from tacit.rows.sources.opening import open_source


@pytest.mark.parametrize(
    "response", [[0, 1], (0, 1), np.array([0, 1]), pd.Series([0, 1]), pl.Series([0, 1]), pa.array([0, 1])]
)
def test_response_of_every_type(response: Any) -> None:
    source = open_source([[1.0], [2.0]], response=response)
    batch = next(source.batches(2, numeric=(), labels=("y",)))
    assert [int(label) for label in batch.labels("y")] == [0, 1]


def test_response_beside_a_frame_keeps_the_frame_names() -> None:
    source = open_source(pd.DataFrame({"y": [1.0, 2.0]}), response=["a", "b"])
    assert (source.names, source.response) == (("y",), "y_")
    batch = next(source.batches(2, numeric=("y",), labels=("y_",)))
    assert batch.labels("y_").tolist() == ["a", "b"]


def test_response_named_in_the_frame() -> None:
    frame = pl.DataFrame({"a": [1.0, 2.0], "out": [0, 1]})
    assert open_source(frame, response="out").response == "out"
    with pytest.raises(SchemaError, match="'a', 'out'"):
        open_source(frame, response="other")


@pytest.mark.parametrize(
    ("data", "response", "text"),
    [
        (np.zeros(3), [0, 1, 1], "two dimensions"),
        (np.zeros((2, 2, 2)), [0, 1], "two dimensions"),
        (np.zeros((3, 2)), [0, 1], "equally many"),
        (np.zeros((2, 2)), np.zeros((2, 1)), "one dimension"),
        (np.zeros((0, 2)), [], "fewer than 2 records"),
        (np.zeros((1, 2)), [0], "fewer than 2 records"),
        (np.zeros((3, 0)), [0, 1, 1], "no columns"),
        (np.zeros((2, 2)), "y", "no column names"),
        ([1.0, 2.0], [0, 1], "two dimensions"),
        (np.zeros((2, 1), dtype="M8[s]"), [0, 1], "'x0'"),
        (np.zeros((2, 1), dtype="f8,f8"), [0, 1], "'x0'"),
        (scipy.sparse.eye_array(3), "y", "no column names"),
        (pl.LazyFrame({"a": [1, 2]}), None, "collect"),
        (pd.DataFrame({"a": []}), None, "fewer than 2 records"),
        (pa.table({}), None, "no columns"),
        (None, None, "two dimensions"),
    ],
)
def test_what_is_no_table_is_refused(data: Any, response: Any, text: str) -> None:
    with pytest.raises(DataError, match=text):
        open_source(data, response)


@pytest.mark.parametrize("dtype", ["object", "U8", "S8"])
def test_text_in_a_matrix_is_read_cell_by_cell(dtype: str) -> None:
    names = "x0", "x1"
    source = open_source(np.array([[1.0, "canary"], [2.0, "3"]], dtype=dtype), response=[0, 1])
    batch = next(source.batches(2, numeric=names, labels=()))
    assert batch.numeric(names).tolist() == [[1.0, np.inf], [2.0, 3.0]]


@pytest.mark.parametrize("records", [0, 1, 3])
def test_a_list_has_no_columns_of_its_own_where_their_number_is_private(records: int) -> None:
    """Refused whatever it holds, since an empty one has to be."""
    with pytest.raises(DataError, match="list of records is not read"):
        open_source([[1.0, 2.0]] * records, [0] * records, fewest=0)


@pytest.mark.parametrize(
    "data",
    [
        np.empty((0, 2)),
        scipy.sparse.csr_array((0, 2)),
        pd.DataFrame({"x0": [], "x1": []}),
        pl.DataFrame({"x0": [], "x1": []}),
        pa.table({"x0": [], "x1": []}),
    ],
)
def test_no_records_are_a_table_where_their_number_is_private(data: Any) -> None:
    source = open_source(data, [], fewest=0)
    assert source.names == ("x0", "x1")
    assert list(source.batches(10, numeric=("x0", "x1"), labels=("y",))) == []


def test_masked_cells_are_missing() -> None:
    masked = np.ma.MaskedArray([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    batch = next(open_source(masked).batches(2, numeric=(), labels=()))
    np.testing.assert_array_equal(batch.numeric(("x0", "x1")), [[1.0, np.nan], [3.0, 4.0]])


@pytest.mark.parametrize(
    "data",
    [
        np.eye(2),
        scipy.sparse.eye_array(2),
        pd.DataFrame({"x0": [1.0, 0.0], "x1": [0.0, 1.0]}),
        pl.DataFrame({"x0": [1.0, 0.0], "x1": [0.0, 1.0]}),
    ],
)
def test_columns_beside_every_kind_of_table(data: Any) -> None:
    source = open_source(data, response=[3, 5], attached={"sample_weight": [0.5, 2.0], "unit": None})
    assert (source.names, source.response, source.length) == (("x0", "x1"), "y", 2)
    names = ("x1", "y", "sample_weight")
    batch = next(source.batches(2, numeric=names, labels=()))
    assert batch.numeric(names).tolist() == [[0.0, 3.0, 0.5], [1.0, 5.0, 2.0]]


def test_files_take_the_name_of_a_response(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,0\n2,1\n")
    assert open_source(str(path), response="y").response == "y"
    with pytest.raises(DataError, match="column's name"):
        open_source(path, response=[0, 1])
    with pytest.raises(SchemaError, match="'x', 'y'"):
        open_source(path, response="z")
    with pytest.raises(FileError, match="parquet"):
        open_source(tmp_path / "a.xlsx")


def test_a_dict_of_columns_is_told_what_to_become() -> None:
    with pytest.raises(DataError, match=r"pandas\.DataFrame"):
        open_source({"x": [1.0, 2.0]})
