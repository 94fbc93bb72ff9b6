"""Examples in slots: blanks stay blank, and what is not valid leaves nothing behind."""

import pickle

import numpy as np
import pytest

from tacit.errors import DataError, TacitError
from tacit.rows.storage.example_rows import ExampleRows

INPUTS = np.arange(1, 13, dtype=np.float32).reshape(4, 3)
LABELS = np.arange(1, 5, dtype=np.int64)


def admitted(valid: tuple[bool, ...] = (True,) * 4) -> ExampleRows:
    return ExampleRows.admit(INPUTS, LABELS, np.array(valid))


def test_members_stand_at_their_places_and_the_others_are_blank() -> None:
    batch = admitted().padded(np.array([2, 0]), np.array([5, 1]), 8)
    assert np.array_equal(batch.inputs[[5, 1]], INPUTS[[2, 0]])
    assert np.array_equal(batch.labels, [0, 1, 0, 0, 0, 3, 0, 0])
    assert np.array_equal(np.flatnonzero(batch.filled), [1, 5])
    assert not batch.inputs[[0, 2, 3, 4, 6, 7]].any()


def test_a_record_that_is_not_valid_is_as_one_that_was_not_drawn() -> None:
    blank = admitted((True, True, False, True)).padded(np.array([2, 0]), np.array([5, 1]), 8)
    without = admitted().padded(np.array([0]), np.array([1]), 8)
    assert all(np.array_equal(one, other) for one, other in zip(blank, without, strict=True))


def test_an_empty_batch_is_all_blank() -> None:
    nothing = np.empty(0, dtype=np.int64)
    assert not admitted().padded(nothing, nothing, 4).filled.any()


def test_other_types_and_lengths_are_refused() -> None:
    valid = np.ones(4, dtype=np.bool_)
    for inputs, labels in ((INPUTS.astype(np.float64), LABELS), (INPUTS, LABELS[:3]), (INPUTS[:, 0], LABELS)):
        with pytest.raises(DataError):
            ExampleRows.admit(inputs, labels, valid)
    with pytest.raises(DataError, match="fewer than two"):
        ExampleRows.admit(INPUTS[:1], LABELS[:1], valid[:1])


def test_examples_are_not_pickled() -> None:
    with pytest.raises(TacitError):
        pickle.dumps(admitted())
