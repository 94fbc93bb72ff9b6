"""Records by person: tiles in which 64 persons stand side by side, each with all their records.

Private: every block. Public: width, type, and how many records of a person there are at most. A group is a run of
tiles: slot s of a lane holds the s-th record of that lane's person, or zeros. Persons are sorted by their number of
records, so few slots are empty: at most 64 times the most records of one person.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import SettingError
from tacit.rows.storage.record_store import THREADS
from tacit.rows.storage.store import Layout, Rewrite, Store, closed
from tacit.rows.storage.tiles import LANES, Integers, readonly, tile_count


class PersonBlock(NamedTuple):
    """Whole groups of 64 persons: tiles[starts[g] : starts[g + 1]] are the slots of group g.

    `counts` (group, 64) has how many records a person has. Lanes without a person have none.
    """

    tiles: NDArray[Any]
    starts: Integers
    counts: Integers

    def parts(self, tiles: int) -> Iterator[PersonBlock]:
        """Parts of whole groups with at most so many tiles, or of one group; nothing is copied."""
        first = 0
        while first < len(self.counts):
            stop = max(first + 1, int(np.searchsorted(self.starts, self.starts[first] + tiles, side="right")) - 1)
            starts = self.starts[first : stop + 1]
            yield PersonBlock(self.tiles[starts[0] : starts[-1]], starts - starts[0], self.counts[first:stop])
            first = stop

    def frozen(self) -> PersonBlock:
        """The same persons, contiguous and read-only."""
        return PersonBlock(*(readonly(np.ascontiguousarray(array)) for array in self))


def place_groups(sizes: Integers) -> tuple[Integers, Integers, Integers, Integers]:
    """First tile and lane of persons of so many records; starts and counts of their groups."""
    position = np.empty(len(sizes), dtype=np.int64)
    position[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    counts = np.zeros((tile_count(len(sizes)), LANES), dtype=np.int64)
    counts.reshape(-1)[position] = sizes
    starts = np.concatenate([[0], np.cumsum(counts.max(axis=1, initial=0))])
    group, lane = np.divmod(position, LANES)
    return starts[group], lane, starts, counts


class PersonStore(Store):
    """Records of persons in memory; its length is the number of persons.

    Guarantee: a person's records stand in one block, in the order of their slots. The image of a record under `map`
    depends on that record and the matrix only.
    """

    def __init__(self, layout: Layout, blocks: Sequence[PersonBlock]) -> None:
        super().__init__(layout, (block.frozen() for block in blocks))
        # Bounds on a person's integers are worked out for so many records.
        if any(block.counts.max(initial=0) > layout.unit_rows for block in blocks):
            raise SettingError("A person has more records than the bound on contributions allows.")
        self._writable: Sequence[PersonBlock] | None = tuple(blocks)

    def rewritten(self, layout: Layout, rewrite: Rewrite) -> PersonStore:
        """A new store in memory."""

        def image(block: PersonBlock) -> PersonBlock:
            out = np.empty(block.tiles.shape, dtype=layout.dtype)
            rewrite(block.tiles, out)
            return block._replace(tiles=out)

        with ThreadPoolExecutor(THREADS) as pool:
            return PersonStore(layout, [*pool.map(image, map(self.block, range(self.block_count)))])

    def recast(self, matrix: ArrayLike) -> PersonStore:
        """Return the store in other coordinates, in the same memory."""
        mapping = self._mapping(matrix)
        if self._writable is None:
            raise closed()
        blocks, self._writable = self._writable, None
        with ThreadPoolExecutor(THREADS) as pool:
            # Asking for the results raises what a worker raised.
            list(pool.map(lambda block: mapping(block.tiles, block.tiles), blocks))
        self.close()
        return PersonStore(self.layout, blocks)

    def close(self) -> None:
        """Drop the records."""
        super().close()
        self._writable = None
