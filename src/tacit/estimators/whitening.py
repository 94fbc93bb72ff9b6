"""Private whitening of features: a step of its own, with a price, before any estimator."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from tacit.certificate.certificate import Certificate
from tacit.design.design import Design
from tacit.design.response import Response
from tacit.documents.canonical_json import plain
from tacit.engine.prediction import mapped_rows
from tacit.errors import SettingError
from tacit.estimators.covariance import Covariance
from tacit.estimators.parameters import estimator
from tacit.solvers.spectrum import whitening
from tacit.validate import is_whole, positive, whole


@estimator
class PrivateWhitener(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Covariance):
    """Features in coordinates in which their covariance is near the identity, under differential privacy.

    u = (x - centre) / scale maps the bounds to [-1, 1]. With a noisy mean m and a noisy covariance V diag(e) V' of u

        z = W (u - m),   W = diag(1 / √(e + ridge·mean e)) V',   shrunk to norm R = row_clip·√components, over R

    Rows z have norm at most 1. An estimator after it takes `bounds=(-1, 1), row_norm=1`.

    Guarantee:

    - `transform` is a function of one record and of what `fit` released, to the last bit: it costs nothing more, and a
      neighbouring table has neighbouring features, under every relation. So a fit on them composes with this one.
    - A transformed row has norm at most 1, up to the rounding of its floats.
    - No content of a record makes `transform` fail: an invalid record becomes a row of NaN, and the estimator after it
      does with it what it does with invalid records.

    Parameters
    ----------
    components
        How many directions are kept, those with the most variance; None keeps all.
    ridge
        Added to every eigenvalue, as a share of their mean: directions that are noise are not blown up.
    row_clip
        Rows are shrunk to `row_clip` root mean squares of a whitened row.
    blocks
        Sizes of consecutive blocks of columns that are whitened apart, such as channels; None is one block.

    Attributes
    ----------
    whitening_
        W: (components, d).

    Examples
    --------
    >>> import numpy as np
    >>> place = np.arange(20_000)
    >>> x, other = np.cos(0.7 * place), np.sin(2.3 * place)
    >>> X = np.column_stack([x, x + 0.2 * other])
    >>> z = PrivateWhitener(epsilon=1.0, bounds=(-5, 5), ridge=0.01).fit_transform(X)
    >>> bool(abs(np.corrcoef(z.T)[0, 1]) < 0.1)
    True
    """

    learns_nothing: ClassVar[bool] = True
    """Beyond what it pays for: no fit behind it warns of preprocessing."""
    components: int | None = None
    ridge: float = 0.1
    row_clip: float = 3.0
    blocks: Sequence[int] | None = None

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Whiten records, each on its own; an invalid one stays invalid, as a row of NaN."""
        check_is_fitted(self)
        # Names alone: of a list, scikit-learn would look at the first record.
        _check_feature_names(self, X, reset=False)
        design = self.plan_.design
        mean = self.release_.theta[: len(design.columns)]
        radius = self.row_clip * math.sqrt(len(self.whitening_))
        return mapped_rows(X, design, mean, self.whitening_, radius) / radius

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse matrices are not read."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    def _design(self, names: Sequence[str], response: Response, *, columns: Mapping[str, str], sparse: bool) -> Design:
        positive("ridge", self.ridge)
        positive("row_clip", self.row_clip)
        if self.components is not None:
            whole("components", self.components, 1, len(names))
        if self.blocks is not None and not (
            isinstance(self.blocks, Iterable)
            and all(is_whole(size, 1) for size in self.blocks)
            and sum(self.blocks) == len(names)
        ):
            raise SettingError(f"blocks must be whole numbers above 0 that add up to the {len(names)} columns.")
        if sparse:
            raise SettingError("Sparse input is not supported, since whitened rows are dense: give X.toarray().")
        return super()._design(names, response, columns=columns, sparse=sparse)

    def _store(self, coefficients: NDArray[np.float64], design: Design) -> None:
        super()._store(coefficients, design)
        scale = np.array([column.scale for column in design.columns])
        covariance = self.covariance_ / np.outer(scale, scale)
        ends = [0, *accumulate(self.blocks or [len(scale)])]
        self.whitening_ = whitening(covariance, ends, self.components or len(scale), self.ridge)
        self._n_features_out = len(self.whitening_)

    @cached_property
    def certificate_(self) -> Certificate:
        """What was guaranteed, and why it is true; it covers mean and whitening."""
        mean = self.release_.theta[: len(self.plan_.design.columns)]
        covered = {"mean": mean, "whitening": self.whitening_, "design": self.plan_.design.to_json()}
        return Certificate.issue(self.release_, covered={name: plain(part) for name, part in covered.items()})
