"""Which tables `fit` takes: arrays and tables with what stands beside them, or files by the names of their columns."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from tacit.contract.cluster import Cluster
from tacit.design.response import Response
from tacit.engine.table import Table, is_stored
from tacit.errors import DataError, SettingError


def require_form(X: Any, y: Any, given: Mapping[str, Any], *, has_response: bool, files: bool) -> None:
    """Refuse what is no table, or names no columns where it must; nothing is opened.

    Where `files` are taken, the response and what stands beside the records of files are names of their columns.
    """
    if y is None and has_response:
        raise DataError("requires y to be passed, but the target y is None.")
    if files and is_stored(X, y):
        if not all(isinstance(values, str) for values in (y if has_response else "", *given.values())):
            beside = "response, weights, units, order and exposure are columns of them"
            raise DataError(
                f"X are files, or a Dask dataframe with its response: {beside}. Give the names of the columns."
            )
        return
    if isinstance(X, str | os.PathLike) or isinstance(y, str):
        what = "fit takes features X and a response y beside them, or files X and the name y of a column of theirs"
        raise DataError(f"{what}; for a response named in a table, use tacit.glm.")
    if any(isinstance(values, str) for values in given.values()):
        raise DataError("Weights, units, order and exposure are sequences beside X.")


def require_declared_classes(cluster: Cluster | None, stand_ins: Sequence[Response]) -> None:
    """Refuse to look for classes on a cluster: the coordinator would have to read every record itself."""
    if cluster is not None and stand_ins:
        raise SettingError("On a cluster the classes must be declared with classes=[…]: its workers answer sums alone.")


def feature_names(model: Any, X: Any, y: Any, table: Table) -> Sequence[str]:
    """Names of the features, which scikit-learn is told of.

    Of files those columns that are nothing else; where bounds are declared by name, the columns that have some.
    """
    if not is_stored(X, y):
        # Names alone: of a list, scikit-learn would look at the first record.
        validate_data(model, X, skip_check_array=True, ensure_2d=False)
        return table.names
    beside = {table.response, *table.attached.values()}
    names = [name for name in table.names if name not in beside]
    if isinstance(model.bounds, Mapping):
        chosen = frozenset(model.bounds)
        names = [name for name in names if name in chosen]
    if not names:
        raise DataError("The files have no columns for features.")
    model.feature_names_in_ = np.array(names, dtype=object)
    return names
