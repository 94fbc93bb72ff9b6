"""A pandas, polars or pyarrow table as a source, by narwhals. Private: the cells. Public: names, types."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.rows.encoding.cells import not_numeric, plain_labels, quiet, to_float64
from tacit.rows.sources import source as sources
from tacit.rows.sources.source import Batch, Names, Source
from tacit.rows.storage.tiles import Floats

WIDE = frozenset({nw.Int128, nw.UInt128})  # integers that numpy does not have


def as_frame(data: Any) -> nw.DataFrame[Any] | None:
    """The eager table in an object, or None where it is no table of named columns."""
    repeated = False
    try:
        frame = nw.from_native(data, pass_through=True)
        known = isinstance(frame, nw.DataFrame | nw.LazyFrame)
        # Arrays of a single column offer the stream too, but have no schema.
        if not known and hasattr(frame, "__arrow_c_stream__") and hasattr(frame, "schema"):
            frame = _read_stream(frame)
    except DuplicateError:
        repeated = True
    if repeated:
        raise DataError("Column names must differ; rename the columns.")
    if isinstance(frame, nw.LazyFrame):
        raise DataError("A lazy table holds no records yet; call .collect() on it first.")
    return frame if isinstance(frame, nw.DataFrame) else None


def _read_stream(stream: Any) -> nw.DataFrame[Any]:
    """The table in a stream of Arrow's; whoever makes it as it is read may fail, and quote a cell."""
    table = None
    with contextlib.suppress(Exception):
        table = nw.from_arrow(stream, backend="pyarrow")
    if table is None:
        raise DataError("A stream of Arrow's records could not be read to its end.")
    return table


@dataclass(frozen=True)
class FrameSource(Source):
    """A table in memory; its columns are converted one by one, and only those asked for."""

    frame: nw.DataFrame[Any] = field(repr=False)

    @classmethod
    def of(cls, frame: nw.DataFrame[Any], response: str | None, fewest: int) -> FrameSource:
        """Source of an eager table."""
        names = tuple(map(str, frame.columns))
        sources.require_distinct(names)
        sources.require_table(len(frame), len(names), fewest)
        if response is not None:
            sources.require_columns(names, [response])
        return cls(frame, names=names, response=response, length=len(frame), typed_by=str(frame.implementation.value))

    def text_among(self, names: Names) -> list[str]:
        """Those of the columns whose type is text; a column of objects has none."""
        place = {name: index for index, name in enumerate(self.names)}
        return [name for name in names if name in place and is_text(self.frame[:, place[name]])]

    def batches(self, rows: int, *, numeric: Names, labels: Names) -> Iterator[Batch]:
        """Slices of the converted numeric columns and of the raw label columns."""
        # By position: pandas columns may be named by numbers, which the source knows as text.
        place = {name: index for index, name in enumerate(self.names)}
        numbers = {name: series_numbers(self.frame[:, place[name]], name) for name in numeric}
        raw = {name: self.frame[:, place[name]] for name in labels}
        for name, series in raw.items():
            column = _arrow_column(series)
            if column is not None:
                from tacit.rows.sources.arrow import require_types

                require_types({name: column.type}, (), (name,))
            elif not holds_objects(series) and series.dtype.is_nested():
                raise DataError(f"Column {name!r} holds nested values, which are no labels.")

        def cells(own: slice, names: Names) -> Floats:
            block = np.empty((own.stop - own.start, len(names)), dtype=np.float64)
            with quiet():
                for j, name in enumerate(names):
                    block[:, j] = numbers[name][own]
            return block

        for start in range(0, len(self.frame), rows):
            own = slice(start, min(start + rows, len(self.frame)))
            values = partial(lambda own, name: series_labels(raw[name][own]), own)
            yield Batch(own.stop - start, partial(cells, own), values)


def holds_objects(series: nw.Series[Any]) -> bool:
    """Whether the column stores Python objects, whose type only the cells could tell."""
    dtype = getattr(series.to_native(), "dtype", None)
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def is_text(series: nw.Series[Any]) -> bool:
    """Whether the type of a column is text, or categories that are text."""
    column = _arrow_column(series)
    if column is not None:
        from tacit.rows.sources.arrow import is_text_type

        return is_text_type(column.type)
    if holds_objects(series):
        return False
    if series.dtype == nw.Categorical and series.implementation.is_pandas_like():
        categories = nw.from_native(series.to_native().cat.categories.to_series(), series_only=True)
        return is_text(categories)
    return series.dtype in {nw.String, nw.Binary, nw.Categorical, nw.Enum}


def stored_by_arrow(native: Any) -> Any:
    """The Arrow column in a pandas column that is stored as one, or None."""
    # pandas would make Python's objects of its cells, and raise for dates and text that are none.
    cells = getattr(native, "array", native)
    dtype = getattr(cells, "dtype", None)
    if hasattr(dtype, "pyarrow_dtype") or getattr(dtype, "storage", None) == "pyarrow":
        return cells.__arrow_array__()
    return None


def _arrow_column(series: nw.Series[Any]) -> Any:
    native = series.to_native()
    return native if series.implementation.is_pyarrow() else stored_by_arrow(native)


def series_numbers(series: nw.Series[Any], name: str) -> NDArray[Any]:
    """Numbers of a column, plain floats without a copy. Guarantee: its type alone decides whether it is refused."""
    column = _arrow_column(series)
    if column is not None:
        from tacit.rows.sources.arrow import arrow_numbers, require_types

        require_types({name: column.type}, (name,), ())
        return arrow_numbers(column.combine_chunks())
    dtype = series.dtype
    if holds_objects(series) or dtype in {nw.Unknown, nw.Object}:
        return to_float64(_object_cells(series), name)
    if dtype.is_float():
        return series.to_numpy()
    if dtype.is_temporal() or dtype.is_nested():
        raise not_numeric(name)
    if dtype in WIDE or not (dtype.is_integer() or dtype == nw.Boolean):
        return to_float64(series_labels(series), name)
    # Nulls are filled first: a cast of integers with nulls may fail and quote the integer.
    absent = series.is_null()
    if not absent.any():
        return series.to_numpy()
    filled = series.fill_null(value=False if dtype == nw.Boolean else 0)
    numbers = np.array(to_float64(filled.to_numpy(), name))
    numbers[absent.to_numpy()] = np.nan
    return numbers


def series_labels(series: nw.Series[Any]) -> NDArray[Any]:
    """Raw labels of a column; missing ones are None, or NaN among floats."""
    column = _arrow_column(series)
    if column is not None:
        from tacit.rows.sources.arrow import arrow_labels

        return arrow_labels(column.combine_chunks())
    library, dtype = series.implementation, series.dtype
    if holds_objects(series) or dtype in {nw.Unknown, nw.Object}:
        return plain_labels(_object_cells(series))
    if dtype == nw.Categorical and library.is_pandas_like():
        # A missing one, in the last place by its code -1, would make floats of integers.
        cells = series.to_native().cat
        categories = plain_labels(_cells_of(cells.categories)).astype(object)
        return np.asarray(np.concatenate([categories, np.array([None])])[cells.codes.to_numpy()])
    if library.is_polars() and getattr(dtype, "time_zone", None) is not None:
        from tacit.rows.sources.arrow import arrow_labels

        return arrow_labels(series.to_arrow())
    # Dates not as Python's, which end in the year 9999.
    dated = dtype.is_temporal() and library.is_polars()
    whole = (dtype.is_integer() and dtype not in WIDE) or dtype == nw.Boolean
    if dtype.is_float() or dated or (whole and not series.is_null().any()):
        return plain_labels(series.to_numpy())
    return _present_labels(series)


def _present_labels(series: nw.Series[Any]) -> NDArray[Any]:
    labels = np.full(len(series), None, dtype=object)
    present = series.filter(~series.is_null())
    if series.dtype in {nw.Categorical, nw.Enum}:
        present = present.cast(nw.String)
    if series.implementation.is_polars() and present.dtype == nw.String:
        # Text that came from Arrow unchecked would let polars panic.
        cells = [text.decode(errors="replace") for text in present.cast(nw.Binary).to_list()]
    elif getattr(getattr(present.to_native(), "dtype", None), "tz", None) is not None:
        cells = _cells_of(present.to_native()).tolist()
    else:
        cells = present.to_list()
    labels[~series.is_null().to_numpy()] = np.fromiter(cells, dtype=object, count=len(cells))
    return labels


def _object_cells(series: nw.Series[Any]) -> NDArray[Any]:
    if series.implementation.is_polars():
        return np.fromiter(series.to_list(), dtype=object, count=len(series))
    return _cells_of(series.to_native())


def _cells_of(native: Any) -> NDArray[Any]:
    """Cells of pandas', times with a zone as its own; where one cannot be had, as no number and no label.

    pandas raises for a time that its zone would move beyond the last or the first one, and quotes it.
    """
    with contextlib.suppress(Exception):
        return np.asarray(native)
    return np.fromiter((_cell(native, place) for place in range(len(native))), dtype=object, count=len(native))


def _cell(native: Any, place: int) -> Any:
    with contextlib.suppress(Exception):
        return native.iloc[place] if hasattr(native, "iloc") else native[place]
    return []
