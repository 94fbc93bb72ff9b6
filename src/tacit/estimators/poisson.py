"""Private Poisson regression of counts, with exposures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from tacit.contract.plan import PublicFact
from tacit.design.response import Count, Response
from tacit.engine.table import Table
from tacit.errors import BoundsError
from tacit.estimators.attached_columns import EXPOSURE, ORDER, UNIT, WEIGHT, Declared
from tacit.estimators.base import LinearModel
from tacit.estimators.loss_choice import loss_of, predicted
from tacit.estimators.parameters import estimator
from tacit.losses.loss import Loss
from tacit.validate import is_number


@estimator
class PoissonRegressor(RegressorMixin, LinearModel):
    """Poisson regression with log link under differential privacy.

    Minimises mean exp(η) - y·η + (l2 / 2)‖coef - prior_mean‖² with η = x·coef + log(exposure). From
    η = log(y_max) + 1 on the loss follows its tangent. At ε = ∞ it equals scikit-learn's
    PoissonRegressor at alpha = l2.

    Guarantee
    ---------
    - Counts above `y_max` act as if they were it, exposures outside `exposure_bounds` as if they
      stood on them.

    Parameters
    ----------
    y_max
        Public largest count. Counts are whole numbers from 0.
    exposure_bounds
        Public (lower, upper) of the exposures, where `fit` is given them.

    Attributes
    ----------
    coef_, intercept_
        On the user's scale: (d,) and a number.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 20_000).reshape(-1, 1)
    >>> y = np.floor(np.exp(1 + X[:, 0]) + np.arange(20_000) * 0.618 % 1)
    >>> model = PoissonRegressor(epsilon=1.0, bounds=(-1, 1), y_max=20).fit(X, y)
    >>> bool(abs(model.coef_[0] - 1) < 0.3)
    True
    """

    y_max: float | None = None
    exposure_bounds: Sequence[float] | None = None

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        units: Any = None,
        order: Any = None,
        exposure: Any = None,
    ) -> Self:
        """Fit to private records and release the coefficients.

        Parameters
        ----------
        X, y
            Features and counts.
        exposure
            How long or how much each record was observed, above 0; needs `exposure_bounds`.

        The other parameters are those of `LogisticRegression.fit`.
        """
        attached = {WEIGHT: sample_weight, UNIT: units, ORDER: order, EXPOSURE: exposure}
        return self._fit(X, y, attached)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the rates of new records: expected counts at exposure 1."""
        margins = self._linear_predictors(X)
        design = self.plan_.design
        return predicted(design.response, margins, design.attached.offset)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that counts are not negative."""
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags

    def _response(self, name: str, table: Table | None) -> Response:
        del table
        if self.y_max is None:
            raise BoundsError(
                "The largest count is missing, and it is never read off the data. Two ways out: "
                "declare y_max=…, above which counts act as if they were it, or, in a schema, "
                'declare "lower" and "upper" of the column and use tacit.glm.'
            )
        if not is_number(self.y_max) or not math.isfinite(self.y_max):
            raise BoundsError("y_max must be a number: the largest count.")
        return Count(name, float(self.y_max))

    def _declared(self) -> Declared:
        return Declared(self.max_weight, self.max_rows_per_unit, self.exposure_bounds)

    def _loss(self, response: Response) -> Loss:
        return loss_of("poisson", response)

    def _facts(self, response: Response) -> list[PublicFact]:
        del response
        return [PublicFact("y_max", self.y_max, "declared")]
