"""Whose a record is and which are kept: by labels, order and content, never by place."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.rows.admission.contribution_bounding import (
    NOBODY,
    bounded_slots,
    label_forms,
    number_persons,
    person_numbers,
    put_records,
    record_hashes,
)
from tacit.rows.encoding.cells import normal_form
from tacit.rows.sources.opening import open_source
from tacit.rows.sources.source import attached_names
from tacit.rows.storage.tiles import to_tiles


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, 1, 3, 2]),
        np.array([3, 1, 3, 2], dtype=np.uint8),
        np.array([3.0, 1.0, 3.0, 2.0], dtype=np.float32),
        np.array(["3", "1.0", "3e0", "02"]),
        np.array([3, "1", Decimal("3.00"), np.int16(2)], dtype=object),
        np.array([b"3", True, 3.0, "2"], dtype=object),
    ],
    ids=lambda labels: str(labels.dtype),
)
def test_labels_of_any_type_name_the_same_persons(labels: NDArray[Any]) -> None:
    persons: dict[Any, int] = {}
    assert person_numbers(persons, label_forms(np.array([3, 1, 2]))).tolist() == [0, 1, 2]
    assert person_numbers(persons, label_forms(labels)).tolist() == [0, 1, 0, 2]
    assert len(persons) == 3


def test_forms_are_normal_forms() -> None:
    """Numbers beyond 2^53 too, where a float64 is spelt shorter than it is long."""
    for values in (
        np.array([0.1, -0.0, 2.0**53, 1e22, 1e300, -7.0, 0.5]),
        np.array([0.1, 1e20], dtype=np.float32),
        np.array([2**63, 5], dtype=np.uint64),
        np.array([True, False]),
        np.array(["anna", "true", "1e400", " 7 "]),
        np.array([None, "", float("nan"), 2**70, np.float64(7.5)], dtype=object),
    ):
        assert label_forms(values) == [normal_form(value) for value in values]


def test_labels_that_are_missing_name_nobody() -> None:
    persons: dict[Any, int] = {}
    cells = np.array([None, float("nan"), "", float("inf"), "ann"], dtype=object)
    assert person_numbers(persons, label_forms(cells)).tolist() == [NOBODY] * 4 + [0]
    assert person_numbers(persons, label_forms(np.array([np.nan, np.inf]))).tolist() == [NOBODY] * 2


def row_hashes(rows: NDArray[Any]) -> NDArray[np.uint64]:
    return record_hashes(to_tiles(rows), len(rows))


def ranks(person: Any, valid: Any, order: Any, rows: Any, max_rows: int) -> tuple[list[int], list[int]]:
    persons = int(np.max(person)) + 1
    found = bounded_slots(
        np.asarray(person),
        np.asarray(valid, dtype=bool),
        np.asarray(order, dtype=float),
        row_hashes(np.asarray(rows, dtype=float)),
        persons,
        max_rows,
    )
    return found[0].tolist(), found[1].tolist()


def test_the_smallest_order_is_kept_and_slots_follow_it() -> None:
    person, order = [0, 0, 1, 0, 0], [4, -1, 9, 2, 3]
    assert ranks(person, np.ones(5), order, np.zeros((5, 2)), 2) == ([-1, 0, 0, 1, -1], [2, 1])


def test_valid_records_go_first_and_a_person_without_one_keeps_one() -> None:
    person = [0, 0, 0, 1, 1]
    valid = [False, True, True, False, False]
    slots, kept = ranks(person, valid, [1, 2, 3, 2, 1], np.zeros((5, 1)), 3)
    assert kept == [2, 1]
    assert slots[:3] == [-1, 0, 1]
    assert sorted(slots[3:]) == [-1, 0]


@pytest.mark.parametrize("ordered", [False, True])
def test_t08_neither_the_order_of_the_file_nor_other_persons_matter(ordered: bool) -> None:
    """1 … 12 records a person, at most 5 kept; with an order, ties in it are decided by content."""
    rng = np.random.default_rng(0)
    person = rng.integers(0, 60, 400)
    rows = rng.normal(size=(400, 3)).astype(np.float32)
    order = rng.integers(0, 4, 400) if ordered else np.zeros(400)

    def kept(choice: NDArray[np.int64]) -> dict[int, list[bytes]]:
        numbers, dense = np.unique(person[choice], return_inverse=True)
        slots, _ = ranks(dense, np.ones(len(choice)), order[choice], rows[choice], 5)
        found: dict[int, list[bytes]] = {}
        for slot, i in sorted(zip(slots, choice.tolist(), strict=True)):
            if slot >= 0:
                found.setdefault(int(person[i]), []).append(rows[i].tobytes())
        assert set(found) == set(numbers.tolist())
        return found

    whole = kept(np.arange(400))
    assert max(map(len, whole.values())) == 5
    for _ in range(5):
        assert kept(rng.permutation(400)) == whole
    some = np.flatnonzero(person % 3 == 1)
    assert kept(some) == {who: what for who, what in whole.items() if who % 3 == 1}


def test_t08_one_record_more_than_are_kept_changes_only_its_own_person() -> None:
    person, rows = [0, 1, 0, 1, 0], np.arange(10.0).reshape(5, 2)
    before, _ = ranks(person, np.ones(5), np.zeros(5), rows, 3)
    added = np.vstack([rows, [[2.0, 7.0]]])
    after, kept = ranks([*person, 0], np.ones(6), np.zeros(6), added, 3)
    assert kept == [3, 2]
    assert [after[i] for i in (1, 3)] == [before[i] for i in (1, 3)]
    assert sorted(after[i] for i in (0, 2, 4, 5)) == [-1, 0, 1, 2]


def test_hashes_are_of_the_rows_own_bits() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(5000, 4)).astype(np.float32)
    hashes = row_hashes(rows)
    np.testing.assert_array_equal(row_hashes(rows[7:8]), hashes[7:8])
    np.testing.assert_array_equal(row_hashes(rows.astype(np.float64)), hashes)
    # 5,000 rows: a collision of 64 bits has probability below 1e-12.
    assert len(np.unique(hashes[:, 0])) == len(np.unique(hashes[:, 1])) == 5000
    assert not (hashes[:, 0] == hashes[:, 1]).any()


def test_hashes_tell_columns_apart_and_signs_of_zero_do_not() -> None:
    pairs = row_hashes(np.array([[1.0, 2.0], [2.0, 1.0], [0.0, -0.0], [-0.0, 0.0]]))
    assert (pairs[0] != pairs[1]).all()
    np.testing.assert_array_equal(pairs[2], pairs[3])


def test_rows_that_differ_beyond_float32_have_different_second_hashes() -> None:
    near = row_hashes(np.array([[1.0], [1.0 + 2.0**-40]]))
    assert near[0, 0] == near[1, 0]
    assert near[0, 1] != near[1, 1]


def test_hashes_choose_evenly() -> None:
    """Of 4 records with contents in order, each is kept by about a quarter of 20,000 persons.

    Each count is binomial with deviation 61; 5 deviations have a false-alarm rate below 1e-6.
    """
    count = 20_000
    rows = np.column_stack([np.repeat(np.arange(count), 4), np.tile(np.arange(4.0), count)])
    slots, _ = ranks(np.repeat(np.arange(count), 4), np.ones(4 * count), np.zeros(4 * count), rows, 1)
    chosen = np.bincount(np.flatnonzero(np.array(slots) == 0) % 4)
    assert np.abs(chosen - count / 4).max() < 5 * 61.3


def test_records_are_put_into_their_slots() -> None:
    tiles = np.zeros((3, 2, 64))
    rows = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    places = np.array([1, 0, -1]), np.array([1, 1, 0]), np.array([3, 3, 0])
    put_records(to_tiles(rows), *places, tiles)
    assert tiles[2, :, 3].tolist() == [1.0, 2.0]
    assert tiles[1, :, 3].tolist() == [3.0, 4.0]
    assert tiles.sum() == 10.0


def test_records_of_a_table_are_numbered_as_a_fit_groups_them() -> None:
    spelt = ["7", None, 7.0, "007", "a", float("nan"), [1], "a "]
    source = open_source(np.zeros((8, 1)), np.zeros(8), attached={"unit": spelt})
    numbers, persons = number_persons(source, attached_names(source)["unit"])
    assert numbers.tolist() == [0, NOBODY, 0, 0, 1, NOBODY, NOBODY, 2]
    assert persons == 3
    nothing = open_source(np.zeros((0, 1)), np.zeros(0), attached={"unit": []}, fewest=2, counted=False)
    assert number_persons(nothing, attached_names(nothing)["unit"])[1] == 0
