"""The covariance of the columns of a table under differential privacy."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.certificate.certificate import Certificate
from tacit.design.design import Design
from tacit.design.response import Response
from tacit.documents.canonical_json import plain
from tacit.estimators.parameters import estimator
from tacit.estimators.regressors import ColumnMoments
from tacit.losses import regression
from tacit.losses.loss import Loss


@estimator
class Covariance(ColumnMoments):
    """Mean, covariance and correlation of the columns of a table under differential privacy.

    At ε = ∞ the covariance is scikit-learn's EmpiricalCovariance, that is, numpy's with ddof=0. The solver "moments"
    asks once, in the coordinates of the bounds. "auto" asks twice, the second time in whitened coordinates where these
    have less noise; rows beyond about three times the typical length then weigh less.

    Guarantee:

    - `covariance_` is symmetric without negative eigenvalues, `correlation_` has ones on its diagonal and no entry
      beyond ±1, whatever the noise was.

    Attributes
    ----------
    location_, mean_
        The mean of each column.
    covariance_, correlation_
        Of the columns: (d, d).

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 20_000)
    >>> model = Covariance(epsilon=1.0, bounds=(0, 2)).fit(np.column_stack([x, 2 * x]))
    >>> bool(abs(model.covariance_[0, 1] - 1 / 6) < 0.02 and model.correlation_[0, 1] > 0.9)
    True
    """

    def _loss(self, _response: Response) -> Loss:
        return regression.SCATTER

    def _store(self, coefficients: NDArray[np.float64], design: Design) -> None:
        """Set mean, covariance and correlation; a column without spread is correlated with none."""
        super()._store(coefficients, design)
        self.covariance_ = (self.covariance_ + self.covariance_.T) / 2
        deviations = np.sqrt(np.maximum(np.diag(self.covariance_), 0.0))
        inverse = np.divide(1.0, deviations, out=np.zeros_like(deviations), where=deviations > 0)
        self.correlation_ = np.clip(self.covariance_ * np.outer(inverse, inverse), -1.0, 1.0)
        np.fill_diagonal(self.correlation_, 1.0)

    @cached_property
    def certificate_(self) -> Certificate:
        """What was guaranteed, and why it is true; it covers the covariance too."""
        names = ("name", "coef", "std_err", "lower", "upper")
        terms = [dict(zip(names, row, strict=True)) for row in self.release_.estimates()]
        covered = {"terms": terms, "design": self.plan_.design.to_json(), "covariance": self.covariance_}
        return Certificate.issue(self.release_, covered={name: plain(part) for name, part in covered.items()})
