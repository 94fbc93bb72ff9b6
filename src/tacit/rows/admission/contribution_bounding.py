"""Whose a record is, and which records of a person are kept. Private: everything given here.

Which records of a person are kept depends on that person's records alone: on their order cells and
on a hash of their own content, never on their place in the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.compiling import compiled
from tacit.rows.encoding.labels import REMEMBERED, normal_form

Form = int | Decimal | str | None
"""A label's normal form, whole numbers as integers."""
LARGEST_INTEGER = 2.0**53
"""Below it a whole float64 is spelt like the integer, and is the same label."""
NOBODY = -1


class Persons:
    """Numbers of persons by their labels in normal form, in the order in which they come.

    Examples
    --------
    >>> persons = Persons()
    >>> persons.numbers(label_forms(np.array([7, 8, 7]))).tolist()
    [0, 1, 0]
    >>> persons.numbers(label_forms(np.array(["7.0", "anna", None]))).tolist()
    [0, 2, -1]
    """

    def __init__(self) -> None:
        self._known: dict[Form, int] = {}

    @property
    def count(self) -> int:
        """Number of persons so far."""
        return len(self._known)

    def numbers(self, forms: Sequence[Form]) -> NDArray[np.int64]:
        """Number of each label's person, -1 where the label is missing."""
        known = self._known
        found = (NOBODY if form is None else known.setdefault(form, len(known)) for form in forms)
        return np.fromiter(found, np.int64, len(forms))


def label_forms(labels: NDArray[Any]) -> list[Form]:
    """Normal forms of labels, whole numbers as integers; None where a label is missing.

    An integer equals the exact decimal of the same number and has its hash, so that either finds
    the other in a dictionary.
    """
    kind = labels.dtype.kind
    if kind in "biu":
        return [*map(int, labels.tolist())] if kind == "b" else [*labels.tolist()]
    if kind == "f":
        # A warning of numpy's would tell of the labels.
        with np.errstate(over="ignore"):
            return [*map(_float_form, labels.astype(np.float64).tolist())]
    forms: dict[tuple[type, Any], Form] = {}
    return [_remembered_form(label, forms) for label in labels.tolist()]


def _float_form(label: float) -> Form:
    if -LARGEST_INTEGER < label < LARGEST_INTEGER and label == int(label):
        return int(label)
    return normal_form(label)


def _remembered_form(label: Any, forms: dict[tuple[type, Any], Form]) -> Form:
    kind = type(label)
    if kind not in REMEMBERED:
        return normal_form(label)
    if (kind, label) not in forms:
        forms[kind, label] = normal_form(label)
    return forms[kind, label]


def kept_ranks(
    person: NDArray[np.int64],
    valid: NDArray[np.bool_],
    order: NDArray[np.float64],
    hashes: NDArray[np.uint64],
    persons: int,
    max_rows: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Choose at most `max_rows` records of each person: their slots, and how many each person has.

    Valid records come first, then those with the smallest order, then with the smallest hash. A
    person without a valid record keeps one that is not, and so remains a person. The slot of a
    record that is left out is -1.

    Guarantee
    ---------
    - Which of a person's records are kept, and in which slots, does not depend on other persons'.
    - Nor does it depend on the order in which the records come.

    Parameters
    ----------
    person
        Number of each record's person, from 0.
    valid, order
        Whether a record is valid, and its order cell; a constant where none is declared.
    hashes
        (record, 2): `row_hashes`.
    persons, max_rows
        Number of persons, and of records of one that are kept.
    """
    sequence = np.lexsort((hashes[:, 1], hashes[:, 0], order, ~valid, person))
    sizes = np.bincount(person, minlength=persons)
    rank = np.empty(len(person), dtype=np.int64)
    rank[sequence] = np.arange(len(person)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    kept = np.clip(np.bincount(person[valid], minlength=persons), 1, max_rows).astype(np.int64)
    return np.where(rank < kept[person], rank, NOBODY), kept


def row_hashes(rows: NDArray[Any]) -> NDArray[np.uint64]:
    """Two 64-bit hashes of each prepared record, by its own bits.

    The first is of the numbers rounded to float32, so that a table stored in float64 keeps the
    records that it keeps in float32. The second is of all bits. Zeros of either sign are one.
    """
    hashes = np.empty((len(rows), 2), dtype=np.uint64)
    _hash(np.ascontiguousarray(rows), hashes)
    return hashes


@compiled
def _hash(rows: NDArray[Any], hashes: NDArray[np.uint64]) -> None:
    for i in range(rows.shape[0]):
        one, two = np.uint64(0x243F6A8885A308D3), np.uint64(0x13198A2E03707344)
        for j in range(rows.shape[1]):
            coarse = np.float32(np.float32(rows[i, j]) + np.float32(0.0))
            fine = np.float64(np.float64(rows[i, j]) + 0.0)
            one = _mixed(one ^ np.uint64(coarse.view(np.uint32)))
            two = _mixed(two ^ fine.view(np.uint64))
        hashes[i, 0] = one
        hashes[i, 1] = two


@njit(nogil=True, error_model="numpy")
def _mixed(state: Any) -> Any:
    """Steele, Lea, Flood (2014), splitmix64: a step of the sequence and its finaliser."""
    state += np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@compiled
def put_records(
    rows: NDArray[Any],
    slot: NDArray[np.int64],
    first: NDArray[np.int64],
    lane: NDArray[np.int64],
    tiles: NDArray[Any],
) -> None:
    """Write records into their slots, counted from a first tile, and lanes; slot -1 is left out."""
    for i in range(rows.shape[0]):
        if slot[i] >= 0:
            for j in range(rows.shape[1]):
                tiles[first[i] + slot[i], j, lane[i]] = rows[i, j]
