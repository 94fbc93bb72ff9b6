"""A response given as a matrix of one column, as scikit-learn takes it."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.exceptions import DataConversionWarning


def column_vector(y: Any) -> Any:
    """Return the one column of an array or a table of one column, with scikit-learn's warning; all else as it is.

    Guarantee: only the shape is looked at, which is public.
    """
    shape = getattr(y, "shape", None)
    if not isinstance(shape, tuple) or len(shape) != 2 or shape[1] != 1:
        return y
    # In scikit-learn's words, by which the warning is filtered.
    text = "A column-vector y was passed when a 1d array was expected"
    warnings.warn(f"{text}. Give y of shape (n_samples,): y.ravel().", DataConversionWarning, stacklevel=4)
    if hasattr(y, "iloc"):
        return y.iloc[:, 0]
    return y[:, 0] if hasattr(y, "__array__") or hasattr(y, "to_numpy") else y
