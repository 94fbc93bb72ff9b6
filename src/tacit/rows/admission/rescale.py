"""Records whose bounds are found only after they came in: kept as they are, then prepared.

Private: the records. Public: the designs, before and after. Where a design has open columns the
store holds the numbers as they came, in float64, and not-a-number throughout an invalid record, so
that a count passes over it. Once bounds are found `rebound` prepares the records by them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tacit.design.design import Design
from tacit.design.response import Continuous
from tacit.errors import SettingError
from tacit.rows.admission.prepare import Preparer
from tacit.rows.encoding.outcome import mapped_response
from tacit.rows.storage.buffer_pool import wiped_on_failure
from tacit.rows.storage.person_tiles import PersonStore
from tacit.rows.storage.scratch_file import ScratchStore
from tacit.rows.storage.store import THREADS, Layout, MemoryStore, Store, empty_tiles, require_dtype
from tacit.rows.storage.tiles import LANES, to_rows, to_tiles


@dataclass(frozen=True)
class RawPreparer:
    """Keeps records as they came: (values, 1 if there is an intercept, what stands behind).

    Guarantee
    ---------
    - A kept record depends on that record alone, bit by bit; an invalid one is NaN throughout.
    """

    intercept: bool

    def prepare(
        self,
        values: NDArray[np.float64],
        behind: NDArray[np.float64],
        valid: NDArray[np.bool_],
        out: NDArray[Any],
    ) -> None:
        """Write the records into `out`, one row each."""
        count = values.shape[1]
        out[:, :count] = values
        out[:, count : count + self.intercept] = 1.0
        out[:, count + self.intercept :] = behind
        out[~valid] = np.nan

    def prepare_tiles(
        self,
        values: NDArray[np.float64],
        behind: NDArray[np.float64],
        valid: NDArray[np.bool_],
        tiles: NDArray[Any],
        order: NDArray[np.int64] | None = None,
    ) -> None:
        """Write the records into tiles, in an order or as they came, zeros behind the last."""
        rows = np.empty((len(values), tiles.shape[1]), dtype=tiles.dtype)
        self.prepare(values, behind, valid, rows)
        to_tiles(rows if order is None else rows[order], tiles)


def stored_type(design: Design, dtype: DTypeLike) -> np.dtype[Any]:
    """Type of a store; records with open columns need float64, whatever is asked for."""
    return require_dtype(np.float64 if design.open_places else dtype)


def rebound(store: Store, design: Design, dtype: DTypeLike = np.float32) -> Store:
    """Prepare the records of an opened store by a design with bounds; the store is given up.

    Guarantee
    ---------
    - The result is, bit by bit, what admission by this design would have stored; of a person with
      too many records and no declared order, those that were chosen as they came in.
    - A design that differs from the store's by more than the bounds of open columns is refused.
    """
    opened = store.opened
    if opened is None or _closed_like(opened, design) != design:
        raise SettingError("Records are prepared by their own design, once, with all its bounds.")
    layout = Layout(
        store.length,
        store.width,
        require_dtype(dtype),
        store.block_rows,
        store.weighted,
        store.shifted,
    )
    rows, preparer = layout.block_rows, Preparer.of(design)

    def prepared(raw: NDArray[Any]) -> NDArray[Any]:
        values = np.ascontiguousarray(raw[:, : len(design.columns)])
        behind = np.ascontiguousarray(raw[:, store.width :])
        valid = ~np.isnan(behind[:, 0])
        if isinstance(design.response, Continuous) and opened.response != design.response:
            behind[:, 0] = mapped_response(design.response, behind[:, 0])
        out = np.empty(raw.shape, dtype=layout.dtype)
        preparer.prepare(values, behind, valid, out)
        return out

    def block(index: int) -> NDArray[Any]:
        return prepared(to_rows(store.block(index), min(rows, store.length - index * rows)))

    image: Store
    if isinstance(store, PersonStore):
        image = store.rewritten(
            layout, lambda tiles: to_tiles(prepared(to_rows(tiles, len(tiles) * LANES)))
        )
    elif isinstance(store, ScratchStore):
        image = ScratchStore.of(layout, _tiled(block, store.block_count))
    else:
        tiles = empty_tiles(layout)
        with wiped_on_failure([tiles]), ThreadPoolExecutor(THREADS) as pool:
            # Asking for the results raises what a worker raised.
            list(
                pool.map(
                    lambda index: to_tiles(block(index), tiles[layout.tiles(index)]),
                    range(store.block_count),
                )
            )
        # Records of a block stay in their order.
        lots = store.lots if isinstance(store, MemoryStore) else None
        image = MemoryStore.of_tiles(layout, tiles, lots)
    store.close()
    return image


def _tiled(block: Callable[[int], NDArray[Any]], blocks: int) -> Iterator[NDArray[Any]]:
    return (to_tiles(block(index)) for index in range(blocks))


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
