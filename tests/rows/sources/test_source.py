import numpy as np
import pandas as pd
import pytest

from tacit.errors import DataError, FileError, SchemaError
from tacit.rows.sources.opening import open_source
from tacit.rows.sources.source import names_read, require_columns, require_distinct, require_records, require_table


def test_response_name_avoids_the_columns() -> None:
    table = pd.DataFrame({"y": [1.0, 2.0], "y_": [3.0, 4.0]})
    assert open_source(table, response=[0, 1]).response == "y__"


def test_unknown_columns_are_named_with_the_known_ones() -> None:
    with pytest.raises(SchemaError, match=r"no column 'c'\. It has: 'a', 'b'"):
        require_columns(("a", "b"), ["a", "c", "c"])


def test_a_name_in_other_letters_and_an_index_are_told_of() -> None:
    with pytest.raises(SchemaError, match="Is it 'Age'"):
        require_columns(("Age", "b"), ["age", "b"], "pandas")
    with pytest.raises(SchemaError, match="reset_index"):
        require_columns(("b", "c"), ["age", "b"], "pandas")
    with pytest.raises(SchemaError) as file:
        require_columns(("b", "c"), ["age", "b"])
    assert "index" not in str(file.value)


def test_an_address_is_told_from_a_missing_file() -> None:
    with pytest.raises(FileError, match="download it first"):
        open_source("https://example.org/a.csv")


def test_an_attached_response_is_readable() -> None:
    source = open_source(np.zeros((2, 1)), response=[0, 1])
    assert names_read(source) == ("x0", "y")


def test_repeated_names_are_refused() -> None:
    with pytest.raises(DataError, match="'a'"):
        require_distinct(("a", "b", "a"))


@pytest.mark.parametrize(("length", "text"), [(0, "fewer than 2 records"), (1, "fewer than 2 records")])
def test_t08_empty_and_single_record_tables_are_refused(length: int, text: str) -> None:
    with pytest.raises(DataError, match=text):
        require_records(length)
    with pytest.raises(DataError, match=text):
        require_table(length, 3)


def test_table_without_columns_is_refused() -> None:
    with pytest.raises(DataError, match="no columns"):
        require_table(5, 0)
