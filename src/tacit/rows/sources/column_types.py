"""Names and kinds of the columns of a table: all that may be known without reading a value.

Private: the values and the statistics in a Parquet footer; neither is looked at.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import narwhals as nw
import numpy as np

from tacit.errors import DataError
from tacit.rows.sources.csv_lines import read_header
from tacit.rows.sources.data_frame import as_frame, holds_objects
from tacit.rows.sources.files import FileState, file_kind
from tacit.rows.sources.source import require_distinct

if TYPE_CHECKING:
    import pyarrow as pa

Kind = Literal["numeric", "boolean", "text", "date", "other", "unknown"]


@dataclass(frozen=True)
class Description:
    """Column names and their kinds, in the order of the table."""

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]


def describe(table: Any) -> Description:
    """Names and kinds of the columns of a file or a table in memory.

    Every kind of a CSV file is "unknown", and that of columns of Python objects.

    Guarantee
    ---------
    - No value is read and no statistic of the values: a table of the same types with other values
      has the same description.
    """
    if isinstance(table, str | os.PathLike):
        return _describe_file(Path(table))
    frame = as_frame(table)
    if frame is not None:
        names = tuple(map(str, frame.columns))
        require_distinct(names)
        return Description(names, tuple(_series_kind(frame[:, j]) for j in range(len(names))))
    if isinstance(table, np.ndarray) and table.ndim == 2:
        kinds: dict[str, Kind] = {"b": "boolean", "U": "text", "M": "date", "O": "unknown"}
        kinds |= dict.fromkeys("iuf", "numeric")
        kind = kinds.get(table.dtype.kind, "other")
        return Description(tuple(f"x{j}" for j in range(table.shape[1])), (kind,) * table.shape[1])
    raise DataError("Only files, eager tables and two-dimensional arrays can be described.")


def _describe_file(path: Path) -> Description:
    FileState.of(path)
    if file_kind(path) != ".parquet":
        names = read_header(path)
        require_distinct(names)
        unknown: Kind = "unknown"
        return Description(names, (unknown,) * len(names))
    from tacit.rows.sources.arrow import read_footer

    schema, _ = read_footer(path)
    return Description(tuple(schema.names), tuple(_arrow_kind(field.type) for field in schema))


def _series_kind(series: nw.Series[Any]) -> Kind:
    # Asked first: the type of a column of objects would be guessed from its values.
    if holds_objects(series):
        return "unknown"
    dtype = series.dtype
    if dtype == nw.Boolean:
        return "boolean"
    if dtype.is_integer() or dtype.is_float():
        return "numeric"
    if dtype.is_temporal():
        return "date"
    return "text" if dtype in {nw.String, nw.Categorical, nw.Enum} else "other"


def _arrow_kind(kind: pa.DataType) -> Kind:
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_boolean(kind):
        return "boolean"
    if types.is_integer(kind) or types.is_floating(kind):
        return "numeric"
    if types.is_temporal(kind):
        return "date"
    text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    return "text" if text else "other"
