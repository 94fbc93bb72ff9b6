"""Private mean of the columns, and their covariance where the plan asked for second moments."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.contract.plan import PublicFact
from tacit.contract.release import Release
from tacit.design.design import Design
from tacit.design.response import Absent, Response
from tacit.engine.table import Table
from tacit.estimators.attached_columns import ORDER, UNIT, WEIGHT
from tacit.estimators.base import Model
from tacit.estimators.parameters import estimator
from tacit.losses import squared
from tacit.losses.loss import Loss


@estimator
class GaussianMean(Model):
    """Mean of the columns of a table under differential privacy.

    Minimises mean ½‖x - location‖².

    Attributes
    ----------
    mean_, location_
        The mean of each column.
    covariance_
        The covariance of the columns, where the plan asked for second moments; else None.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.column_stack([np.linspace(0, 1, 10_000), np.linspace(4, 6, 10_000)])
    >>> model = GaussianMean(epsilon=1.0, bounds=(0, 10)).fit(X)
    >>> bool(np.abs(model.mean_ - [0.5, 5.0]).max() < 0.2)
    True
    """

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, units: Any = None, order: Any = None
    ) -> Self:
        """Release the mean of private records; y is ignored.

        The parameters are those of `LogisticRegression.fit`.
        """
        del y
        return self._fit(X, None, {WEIGHT: sample_weight, UNIT: units, ORDER: order})

    def _response(self, name: str, table: Table | None) -> Response:
        del name, table
        return Absent()

    def _loss(self, response: Response) -> Loss:
        del response
        return squared.DISTANCE

    def _facts(self, response: Response) -> list[PublicFact]:
        del response
        return []

    def _store(self, coefficients: NDArray[np.float64], design: Design) -> None:
        del design
        self.mean_ = self.location_ = coefficients
        self.covariance_ = _covariance(self.release_)


def _covariance(release: Release) -> NDArray[np.float64] | None:
    """Second moments less the squared mean, without negative eigenvalues, on the user's scale."""
    if release.moments is None:
        return None
    design = release.plan.design
    count = len(design.columns)
    mean = release.theta[:count]
    values, vectors = np.linalg.eigh(release.moments[:count, :count] - np.outer(mean, mean))
    scales = np.array([column.scale for column in design.columns])
    root = scales[:, None] * (vectors * np.sqrt(np.maximum(values, 0.0)))
    return np.asarray(root @ root.T)
