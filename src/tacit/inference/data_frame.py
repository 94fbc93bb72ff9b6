"""Columns as a table of pandas' where that is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def frame_of(columns: Mapping[str, Any], index: Sequence[str] | None = None) -> Any:
    """A pandas DataFrame; without pandas a dict of columns, the index among them as "term".

    Examples
    --------
    >>> list(frame_of({"coef": [1.0]}, ["age"])["coef"])
    [1.0]
    """
    try:
        import pandas as pd
    except ImportError:
        plain = {name: np.asarray(column).tolist() for name, column in columns.items()}
        return plain if index is None else {"term": list(index), **plain}
    return pd.DataFrame(dict(columns), index=None if index is None else list(index))
