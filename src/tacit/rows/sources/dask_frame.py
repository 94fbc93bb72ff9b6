"""A Dask dataframe as a source: one partition after the other is computed, read and dropped.

Private: the cells. Public: names and types, as the dataframe declares them, and the number of partitions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tacit.errors import DataError
from tacit.rows.sources import source as sources
from tacit.rows.sources.data_frame import FrameSource, as_frame
from tacit.rows.sources.source import Batch, Names, Source

DASK = frozenset({"dask", "dask_expr"})
HOLDERS = frozenset({"numpy", "pandas", "polars", "pyarrow", "scipy", "torch", "narwhals"})
"""Libraries whose arrays hold their cells, so that reading one does not fail by what another is."""
STREAM = "RecordBatchReader"
"""What Arrow calls a stream of records, which may be parsed as it is read."""


def is_dask_frame(data: Any) -> bool:
    """Whether an object is a Dask dataframe; Dask is not imported to tell."""
    return type(data).__module__.startswith("dask.") and hasattr(data, "partitions") and hasattr(data, "columns")


def is_computed_later(data: Any) -> bool:
    """Whether the cells of an object are computed when they are read: Dask's, Arrow's streams, classes unknown here.

    By its type alone, with all types that it is derived from.
    """
    kinds = type(data).__mro__
    owners = {kind.__module__.partition(".")[0] for kind in kinds}
    if owners & DASK or any(kind.__name__ == STREAM for kind in kinds):
        return True
    gives = hasattr(type(data), "__array__") or hasattr(type(data), "__arrow_c_stream__")
    return gives and not owners & HOLDERS


def declared_frame(data: Any) -> Any:
    """The table of no records that has the declared names and types of a Dask dataframe."""
    frame = as_frame(data._meta)  # noqa: SLF001 - Dask's name for what it declares of types
    if frame is None:
        raise DataError("Of Dask's collections, dataframes are read.")
    return frame


@dataclass(frozen=True)
class DaskSource(Source):
    """Records of a Dask dataframe, partition by partition; only the columns asked for are computed.

    Guarantee: memory holds one partition. A partition may be empty. An error of a computation, which could quote a
    cell, is not passed on.
    """

    frame: Any = field(repr=False)
    declared: FrameSource = field(repr=False)

    @classmethod
    def of(cls, data: Any, response: str | None) -> DaskSource:
        """Take names and types as they are declared; nothing is computed."""
        declared = FrameSource.of(declared_frame(data), response, 0)
        return cls(data, declared, names=declared.names, response=response, resident=False, typed_by=declared.typed_by)

    def text_among(self, names: Names) -> list[str]:
        """Those of the columns whose declared type is text."""
        return self.declared.text_among(names)

    def batches(self, rows: int, *, numeric: Names, labels: Names) -> Iterator[Batch]:
        """Batches of the columns asked for, partition after partition."""
        # Columns are refused by their declared types, before anything is computed.
        list(self.declared.batches(rows, numeric=numeric, labels=labels))
        place = {name: index for index, name in enumerate(self.names)}
        wanted = [self.frame.columns[place[name]] for name in dict.fromkeys((*numeric, *labels))]
        for index in range(self.frame.npartitions):
            part = None
            try:
                part = as_frame(self.frame[wanted].partitions[index].compute())
            except Exception:  # noqa: BLE001 - whatever Dask ran may say, it could quote a cell
                part = None
            if part is None:
                raise DataError("A partition of the Dask dataframe could not be computed.")
            if len(part):
                own = FrameSource.of(part, None, 0)
                sources.require_columns(own.names, (*numeric, *labels))
                yield from own.batches(rows, numeric=numeric, labels=labels)
