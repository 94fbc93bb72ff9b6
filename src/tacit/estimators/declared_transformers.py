"""Transformers for a Pipeline that learn nothing: declared bounds to [-1, 1], declared levels to indicators."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from tacit.design.design import Column, Design, matrix_design
from tacit.design.factor import Indicator, LabelCell
from tacit.design.response import Absent
from tacit.engine.prediction import column_names, prepared_table
from tacit.errors import SettingError


class DeclaredTransformer(TransformerMixin, BaseEstimator):
    """A fixed public map of records: of the table given to `fit`, names and number of columns are all that is read."""

    learns_nothing: ClassVar[bool] = True
    """So that no fit behind it warns of preprocessing."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Note the names of the columns, and check the declarations; no record is read."""
        del y
        _check_feature_names(self, X, reset=True)
        names = column_names(X)
        self.n_features_in_ = len(names)
        self._design(names)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Map records, each on its own; an invalid one becomes a row of NaN."""
        check_is_fitted(self, "n_features_in_")
        _check_feature_names(self, X, reset=False)
        return prepared_table(X, self.n_features_in_, self._design)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns that `transform` returns."""
        check_is_fitted(self, "n_features_in_")
        own = getattr(self, "feature_names_in_", None)
        if input_features is None:
            input_features = [f"x{j}" for j in range(self.n_features_in_)] if own is None else own
        elif own is not None and list(input_features) != list(own):
            raise SettingError("input_features is not equal to feature_names_in_.")
        elif len(input_features) != self.n_features_in_:
            raise SettingError("input_features should have length equal to number of features.")
        design = self._design([str(name) for name in input_features])
        return np.array([column.name for column in design.columns], dtype=object)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse matrices are read; what is returned is dense."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @abstractmethod
    def _design(self, names: Sequence[str]) -> Design:
        """How named columns become rows."""


class BoundsScaler(DeclaredTransformer):
    """Columns from declared bounds to [-1, 1]: what StandardScaler is used for, without a look at the records.

    A value x becomes (x - middle) / half width; values outside the bounds act as if they stood on them.

    Guarantee:

    - A row is a function of its own record and of the declared bounds, to the last bit. Nothing is learned in `fit`. So
      the map costs no budget, under every relation.
    - No content of a record makes `transform` fail: a record with a missing value becomes a row of NaN, and the
      estimator behind it does with it what it does with invalid records.

    Parameters
    ----------
    bounds
        Public bounds: (lower, upper) for all columns, a pair for each column, a dict of pairs by name, or the sequences
        of all lower and of all upper ends.

    Examples
    --------
    >>> import numpy as np
    >>> BoundsScaler(bounds=[(0, 100), (0, 4)]).fit_transform(np.array([[50.0, 1.0], [200.0, 4.0]])).tolist()
    [[0.0, -0.5], [1.0, 1.0]]
    """

    def __init__(self, bounds: Any = None) -> None:
        self.bounds = bounds

    def _design(self, names: Sequence[str]) -> Design:
        if isinstance(self.bounds, str):
            raise SettingError("BoundsScaler takes declared bounds: it has no budget to find some.")
        return matrix_design(names, Absent(), bounds=self.bounds, row_norm=None, intercept=True)


class OneHotLevels(DeclaredTransformer):
    """Indicators of declared levels: what OneHotEncoder is used for, without a look at the records.

    Guarantee:

    - A row is a function of its own record and of the declared levels. Nothing is learned in `fit`: a level that no
      record has gets its column, and one that was not declared gets none. So the map costs no budget.
    - No content of a record makes `transform` fail: without `other`, a record with a missing or undeclared label
      becomes a row of NaN.

    Parameters
    ----------
    levels
        Public levels of each column: a dict by name, or a list of lists in the order of the columns.
    drop_first
        Whether the first level, as the reference, gets no column.
    other
        The level that missing and undeclared labels count as, in every column; None: the record is invalid.

    Examples
    --------
    >>> import numpy as np
    >>> model = OneHotLevels(levels=[["north", "south", "west"]], drop_first=True)
    >>> model.fit_transform(np.array([["south"], ["north"]])).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    >>> model.get_feature_names_out().tolist()
    ['x0_south', 'x0_west']
    """

    def __init__(self, levels: Any = None, *, drop_first: bool = False, other: str | None = None) -> None:
        self.levels, self.drop_first, self.other = levels, drop_first, other

    def _design(self, names: Sequence[str]) -> Design:
        levels = self._declared(names)
        first = int(bool(self.drop_first))
        columns = tuple(
            Column(f"{name}_{level}", (Indicator(name, level),), 0.0, 1.0, 0.0, 1.0)
            for name in names
            for level in levels[name][first:]
        )
        cells = {} if self.other is None else dict.fromkeys(names, LabelCell(str(self.other), str(self.other)))
        return Design(columns, Absent(), math.sqrt(len(columns)), intercept=False, levels=levels, cells=cells)

    def _declared(self, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
        ways = "a dict of lists by name, or a list of lists in the order of the columns"
        given = self.levels
        if given is None or isinstance(given, str):
            raise SettingError(f"Public levels are missing, and they are never read off the data: levels={ways}.")
        if not isinstance(given, Mapping):
            if len(given) != len(names):
                raise SettingError(f"levels must be {ways}; there are {len(names)} columns.")
            given = dict(zip(names, given, strict=True))
        if set(given) != set(names):
            raise SettingError(f"levels must be {ways}, and name every column and no other.")
        if any(isinstance(each, str) for each in given.values()):
            raise SettingError(f"levels must be {ways}; one of them is a text.")
        found = {name: tuple(str(level) for level in given[name]) for name in names}
        for name, own in found.items():
            if len(own) < 2 or len(set(own)) < len(own):
                raise SettingError(f"The levels of {name!r} must be at least two, and all different.")
            if self.other is not None and str(self.other) not in own:
                raise SettingError(f"other={self.other!r} is no level of {name!r}.")
        return found
