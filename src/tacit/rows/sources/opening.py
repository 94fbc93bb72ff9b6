"""Opening a table: what the user gives becomes a source or a description of its columns.

Private: the table and the attached columns. Only names, types and lengths are read here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tacit.design.reading import FileFormat, Reading
from tacit.errors import DataError
from tacit.rows.encoding.cells import READABLE_KINDS, not_numeric
from tacit.rows.sources import arrays
from tacit.rows.sources import source as sources
from tacit.rows.sources.csv_file import CsvSource, proposed_format, read_header
from tacit.rows.sources.dask_frame import DaskSource, declared_frame, is_dask_frame
from tacit.rows.sources.data_frame import FrameSource, as_frame, holds_objects
from tacit.rows.sources.declared_cells import DeclaredSource
from tacit.rows.sources.file_set import FileSet, files_of, require_one_kind
from tacit.rows.sources.source import ColumnKind, Source


def open_source(
    data: Any,
    response: Any = None,
    *,
    attached: Mapping[str, Any] | None = None,
    fewest: int = 2,
    counted: bool = True,
    reading: Reading | None = None,
) -> Source:
    """Source of a matrix (sparse ones too), a pandas, polars, pyarrow or Dask table, or of one file or several.

    The response is a column of the table (named, or left to the design) or a sequence, then called "y". `attached` has
    other columns (weights, exposures, persons) by the caller's word for them: a sequence, the name of a column of the
    table, or None. A sequence goes by its word, underscored until nothing else is called so; `attached_names` tells.
    `reading` is what is declared of how the table is written.

    Guarantee: fewer than `fewest` records (two for a fit of a public number of them), no columns, unequal lengths and
    matrices of dates are refused, with a message that holds no value. Where `fewest` is 0, a table without records is
    one like any other. A list of records is then refused whatever it holds, since an empty one would have no columns.
    Where they are not `counted`, no number of records is refused: units are counted later, or nothing is fitted.
    """
    if fewest == 0 and files_of(data) is None and arrays.is_sequence(data):
        why = "without any it would have no columns. Give an array of shape (records, columns), or a table."
        raise DataError(f"Where the number of records is private, a list of records is not read: {why}")
    fewest = fewest if counted else 0
    named = response if isinstance(response, str) else None
    separate = None if named is not None else response
    reading = reading or Reading()
    table: Source
    if (paths := files_of(data)) is not None:
        table = _open_files(paths, named, separate, fewest, reading.file)
    elif is_dask_frame(data):
        table = DaskSource.of(data, named)
    elif not isinstance(data, np.ndarray) and (frame := as_frame(data)) is not None:
        table = FrameSource.of(frame, named, fewest)
    else:
        table = _open_matrix(data, named, fewest)
    if not reading.is_plain:
        table = DeclaredSource.of(table, reading)
    given = {word: cells for word, cells in (attached or {}).items() if cells is not None}
    return table if separate is None and not given else _attach(table, separate, given)


def open_columns(columns: Mapping[str, NDArray[Any]]) -> Source:
    """Source of simulated columns by name: numbers, or labels as text."""
    return FrameSource.of(nw.from_dict(dict(columns), backend="pyarrow"), None, 0)


def _open_files(
    paths: Sequence[Path], response: str | None, separate: object, fewest: int, written: FileFormat
) -> Source:
    if separate is not None:
        raise DataError("The response of a file is one of its columns; give the column's name.")
    if len(paths) == 1:
        source = _open_file(paths[0], response, fewest, written)
    else:
        source = _open_many(paths, response, fewest, written)
    if response is not None:
        sources.require_columns(source.names, [response])
    return source


def _open_many(paths: Sequence[Path], response: str | None, fewest: int, written: FileFormat) -> Source:
    require_one_kind(paths)
    # One of several files may be empty, as long as all together are not.
    opened = [_open_file(path, response, 0, written) for path in paths]
    source = FileSet.of(paths, opened, [describe(path, written).kinds for path in paths])
    if source.length is not None:
        sources.require_records(source.length, fewest)
    return source


def _open_file(path: Path, response: str | None, fewest: int, written: FileFormat) -> Source:
    # pyarrow takes long to import, and only files need it.
    if sources.file_kind(path) == ".parquet":
        from tacit.rows.sources.arrow import ParquetSource

        return ParquetSource.open(path, response, fewest)
    return CsvSource.open(path, response, written)


def _open_matrix(data: Any, response: str | None, fewest: int) -> Source:
    if response is not None:
        raise DataError("A matrix has no column names; give the response as a sequence.")
    if hasattr(data, "tocsr"):
        return arrays.SparseSource.of(data, fewest)
    if isinstance(data, Mapping):
        raise DataError("A dict of columns is no table; make one of it, for example pandas.DataFrame(data).")
    values = arrays.as_matrix(data)
    if values.ndim != 2:
        expected = "Expected a table of two dimensions, records by columns"
        raise DataError(
            f"{expected}; got {values.ndim}. Reshape your data: a single column is X.reshape(-1, 1), "
            "and a list of dicts becomes a table by pandas.DataFrame(data)."
        )
    sources.require_table(len(values), values.shape[1], fewest)
    names = tuple(f"x{j}" for j in range(values.shape[1]))
    if values.dtype.kind not in READABLE_KINDS:
        raise not_numeric(names[0])
    library = None if arrays.is_sequence(data) else "numpy"
    return arrays.MatrixSource(values, names=names, length=len(values), typed_by=library)


def _attach(table: Source, response: Any, given: Mapping[str, Any]) -> Source:
    by_name = {word: cells for word, cells in given.items() if isinstance(cells, str)}
    sources.require_columns(sources.names_read(table), by_name.values())
    if not table.resident and len(by_name) < len(given):
        beside = "What stands beside the records of a file must be columns of the file"
        raise DataError(f"{beside}: give their names in place of arrays.")
    columns: dict[str, NDArray[Any]] = {}
    types: dict[str, str | None] = {}
    texts: set[str] = set()

    def attach(name: str, cells: Any, what: str) -> str:
        while name in table.names or name in columns:
            name += "_"
        columns[name] = arrays.as_column(cells, what, table.length or 0)
        types[name] = arrays.typed_by(cells)
        if arrays.is_text_column(cells):
            texts.add(name)
        return name

    name = table.response if response is None else attach("y", response, "The response")
    others = {word: cells for word, cells in given.items() if word not in by_name}
    known_as = by_name | {word: attach(word, cells, repr(word)) for word, cells in others.items()}
    own = {part: getattr(table, part) for part in ("names", "length", "resident", "typed_by")}
    return sources.AttachedSource(table, columns, known_as, types, frozenset(texts), response=name, **own)


@dataclass(frozen=True)
class Description:
    """Column names and their kinds, in the order of the table."""

    names: tuple[str, ...]
    kinds: tuple[ColumnKind, ...]


def describe(table: Any, written: FileFormat | None = None) -> Description:
    """Names and kinds of columns; those of a CSV file and of Python objects are "unknown".

    Guarantee: no value is read and no statistic of values: tables of the same types have the same description.
    """
    if (paths := files_of(table)) is not None:
        path = paths[0]
        sources.FileState.of(path)
        if sources.file_kind(path) == ".parquet":
            from tacit.rows.sources.arrow import arrow_kind, read_footer

            schema, _ = read_footer(path)
            return Description(tuple(schema.names), tuple(arrow_kind(part.type) for part in schema))
        names = read_header(path, written)
        sources.require_distinct(names)
        return Description(names, tuple("unknown" for _ in names))
    frame = declared_frame(table) if is_dask_frame(table) else as_frame(table)
    if frame is not None:
        names = tuple(map(str, frame.columns))
        sources.require_distinct(names)
        return Description(names, tuple(_series_kind(frame[:, j]) for j in range(len(names))))
    if isinstance(table, np.ndarray) and table.ndim == 2:
        kinds: dict[str, ColumnKind] = {"b": "boolean", "U": "text", "M": "date", "O": "unknown"}
        kinds |= dict.fromkeys("iuf", "numeric")
        kind = kinds.get(table.dtype.kind, "other")
        return Description(tuple(f"x{j}" for j in range(table.shape[1])), (kind,) * table.shape[1])
    raise DataError("Only files, eager tables and two-dimensional arrays can be described.")


def proposed(table: Any) -> FileFormat:
    """The format that the first line of a text file lets one suppose; the usual one of any other table.

    Guarantee: nothing after the first line is read.
    """
    paths = files_of(table)
    if paths is None or sources.file_kind(paths[0]) == ".parquet":
        return FileFormat()
    sources.FileState.of(paths[0])
    return proposed_format(paths[0])


def _series_kind(series: nw.Series[Any]) -> ColumnKind:
    # Asked first: the type of a column of objects would be guessed from its values.
    if holds_objects(series):
        return "unknown"
    dtype = series.dtype
    kinds: dict[ColumnKind, bool] = {
        "boolean": dtype == nw.Boolean,
        "numeric": dtype.is_integer() or dtype.is_float(),
        "date": dtype.is_temporal(),
        "text": dtype in {nw.String, nw.Categorical, nw.Enum},
    }
    return next((kind for kind, holds in kinds.items() if holds), "other")
