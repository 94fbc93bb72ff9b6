"""What a training takes: arrays and tensors, never a loader, and no refusal for contents."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import tacit
from tacit.errors import DataError, SettingError
from tacit.neural.examples import examples_of, shapes_of

X, Y = np.arange(12.0).reshape(6, 2), np.arange(6) % 2
PLAIN, TOKENS = nn.Linear(2, 2), nn.Embedding(5, 2)


def test_arrays_tensors_and_datasets_are_the_same() -> None:
    tensors = torch.from_numpy(X), torch.from_numpy(Y)
    pairs: list[tuple[Any, Any]] = [(X, Y), tensors, (TensorDataset(*tensors), None), (X.tolist(), Y.tolist())]
    for inputs, labels in pairs:
        found = examples_of(inputs, labels, PLAIN, whole_labels=True)
        assert (str(found.inputs.dtype), str(found.labels.dtype)) == ("float32", "int64")
        assert np.array_equal(found.inputs, X)
        assert found.valid.all()


def test_numbers_of_few_bits_are_read_as_they_are() -> None:
    few = torch.tensor([[1.5, -2.0], [0.25, 3.0]], dtype=torch.bfloat16)
    found = examples_of(few, torch.ones(2, dtype=torch.bfloat16), PLAIN, whole_labels=True)
    assert np.array_equal(found.inputs, few.float().numpy())
    assert found.labels.tolist() == [1, 1]


def test_a_loader_is_refused_with_the_reason() -> None:
    loader = DataLoader(TensorDataset(torch.from_numpy(X), torch.from_numpy(Y)), shuffle=True)
    with pytest.raises(SettingError, match=r"shuffles.*Poisson"):
        examples_of(loader, None, PLAIN, whole_labels=True)


class Later:
    """Cells that are computed when they are read, by a program that may fail."""

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        raise AssertionError("read")


def test_inside_a_ledger_arrays_are_refused_by_their_type_alone(tmp_path: Path) -> None:
    with tacit.Ledger(tmp_path / "ledger", budget=tacit.Budget(epsilon=3.0, delta=1e-5), law="rdp"):
        for inputs, labels in ((X.tolist(), Y), (X, Y.tolist()), (pd.DataFrame(X), Y)):
            with pytest.raises(DataError, match=r"type of a list.*Nothing was spent"):
                examples_of(inputs, labels, PLAIN, whole_labels=True)
        with pytest.raises(SettingError, match="compute their cells"):
            examples_of(Later(), Y, PLAIN, whole_labels=True)
        for given, known in ((X, Y), (torch.from_numpy(X), torch.from_numpy(Y))):
            assert examples_of(given, known, PLAIN, whole_labels=True).valid.all()


def test_arrays_of_no_shape_or_kind_are_refused_in_words() -> None:
    for inputs in ([[1.0, 2.0], [3.0]], torch.eye(2).to_sparse()):
        with pytest.raises(DataError, match="arrays of numbers, all records of one shape"):
            examples_of(inputs, [0, 1], PLAIN, whole_labels=True)


def test_numbers_that_are_not_finite_are_not_refused() -> None:
    bad = X.copy()
    bad[3, 1] = np.nan
    assert examples_of(bad, Y, PLAIN, whole_labels=True).valid.all()


def test_tokens_outside_the_embedding_make_an_example_invalid() -> None:
    tokens = np.array([[0, 4], [1, 5], [-1, 2]])
    found = examples_of(tokens, np.zeros(3), TOKENS, whole_labels=True)
    assert found.valid.tolist() == [True, False, False]
    assert shapes_of(found) == ((2, torch.int64), (torch.int64,))
    assert examples_of(tokens, np.zeros(3), PLAIN, whole_labels=False).inputs.dtype == np.float32


@pytest.mark.parametrize(("inputs", "labels"), [(X, None), (X, Y[:3]), (X[:, 0], Y), (np.array([["a"]] * 6), Y)])
def test_wrong_shapes_are_refused(inputs: Any, labels: Any) -> None:
    with pytest.raises(DataError):
        examples_of(inputs, labels, PLAIN, whole_labels=True)


def test_labels_that_are_no_class_number_make_their_example_invalid_without_a_word() -> None:
    labels = np.array([0, 1, np.nan, 1.5, 1e30, 1])
    inputs = X.copy()
    inputs[1, 1] = 1e300
    found = examples_of(inputs, labels, PLAIN, whole_labels=True)
    assert found.valid.tolist() == [True, True, False, False, False, True]
    assert found.labels.tolist() == [0, 1, 0, 0, 0, 1]
    assert np.isinf(found.inputs[1, 1])


def test_labels_that_are_no_numbers_are_refused_by_their_type() -> None:
    with pytest.raises(DataError, match="y must be an array of numbers"):
        examples_of(X, ["a", "b"] * 3, PLAIN, whole_labels=True)
