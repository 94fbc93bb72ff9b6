"""T43: blocks are disjoint, one unit changes one result, and which block it is in does not depend on the table."""

import numpy as np
import pytest

from tacit.contract.block_query import BlockMinimum, LeastSquares
from tacit.errors import SettingError
from tacit.losses import classification
from tacit.mechanisms.block_results import SecretDraws, block_results, members_of
from tacit.noise.entropy import SeededEntropy
from tacit.rows.storage.record_store import MemoryStore
from tacit.rows.storage.store import Layout
from tacit.rows.storage.tiles import LANES, to_tiles

RNG = np.random.default_rng(0)
ROWS = np.column_stack([RNG.normal(size=(400, 2)), np.ones(400), RNG.integers(0, 2, 400)])
FUNCTION = BlockMinimum(classification.LOGISTIC, 3, 0.5, 4, 5)


def store(rows: np.ndarray, *, weighted: bool = False) -> MemoryStore:
    return MemoryStore(Layout(len(rows), 3, rows.dtype, LANES * 100, weighted), [to_tiles(rows)])


def test_t43_every_row_is_in_exactly_one_block_with_its_unit() -> None:
    units = np.repeat(np.arange(60), 5)
    members = members_of(units, 60, 7, SecretDraws(SeededEntropy(1)))
    assert len(members) == 7
    assert sorted(np.concatenate(members).tolist()) == list(range(300))
    blocks = [set(units[places].tolist()) for places in members]
    assert sum(map(len, blocks)) == 60


def test_one_replaced_record_changes_one_result() -> None:
    changed = ROWS.copy()
    changed[17] = [5.0, -5.0, 1.0, 1.0]
    first, second = (block_results(FUNCTION, 20, store(it), SecretDraws(SeededEntropy(3))) for it in (ROWS, changed))
    assert (first != second).any(axis=1).sum() == 1


def test_results_do_not_follow_the_order_of_the_table() -> None:
    """With the same draws, another order of the records gives other blocks: places decide nothing but a draw."""
    first, second = (
        block_results(FUNCTION, 20, store(it), SecretDraws(SeededEntropy(3)))
        for it in (ROWS, ROWS[np.argsort(ROWS[:, 0])])
    )
    assert (first != second).any(axis=1).all()
    # Sorted by content, no block has a part of the range for itself, as a partition by place would.
    members = members_of(np.arange(400), 400, 4, SecretDraws(SeededEntropy(3)))
    ordered = np.sort(ROWS[:, 0])
    assert all(np.ptp(ordered[places]) > 3 for places in members)


def test_small_blocks_give_the_default() -> None:
    found = block_results(LeastSquares(3, 30), 20, store(ROWS), SecretDraws(SeededEntropy(3)))
    sizes = [len(it) for it in members_of(np.arange(400), 400, 20, SecretDraws(SeededEntropy(3)))]
    assert {bool(row.any()) for row, size in zip(found, sizes, strict=True) if size < 30} == {False}


def test_no_rows_can_raise() -> None:
    wild = ROWS.copy()
    wild[::3, 0] = 1e308
    wild[1::3, 3] = -1e308
    found = block_results(LeastSquares(3, 2), 10, store(wild), SecretDraws(SeededEntropy(3)))
    assert np.isfinite(found).all()
    assert np.isfinite(block_results(FUNCTION, 10, store(wild), SecretDraws(SeededEntropy(3)))).all()
    empty = block_results(FUNCTION, 10, store(ROWS[:0]), SecretDraws(SeededEntropy(3)))
    assert not empty.any()


def test_weights_and_offsets_are_refused() -> None:
    rows = np.column_stack([ROWS, np.ones(400)])
    with pytest.raises(SettingError, match="plain records"):
        block_results(FUNCTION, 10, store(rows, weighted=True), SecretDraws(SeededEntropy(3)))


def test_blocks_done_are_told_and_nothing_else() -> None:
    seen: list[tuple[int, int, str]] = []
    block_results(FUNCTION, 5, store(ROWS), SecretDraws(SeededEntropy(3)), lambda *it: seen.append(it))
    assert seen == [(done, 5, "blocks") for done in range(1, 6)]
