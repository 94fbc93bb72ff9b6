"""Arrays of examples as a network takes them. Shapes and types are public, contents are not looked at."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from tacit.engine.ledger_use import Refusals
from tacit.errors import DataError, SettingError

LARGEST_LABEL = 2**31
TYPED = (np.ndarray, torch.Tensor)
"""Arrays whose type says what they hold, whatever that is."""


class Examples(NamedTuple):
    """Inputs, labels, and which examples are valid."""

    inputs: NDArray[Any]
    labels: NDArray[Any]
    valid: NDArray[np.bool_]


def examples_of(X: Any, y: Any, module: nn.Module, *, whole_labels: bool) -> Examples:
    """Read arrays, tensors or a TensorDataset; a loader is refused.

    Guarantee: no example is refused for its content. Tokens that no embedding has make an example invalid; numbers
    that are not finite are left to the loss, which then has no gradient. Inside a ledger lists and frames are refused
    by their type: what they are read as depends on each of their cells.
    """
    refusals = Refusals.settle(None, beside=(X, y))
    if isinstance(X, DataLoader):
        raise SettingError(
            "A DataLoader shuffles examples and cuts them into batches, and that is not what the price is for: each "
            "step draws its own secret Poisson batch. Give the arrays: fit(X, y), or fit(dataset). Nothing was spent."
        )
    if y is None and isinstance(X, TensorDataset):
        if len(X.tensors) != 2:
            raise DataError("A dataset must have inputs and labels.")
        X, y = X.tensors
    if y is None:
        raise DataError("y is missing: give inputs and labels.")
    if refusals.invalid_rows != "error" and not (isinstance(X, TYPED) and isinstance(y, TYPED)):
        raise DataError(
            "Inside a ledger X and y are numpy arrays or tensors: the type of a list or a frame depends on what it "
            "holds. Nothing was spent."
        )
    inputs = _array(X)
    labels, valid = _labels(_array(y), whole_labels=whole_labels)
    if inputs.ndim < 2 or len(labels) != len(inputs):
        raise DataError("X must be an array of records with at least two dimensions, and y one label for each.")
    if inputs.dtype.kind == "f":
        return Examples(_float32(inputs), labels, valid)
    if inputs.dtype.kind not in "iub":
        raise DataError("X must be an array of numbers.")
    sizes = [layer.num_embeddings for layer in module.modules() if isinstance(layer, nn.Embedding)]
    if not sizes:
        return Examples(_float32(inputs), labels, valid)
    tokens = np.ascontiguousarray(inputs, dtype=np.int64)
    known = ((tokens >= 0) & (tokens < max(sizes))).all(axis=tuple(range(1, tokens.ndim)))
    return Examples(tokens, labels, np.asarray(known) & valid)


def _labels(cells: NDArray[Any], *, whole_labels: bool) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Labels as a loss takes them, and which are known: not those that are no whole numbers where these are needed."""
    if cells.dtype.kind not in "fiub" or cells.ndim < 1:
        raise DataError("y must be an array of numbers, one label for each record.")
    if not whole_labels:
        return _float32(cells), np.ones(len(cells), np.bool_)
    # Labels are compared before they are cast: a cast of what is no whole number would warn of it.
    known = (np.floor(cells) == cells) & (np.abs(cells) < LARGEST_LABEL)
    labels = np.ascontiguousarray(np.where(known, cells, 0), dtype=np.int64)
    return labels, np.asarray(known.all(axis=tuple(range(1, known.ndim))))


def _float32(cells: NDArray[Any]) -> NDArray[np.float32]:
    """Cast without a word about a number that is too large: it becomes infinite, and its example has no gradient."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(cells, dtype=np.float32)


def _array(values: Any) -> NDArray[Any]:
    try:
        if isinstance(values, torch.Tensor):
            # Numpy has no bfloat16, whose numbers are all float32 too.
            return (values.float() if values.dtype == torch.bfloat16 else values).detach().cpu().numpy()
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise DataError("X and y must be arrays of numbers, all records of one shape.") from error


def shapes_of(examples: Examples) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Shape and torch type of one input, and of one label."""
    kinds = {np.dtype(np.float32): torch.float32, np.dtype(np.int64): torch.int64}
    inputs, labels = examples.inputs, examples.labels
    return (*inputs.shape[1:], kinds[inputs.dtype]), (*labels.shape[1:], kinds[labels.dtype])
