"""Raw records, whose bounds are found only after they came in: stored as they are, then rescaled.

Private: the records. Public: the designs, before and after. Where a design has open columns the
store holds the numbers as they came, in float64. An invalid record is NaN throughout, and so are
the records that fill up the last tile: a count passes over them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tacit.design.design import Design
from tacit.design.response import Continuous
from tacit.errors import SettingError
from tacit.rows.admission.prepare import Preparer
from tacit.rows.encoding.outcome import mapped_response
from tacit.rows.storage.store import Store, require_dtype
from tacit.rows.storage.tiles import LANES, Flags, Floats, Integers, to_rows, to_tiles


@dataclass(frozen=True)
class RawPreparer:
    """Stores records as they came: (values, 1 if there is an intercept, outcome).

    Guarantee
    ---------
    - A stored record depends on that record alone, bit by bit; an invalid one is NaN throughout.
    """

    intercept: bool

    def prepare(
        self,
        values: Floats,
        outcome: Floats,
        valid: Flags,
        tiles: NDArray[Any],
        order: Integers | None = None,
    ) -> None:
        """Write the records into tiles, in this order or their own."""
        length, count = values.shape
        rows = np.full((len(tiles) * LANES, tiles.shape[1]), np.nan, dtype=tiles.dtype)
        own = rows[:length]
        own[:, :count] = values
        own[:, count : count + self.intercept] = 1.0
        own[:, count + self.intercept :] = outcome
        own[~valid] = np.nan
        if order is not None:
            own[:] = own[order]
        to_tiles(rows, tiles)


def rescale(store: Store, design: Design, dtype: DTypeLike = np.float32) -> Store:
    """Prepare the raw records of a store by a design with bounds; the store is closed.

    Guarantee
    ---------
    - The result is, bit by bit, what admission by this design would have stored; of a person with
      too many records and no declared order, those that were chosen as they came in.
    - A design that differs from the store's by more than the bounds of open columns is refused.
    """
    opened = store.opened
    if opened is None or _closed_like(opened, design) != design:
        raise SettingError("Records are prepared by their own design, once, with all its bounds.")
    layout = replace(store.layout, dtype=require_dtype(dtype), opened=None)
    preparer = Preparer.of(design)

    def prepare(raw: NDArray[Any], out: NDArray[Any]) -> None:
        rows = to_rows(raw, len(raw) * LANES)
        values = np.ascontiguousarray(rows[:, : len(design.columns)])
        outcome = np.ascontiguousarray(rows[:, layout.width :])
        valid = ~np.isnan(outcome[:, 0])
        if isinstance(design.response, Continuous) and opened.response != design.response:
            outcome[:, 0] = mapped_response(design.response, outcome[:, 0])
        preparer.prepare(values, outcome, valid, out)

    image = store.rewritten(layout, prepare)
    store.close()
    return image


def _closed_like(opened: Design, design: Design) -> Design | None:
    """The opened design with the other's map of its open columns; None where one is still open."""
    places = opened.open_places
    if design.open_places or len(design.columns) != len(opened.columns):
        return None
    columns = tuple(
        replace(before, lower=b.lower, upper=b.upper, center=b.center, scale=b.scale)
        if before.is_open
        else before
        for before, b in zip(opened.columns, design.columns, strict=True)
    )
    response = design.response if opened.width in places else opened.response
    return replace(opened, columns=columns, response=response)
