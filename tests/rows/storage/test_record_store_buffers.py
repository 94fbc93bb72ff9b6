"""Pooled buffers: used again when nobody uses them, and never by two at once."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.errors import DataError
from tacit.rows.admission import clip_and_scale as prepare
from tacit.rows.admission.admit_rows import admit
from tacit.rows.sources.opening import open_source
from tacit.rows.storage import record_store as pool
from tacit.rows.storage import store
from tacit.rows.storage.record_store import LARGEST, SMALLEST, pooled_array
from tacit.rows.storage.tiles import map_tiles, to_rows

FLOAT = np.dtype(np.float32)
COUNT = SMALLEST // 4


@pytest.fixture(autouse=True)
def empty() -> Iterator[None]:
    pool._pooled.clear()
    yield
    pool._pooled.clear()


def place(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def test_a_buffer_is_used_again_once_it_is_free() -> None:
    first = pooled_array((COUNT,), FLOAT)
    before = place(first)
    del first
    again = pooled_array((COUNT // 8, 8), FLOAT)
    assert place(again) == before
    assert again.shape == (COUNT // 8, 8)
    assert again.dtype == FLOAT


@pytest.mark.parametrize("part", [slice(None), slice(5, 9)])
def test_a_buffer_in_use_is_left_alone(part: slice) -> None:
    first = pooled_array((COUNT,), FLOAT)
    view = first[part]
    del first
    second = pooled_array((COUNT,), FLOAT)
    assert not np.shares_memory(view, second)


def test_at_most_one_buffer_is_kept_and_none_that_is_large_or_small() -> None:
    arrays = [pooled_array((COUNT,), FLOAT) for _ in range(3)]
    assert len(pool._pooled) == 1
    del arrays
    pool._pooled.clear()
    for count in (1, COUNT - 1, LARGEST // 4 + 1):
        pooled_array((count,), FLOAT)
        assert not pool._pooled


def test_a_buffer_that_is_too_small_is_not_used() -> None:
    before = place(pooled_array((COUNT,), FLOAT))
    larger = pooled_array((2 * COUNT,), FLOAT)
    larger[:] = 1.0
    assert larger.size == 2 * COUNT
    assert before >= 0


def test_threads_never_share_a_buffer() -> None:
    shared = []

    def work(mark: float) -> None:
        for _ in range(30):
            array = pooled_array((COUNT,), FLOAT)
            array[::4096] = mark
            shared.append(not (array[::4096] == mark).all())
            del array

    threads = [threading.Thread(target=work, args=(float(i),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(shared) == 120
    assert not any(shared)


def test_records_are_wiped_when_they_are_given_up_and_when_they_are_refused() -> None:
    rows = SMALLEST // (4 * 3) + 64
    X, y = np.full((rows, 1), 0.75), np.ones(rows)
    for last in (0.75, np.nan):
        pool._pooled.clear()
        X[-1] = last
        source = open_source(X, response=y)
        design = matrix_design(source.names, Binary("y", (0, 1)), bounds=(0, 1), row_norm=None, intercept=True)
        if np.isnan(last):
            with pytest.raises(DataError):
                admit(source, design)
        else:
            admit(source, design).close()
        assert len(pool._pooled) == 1
        assert not pool._pooled[0].any()


def halting(call: Any, after: int) -> Any:
    """The same function, which is interrupted instead of called after so many calls."""
    calls = itertools.count()

    def halted(*arguments: Any) -> Any:
        if next(calls) >= after:
            raise KeyboardInterrupt
        return call(*arguments)

    return halted


@pytest.mark.parametrize("after", [0, 1])
@pytest.mark.parametrize("way", ["recast", "map", "rescale"])
def test_records_are_wiped_where_a_run_is_interrupted(way: str, after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "SMALLEST", 1)
    monkeypatch.setattr(store, "BLOCK_BYTES", 1 << 12)
    X, y = np.full((2000, 3), 0.75), np.ones(2000)
    source = open_source(X, response=y)
    bounds: Any = "private" if way == "rescale" else (0, 1)
    design = matrix_design(source.names, Binary("y", (0, 1)), bounds=bounds, row_norm=None, intercept=True)
    held = admit(source, design)
    buffers = [pool._pooled[0]]
    assert buffers[0].any()
    columns = tuple(replace(column, lower=0.0, upper=1.0, center=0.5, scale=0.5) for column in design.columns)
    monkeypatch.setattr(prepare, "to_rows", halting(to_rows, after))
    monkeypatch.setattr(store, "map_tiles", halting(map_tiles, after))
    ways: dict[str, Callable[[], Any]] = {
        "recast": lambda: held.recast(np.eye(4)),
        "map": lambda: held.map(np.eye(4)),
        "rescale": lambda: prepare.rescale(held, replace(design, columns=columns)),
    }
    with held, pytest.raises(KeyboardInterrupt):
        ways[way]()
    buffers.append(pool._pooled[0])
    assert not any(buffer.any() for buffer in buffers)
    with pytest.raises(DataError, match="given up"):
        held.block(0)


@pytest.mark.filterwarnings("ignore:Weights above the declared")
@pytest.mark.parametrize("byte", [0x7F, 0xFF])
@pytest.mark.parametrize("bounds", [(-1, 1), "private"])
def test_a_release_does_not_depend_on_what_the_buffer_held(
    bounds: Any, byte: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Last tiles that are not full, invalid records, weights: all that is read was written."""
    monkeypatch.setattr(pool, "SMALLEST", 1)
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(130, 3)), np.arange(130) % 2, rng.uniform(0, 1, 130)
    X[5], weight[7] = np.nan, np.nan
    facts: dict[str, Any] = {"classes": (0, 1), "max_weight": 1.0, "random_state": 3, "invalid_rows": "zero"}
    released = []
    for before in (None, np.full(1 << 20, byte, dtype=np.uint8)):
        pool._pooled[:] = [] if before is None else [before]
        del before
        model = tacit.LogisticRegression(epsilon=50.0, bounds=bounds, **facts)
        released.append(model.fit(X, y, sample_weight=weight).coef_.tolist())
        assert set(np.unique(pool._pooled[0]).tolist()) <= {0, byte}
    assert released[0] == released[1]


def test_nobody_waits_for_a_buffer() -> None:
    """A process forked while a thread of its parent chose a buffer would wait for ever."""
    found = []
    with pool._lock:
        chooser = threading.Thread(target=lambda: found.append(pooled_array((COUNT,), FLOAT)), daemon=True)
        chooser.start()
        chooser.join(timeout=5)
        assert [array.shape for array in found] == [(COUNT,)]
    assert not pool._pooled
