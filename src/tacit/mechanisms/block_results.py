"""The results of a function on disjoint blocks of units, drawn in secret. Private: the store, the blocks, the results.

Proof: proofs/mechanisms/block_results.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.contract.block_query import LARGEST, BlackBox, BlockFunction, BlockMinimum, LeastSquares
from tacit.contract.query import Progress
from tacit.errors import SettingError
from tacit.mechanisms.block_minimum import block_minimum, least_squares
from tacit.mechanisms.block_process import BlockProcesses
from tacit.mechanisms.jackknife import jackknifed
from tacit.noise.entropy import Entropy
from tacit.noise.partition import draw_blocks, draw_order
from tacit.rows.storage.gathered_rows import gather
from tacit.rows.storage.store import Store, thread_count

LABEL = "blocks"
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Draws(Protocol):
    """What decides which block a unit is in, and in which order the rows of a block are."""

    def blocks(self, units: int, blocks: int) -> Integers:
        """The block of each unit."""

    def order(self, rows: int) -> Integers:
        """An order of all rows."""


@dataclass(frozen=True)
class SecretDraws:
    """Independent uniform blocks, and a uniform order. Neither depends on the table."""

    entropy: Entropy

    def blocks(self, units: int, blocks: int) -> Integers:
        """The block of each unit."""
        return draw_blocks(units, blocks, self.entropy)

    def order(self, rows: int) -> Integers:
        """An order of all rows."""
        return draw_order(rows, self.entropy)


def members_of(units: Integers, count: int, blocks: int, draws: Draws) -> list[Integers]:
    """The places of each block's rows, in a drawn order, for `count` units.

    Guarantee: every row is in exactly one block, that of its unit.
    """
    assigned, order = draws.blocks(count, blocks), draws.order(len(units))
    block = assigned[units[order]]
    places = order[np.argsort(block, kind="stable")]
    ends = np.cumsum(np.bincount(block, minlength=blocks))[:-1]
    return np.split(places, ends)


def block_results(
    function: BlockFunction, blocks: int, store: Store, draws: Draws, progress: Progress | None = None
) -> Floats:
    """One result a block, (block, number): finite, and the default where a block is too small or fails.

    Guarantee: a unit's rows enter one result. Which one does not depend on the table.
    """
    layout = store.layout
    if layout.weighted or layout.shifted:
        raise SettingError("Blocks are of plain records, without weights or offsets.")
    gathered = gather(store)
    members = members_of(gathered.units, store.length, blocks, draws)
    default = np.array(function.default)
    results = np.tile(default, (blocks, 1))
    done = 0

    def keep(number: int, found: Floats) -> None:
        nonlocal done
        done += 1
        if found.shape == default.shape and (np.abs(found) <= LARGEST).all():
            results[number] = found
        if progress is not None:
            progress(done, blocks, LABEL)

    if isinstance(function, BlackBox):
        _run_black_boxes(function, gathered.rows, members, keep)
        return results
    with np.errstate(all="ignore"):
        for number, places in enumerate(members):
            rows, units = gathered.rows[places], gathered.units[places]
            keep(number, _own(function, rows, units) if len(places) >= function.rows_needed else default)
    return results


def _own(function: BlockMinimum | LeastSquares, rows: Floats, units: Integers) -> Floats:
    if isinstance(function, LeastSquares):
        valid = rows[rows[:, function.width - 1] != 0.0]
        if len(valid) < function.rows_needed:
            return np.array(function.default)
        return jackknifed(lambda mask: least_squares(valid[mask], function.width), len(valid), function.groups)
    return jackknifed(lambda mask: block_minimum(function, rows[mask], units[mask]), len(rows), function.groups)


def black_box_rows(function: BlackBox, rows: Floats, members: list[Integers]) -> Iterator[tuple[Floats, Floats] | None]:
    """Features and responses of each block, on the user's scale; None where there are too few."""
    width = rows.shape[1] - 2
    scales, centres = np.array(function.scales), np.array(function.centres)
    for places in members:
        # The column of ones is 0 in an invalid record, which is left out.
        own = rows[places[rows[places, width] != 0.0]]
        if len(own) < function.rows_needed:
            yield None
        else:
            yield own[:, :width] * scales[:-1] + centres[:-1], own[:, -1] * scales[-1] + centres[-1]


def _run_black_boxes(
    function: BlackBox, rows: Floats, members: list[Integers], keep: Callable[[int, Floats], None]
) -> None:
    """Run all blocks, as many at a time as there are cores."""
    default = np.array(function.default)

    def answer(block: tuple[Floats, Floats] | None) -> Floats:
        return default if block is None else processes.answer(*block)

    with BlockProcesses(function) as processes, ThreadPoolExecutor(thread_count()) as pool:
        for number, found in enumerate(pool.map(answer, black_box_rows(function, rows, members))):
            keep(number, found)
