"""What a table must offer to be read: named columns, in batches of records.

Private: every value a batch hands out. Public: the names of the columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError, SchemaError


class Batch(Protocol):
    """Some consecutive records of a source."""

    @property
    def length(self) -> int:
        """Number of records."""

    def numeric(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Numeric columns as a C-contiguous (length, len(names)) matrix.

        Missing is NaN, and infinite what is no number.
        """

    def labels(self, name: str) -> NDArray[Any]:
        """Raw values of one column, of any dtype; missing is None or NaN."""


class Source(Protocol):
    """A table that can be read again and again from its first record.

    Guarantee
    ---------
    - `batches` starts at the first record each time and keeps the order of the records.
    - A batch has at least one record and at most `rows`; of a resident source, exactly `rows`
      except the last.
    - No content of a record raises, nor changes how another record is read: a cell that is no
      number is infinite where one is asked for, and one that is no label is missing.
    - A column is refused by its type alone, before its first record.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of the table, in its order; a response given separately is not among them."""

    @property
    def response(self) -> str | None:
        """Name under which `labels` finds the response, where it was given or named."""

    @property
    def length(self) -> int | None:
        """Number of records where it is known without reading values."""

    @property
    def resident(self) -> bool:
        """Whether the table lies in memory already."""

    def batches(
        self, rows: int, *, numeric: Sequence[str], labels: Sequence[str]
    ) -> Iterator[Batch]:
        """Batches that can answer for these columns and no others."""

    @property
    def typed_by(self) -> str | None:
        """Which library gave the columns their types before they came here; None of text."""


def separate_response_name(names: Sequence[str]) -> str:
    """Name of a response given beside the table: "y", underscored until no column has it.

    Examples
    --------
    >>> separate_response_name(("x", "y"))
    'y_'
    """
    name = "y"
    while name in names:
        name += "_"
    return name


def readable_names(source: Source) -> tuple[str, ...]:
    """Every name the source answers to: its columns and a response given beside them."""
    if source.response is None or source.response in source.names:
        return source.names
    return (*source.names, source.response)


def require_columns(known: Sequence[str], wanted: Iterable[str]) -> None:
    """Refuse columns that are not among the known ones, naming those."""
    asked, there = list(dict.fromkeys(wanted)), frozenset(known)
    unknown = [name for name in asked if name not in there]
    if len(asked) > 1 and len(unknown) == len(asked):
        # Nothing fits: the first line may be a record, which must not be quoted.
        raise SchemaError(
            f"The table has no column {', '.join(map(repr, unknown))}, nor any other that is "
            "asked for. Does it have a line of names?"
        )
    if unknown:
        raise SchemaError(
            f"The table has no column {', '.join(map(repr, unknown))}. "
            f"It has: {', '.join(map(repr, known))}."
        )


def require_distinct(names: Sequence[str]) -> None:
    """Refuse a table in which a column name repeats."""
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise DataError(
            f"Column names must differ; repeated: {', '.join(map(repr, repeated))}. "
            "Rename the columns."
        )


def require_table(length: int, width: int, fewest: int = 2) -> None:
    """Refuse a table without columns or with too few records."""
    if width == 0:
        raise DataError("The table has no columns.")
    require_records(length, fewest)


def require_records(length: int, fewest: int = 2) -> None:
    """Refuse fewer records than a fit needs, where their number is public (else `fewest` is 0)."""
    if length < fewest:
        raise DataError(
            f"The table has fewer than {fewest} records; a fit needs at least {fewest}."
        )
