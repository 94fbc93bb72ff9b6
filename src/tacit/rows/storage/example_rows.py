"""Examples of a network: an array of inputs and one label each. Private.

An example that is not valid stays in its place and contributes nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Never

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.rows.storage.store import not_pickled

Places = NDArray[np.int64]


class PaddedBatch(NamedTuple):
    """Inputs and labels in public slots; `filled` says where a valid example stands."""

    inputs: NDArray[Any]
    labels: NDArray[Any]
    filled: NDArray[np.bool_]


class ExampleRows(NamedTuple):
    """Inputs (record, …) of one public shape, labels, and which examples are valid. Neither pickled nor copied."""

    inputs: NDArray[Any]
    labels: NDArray[Any]
    valid: NDArray[np.bool_]

    def __reduce__(self) -> Never:
        raise not_pickled()

    @classmethod
    def admit(cls, inputs: NDArray[Any], labels: NDArray[Any], valid: NDArray[np.bool_]) -> ExampleRows:
        """Take inputs of float32 or int64 and labels in; shapes and types are public, contents are not looked at."""
        if inputs.dtype not in (np.float32, np.int64) or labels.dtype not in (np.float32, np.int64):
            raise DataError("Inputs and labels of a network must be float32 or int64.")
        if len(labels) != len(inputs) or valid.shape != (len(inputs),) or inputs.ndim < 2:
            raise DataError("There must be one label for each input, and inputs need a shape of their own.")
        if len(inputs) < 2:
            raise DataError("There are fewer than two records.")
        return cls(inputs, labels, valid)

    @property
    def length(self) -> int:
        """Number of records, which is public."""
        return len(self.labels)

    def padded(self, members: Places, places: Places, slots: int) -> PaddedBatch:
        """Put records `members` into `places` of `slots`; all others are blank.

        Guarantee: what stands in a place is a function of the record that was put there. A record that is not valid
        leaves its place as blank as if none had been put there.
        """
        kept = self.valid[members]
        rows, where = members[kept], places[kept]
        inputs = np.zeros((slots, *self.inputs.shape[1:]), dtype=self.inputs.dtype)
        labels = np.zeros((slots, *self.labels.shape[1:]), dtype=self.labels.dtype)
        filled = np.zeros(slots, dtype=np.bool_)
        inputs[where], labels[where], filled[where] = self.inputs[rows], self.labels[rows], True
        return PaddedBatch(inputs, labels, filled)
