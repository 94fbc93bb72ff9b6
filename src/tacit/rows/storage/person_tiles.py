"""Records by person: tiles in which 64 persons stand side by side, each with all kept records.

Private: every block. Public: width, type, and how many records of a person are kept at most.

A group is a run of tiles: slot s of a lane holds the s-th kept record of that lane's person, and
zeros where a person has fewer. Persons are sorted by their number of records, so that of all slots
at most 64 times the most records of one person stand empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import SettingError
from tacit.rows.storage.linear_map import map_tiles, public_matrix
from tacit.rows.storage.store import (
    THREADS,
    Layout,
    Store,
    closed,
    default_block_rows,
    require_dtype,
)
from tacit.rows.storage.tiles import LANES, tile_count


class PersonBlock(NamedTuple):
    """Whole groups of 64 persons.

    Parameters
    ----------
    tiles
        (tile, column, 64): the records; tiles[starts[g] : starts[g + 1]] are the slots of group g.
    starts
        int64, one more than there are groups.
    counts
        (group, 64): how many records a person has. Lanes without a person have none.
    """

    tiles: NDArray[Any]
    starts: NDArray[np.int64]
    counts: NDArray[np.int64]

    @property
    def groups(self) -> int:
        """Number of groups."""
        return len(self.counts)

    def part(self, first: int, stop: int) -> PersonBlock:
        """Groups first … stop - 1; no record is copied."""
        starts = self.starts[first : stop + 1]
        tiles = self.tiles[starts[0] : starts[-1]]
        return _frozen(PersonBlock(tiles, starts - starts[0], self.counts[first:stop]))

    def mapped(self, matrix: NDArray[np.float64]) -> PersonBlock:
        """The same persons in other coordinates, by a checked public matrix."""
        return _frozen(self._replace(tiles=map_tiles(self.tiles, matrix)))


def group_parts(block: PersonBlock, tiles: int) -> Iterator[PersonBlock]:
    """Parts of whole groups with at most so many tiles, or of one group that has more.

    Examples
    --------
    >>> starts, counts = np.array([0, 3, 4, 5]), np.ones((3, 64), np.int64)
    >>> block = PersonBlock(np.zeros((5, 2, 64)), starts, counts)
    >>> [part.starts.tolist() for part in group_parts(block, 2)]
    [[0, 3], [0, 1, 2]]
    """
    return (block.part(first, stop) for first, stop in _runs(block.starts, tiles))


@dataclass(frozen=True)
class Groups:
    """Where persons stand: first tile and lane of each, and the groups as in a `PersonBlock`."""

    first: NDArray[np.int64]
    lane: NDArray[np.int64]
    starts: NDArray[np.int64]
    counts: NDArray[np.int64]


def place_groups(sizes: NDArray[np.int64]) -> Groups:
    """Groups of 64 persons with so many records each, those with most records first.

    Examples
    --------
    >>> groups = place_groups(np.array([1, 3, 2]))
    >>> groups.lane.tolist(), groups.starts.tolist(), groups.counts[0, :4].tolist()
    ([2, 0, 1], [0, 3], [3, 2, 1, 0])
    """
    position = np.empty(len(sizes), dtype=np.int64)
    position[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    counts = np.zeros((tile_count(len(sizes)), LANES), dtype=np.int64)
    counts.reshape(-1)[position] = sizes
    starts = np.concatenate([[0], np.cumsum(counts.max(axis=1, initial=0))])
    group, lane = np.divmod(position, LANES)
    return Groups(starts[group], lane, starts, counts)


class PersonStore(Store):
    """Records of persons in memory; its length is the number of persons.

    Guarantee
    ---------
    - A person's records stand in one block, in the order of their slots.
    - The image of a record under `map` depends on that record and the matrix only.

    Parameters
    ----------
    layout
        Shape of the store; its length is that of persons.
    unit_rows
        Public: how many records of a person are kept at most.
    blocks
        The records.

    Examples
    --------
    >>> anna, bert = np.array([[0.5, 1.0, 0.0], [0.25, 1.0, 1.0]]), np.array([[1.0, 1.0, 1.0]])
    >>> store = PersonStore.of([bert, anna], unit_rows=2)
    >>> store.length, store.block(0).counts[0, :3].tolist()
    (2, [2, 1, 0])
    >>> store.block(0).tiles[:, :, 1].tolist()
    [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    """

    def __init__(self, layout: Layout, unit_rows: int, blocks: Sequence[PersonBlock]) -> None:
        super().__init__(layout)
        # Bounds on a person's integers are worked out for so many records.
        if any(block.counts.max(initial=0) > unit_rows for block in blocks):
            raise SettingError("A person has more records than are to be kept.")
        self._unit_rows = unit_rows
        self._count = len(blocks)
        self._writable: Sequence[PersonBlock] | None = tuple(blocks)
        self._blocks: tuple[PersonBlock, ...] | None = tuple(map(_frozen, blocks))

    @classmethod
    def of(
        cls,
        persons: Sequence[NDArray[Any]],
        unit_rows: int,
        *,
        block_tiles: int | None = None,
        weighted: bool = False,
        shifted: bool = False,
    ) -> PersonStore:
        """Store of prepared records (row, column) of each person; none is left out."""
        rows = np.concatenate([*persons])
        sizes = np.array([len(person) for person in persons])
        dtype, width = require_dtype(rows.dtype), rows.shape[1] - 1 - weighted - shifted
        block_rows = default_block_rows(width, dtype, rows.shape[1] - width)
        places = place_groups(sizes)
        person = np.repeat(np.arange(len(sizes)), sizes)
        slot = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        tiles = np.zeros((int(places.starts[-1]), rows.shape[1], LANES), dtype=dtype)
        tiles[places.first[person] + slot, :, places.lane[person]] = rows
        return cls.of_groups(
            Layout(len(persons), width, dtype, block_rows, weighted, shifted),
            unit_rows,
            PersonBlock(tiles, places.starts, places.counts),
            block_rows // LANES if block_tiles is None else block_tiles,
        )

    @classmethod
    def of_groups(
        cls, layout: Layout, unit_rows: int, groups: PersonBlock, block_tiles: int
    ) -> PersonStore:
        """Store of all groups in one array, cut into blocks of about so many tiles."""
        blocks = []
        for first, stop in _runs(groups.starts, block_tiles):
            starts = groups.starts[first : stop + 1]
            tiles = groups.tiles[starts[0] : starts[-1]]
            blocks.append(PersonBlock(tiles, starts - starts[0], groups.counts[first:stop]))
        return cls(layout, unit_rows, blocks)

    @property
    def unit_rows(self) -> int:
        """How many records of a person are kept at most."""
        return self._unit_rows

    @property
    def block_count(self) -> int:
        """Number of blocks."""
        return self._count

    def block(self, index: int) -> Any:
        """Persons of one block, a `PersonBlock`; nothing is copied."""
        if self._blocks is None:
            raise closed()
        return self._blocks[index]

    def map(self, matrix: ArrayLike) -> PersonStore:
        """A new store in memory."""
        M = public_matrix(matrix, self.width)
        return self.rewritten(self._layout, lambda tiles: map_tiles(tiles, M))

    def recast(self, matrix: ArrayLike) -> PersonStore:
        """Return the store in other coordinates, in the same memory."""
        M = public_matrix(matrix, self.width)
        if self._writable is None:
            raise closed()
        places, self._writable = self._writable, None
        with ThreadPoolExecutor(THREADS) as pool:
            # Asking for the results raises what a worker raised.
            list(pool.map(lambda block: map_tiles(block.tiles, M, block.tiles), places))
        self.close()
        return PersonStore(self._layout, self._unit_rows, places)

    def rewritten(
        self, layout: Layout, rewrite: Callable[[NDArray[Any]], NDArray[Any]]
    ) -> PersonStore:
        """A new store whose tiles are made of this one's, tile by tile."""
        with ThreadPoolExecutor(THREADS) as pool:
            blocks = pool.map(
                lambda block: block._replace(tiles=rewrite(block.tiles)),
                [self.block(index) for index in range(self._count)],
            )
            return PersonStore(layout, self._unit_rows, [*blocks])

    def close(self) -> None:
        """Drop the records."""
        self._blocks = self._writable = None


def _runs(starts: NDArray[np.int64], tiles: int) -> Iterator[tuple[int, int]]:
    """First and last-but-one of consecutive groups with at most so many tiles, at least one."""
    first = 0
    while first < len(starts) - 1:
        room = int(np.searchsorted(starts, starts[first] + tiles, side="right")) - 1
        stop = max(first + 1, room)
        yield first, stop
        first = stop


def _frozen(block: PersonBlock) -> PersonBlock:
    views: list[Any] = [np.ascontiguousarray(part).view() for part in block]
    for view in views:
        view.flags.writeable = False
    return PersonBlock(*views)
