import numpy as np
import pytest

from tacit.errors import DataError, SchemaError
from tacit.rows.sources.opening import open_source
from tacit.rows.sources.source import (
    readable_names,
    require_columns,
    require_distinct,
    require_records,
    require_table,
    separate_response_name,
)


def test_response_name_avoids_the_columns() -> None:
    assert separate_response_name(()) == "y"
    assert separate_response_name(("y", "y_")) == "y__"


def test_unknown_columns_are_named_with_the_known_ones() -> None:
    with pytest.raises(SchemaError, match=r"no column 'c'\. It has: 'a', 'b'"):
        require_columns(("a", "b"), ["a", "c", "c"])


def test_response_beside_the_table_is_readable() -> None:
    source = open_source(np.zeros((2, 1)), response=[0, 1])
    assert readable_names(source) == ("x0", "y")


def test_repeated_names_are_refused() -> None:
    with pytest.raises(DataError, match="'a'"):
        require_distinct(("a", "b", "a"))


@pytest.mark.parametrize(
    ("length", "text"), [(0, "fewer than 2 records"), (1, "fewer than 2 records")]
)
def test_t08_empty_and_single_record_tables_are_refused(length: int, text: str) -> None:
    with pytest.raises(DataError, match=text):
        require_records(length)
    with pytest.raises(DataError, match=text):
        require_table(length, 3)


def test_table_without_columns_is_refused() -> None:
    with pytest.raises(DataError, match="no columns"):
        require_table(5, 0)
