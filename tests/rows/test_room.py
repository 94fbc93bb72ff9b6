"""Rooms: used again when nobody is in them, and never by two at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

from tacit.errors import DataError
from tacit.problem.design import matrix_design
from tacit.problem.response import Binary
from tacit.rows import room
from tacit.rows.admit import admit
from tacit.rows.opening import open_source
from tacit.rows.room import LARGEST, SMALLEST, room_for

FLOAT = np.dtype(np.float32)
COUNT = SMALLEST // 4


@pytest.fixture(autouse=True)
def empty() -> Iterator[None]:
    room._kept.clear()
    yield
    room._kept.clear()


def place(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def test_a_room_is_used_again_once_it_is_free() -> None:
    first = room_for((COUNT,), FLOAT)
    before = place(first)
    del first
    again = room_for((COUNT // 8, 8), FLOAT)
    assert place(again) == before
    assert again.shape == (COUNT // 8, 8)
    assert again.dtype == FLOAT


@pytest.mark.parametrize("part", [slice(None), slice(5, 9)])
def test_a_room_in_use_is_left_alone(part: slice) -> None:
    first = room_for((COUNT,), FLOAT)
    view = first[part]
    del first
    second = room_for((COUNT,), FLOAT)
    assert not np.shares_memory(view, second)


def test_at_most_one_room_is_kept_and_none_that_is_large_or_small() -> None:
    arrays = [room_for((COUNT,), FLOAT) for _ in range(3)]
    assert len(room._kept) == 1
    del arrays
    room._kept.clear()
    for count in (1, COUNT - 1, LARGEST // 4 + 1):
        room_for((count,), FLOAT)
        assert not room._kept


def test_a_room_that_is_too_small_is_not_used() -> None:
    before = place(room_for((COUNT,), FLOAT))
    larger = room_for((2 * COUNT,), FLOAT)
    larger[:] = 1.0
    assert larger.size == 2 * COUNT
    assert before >= 0


def test_threads_never_share_a_room() -> None:
    shared = []

    def work(mark: float) -> None:
        for _ in range(30):
            array = room_for((COUNT,), FLOAT)
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
        room._kept.clear()
        X[-1] = last
        source = open_source(X, response=y)
        design = matrix_design(
            source.names, Binary("y", (0, 1)), bounds=(0, 1), row_norm=None, intercept=True
        )
        if np.isnan(last):
            with pytest.raises(DataError):
                admit(source, design)
        else:
            admit(source, design).close()
        assert len(room._kept) == 1
        assert not room._kept[0].any()
