"""Private regressions: least squares, ridge, Huber, a quantile, and Poisson counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin

from tacit.contract.plan import PublicFact
from tacit.design.design import PRIVATE
from tacit.design.response import Continuous, Count, Response
from tacit.engine.table import Table
from tacit.errors import BoundsError
from tacit.estimators.attached_columns import EXPOSURE, ORDER, UNIT, WEIGHT, Declared
from tacit.estimators.base import LinearModel
from tacit.estimators.loss_choice import LossShape, loss_of, predicted
from tacit.estimators.parameters import estimator
from tacit.losses.loss import Loss
from tacit.validate import is_number


@dataclass(eq=False, repr=False, kw_only=True)
class Regressor(RegressorMixin, LinearModel):
    """A regression of a number.

    Attributes
    ----------
    coef_, intercept_
        On the user's scale: (d,) and a number.
    """

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the expected responses of new records: within `y_bounds`, or rates of counts."""
        margins, design = self._linear_predictors(X), self.plan_.design
        return predicted(design.response, margins, design.attached.offset)


@dataclass(eq=False, repr=False, kw_only=True)
class BoundedRegressor(Regressor):
    """A regression of a continuous response with declared `y_bounds`.

    Guarantee
    ---------
    - A response outside `y_bounds` acts as if it stood on them. They are declared, or found at a
      price, never read off the data.
    - Predictions lie within them.

    Parameters
    ----------
    y_bounds
        Public (lower, upper) of the response. "private": part of the budget is spent on finding
        them. Predictions are clipped to them.
    """

    family = "gaussian"
    y_bounds: ArrayLike | str | None = None

    def _response(self, name: str, _table: Table | None) -> Response:
        if isinstance(self.y_bounds, str) and self.y_bounds == PRIVATE:
            return Continuous.opened(name)
        lower, upper = response_ends(self.y_bounds)
        return Continuous.of(name, lower, upper, centred=self.fit_intercept)

    def _shape(self) -> LossShape:
        return LossShape()

    def _loss(self, response: Response) -> Loss:
        return loss_of(self.family, response, self._shape())

    def _facts(self, response: Response) -> list[PublicFact]:
        ends: Any = PRIVATE
        if isinstance(response, Continuous) and not response.is_open:
            ends = [response.lower, response.upper]
        return [PublicFact("y_bounds", ends, "declared"), *self._shape().facts(self.family)]


@estimator
class LinearRegression(BoundedRegressor):
    """Least squares under differential privacy; nothing to tune.

    Minimises mean ½(y - x·coef)² + (l2 / 2)‖coef - prior_mean‖². At ε = ∞ it equals scikit-learn's
    LinearRegression. The private fit limits the influence of large residuals, as Huber's loss does.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 20_000).reshape(-1, 1)
    >>> y = 3 * X[:, 0] + np.sin(np.arange(20_000))
    >>> model = LinearRegression(epsilon=1.0, bounds=(-1, 1), y_bounds=(-5, 5)).fit(X, y)
    >>> bool(abs(model.coef_[0] - 3) < 0.3)
    True
    """


@estimator
class Ridge(BoundedRegressor):
    """Least squares with a ridge penalty under differential privacy.

    Minimises mean ½(y - x·coef)² + (l2 / 2)‖coef - prior_mean‖²; the intercept is free. With n
    records it is scikit-learn's Ridge at alpha = n·l2, to which it is equal at ε = ∞. The penalty
    involves no record, so it costs nothing.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 20_000).reshape(-1, 1)
    >>> y = 3 * X[:, 0] + np.sin(np.arange(20_000))
    >>> facts = {"bounds": (-1, 1), "y_bounds": (-5, 5)}
    >>> model = Ridge(epsilon=1.0, l2=1 / 3, **facts).fit(X, y)
    >>> bool(abs(model.coef_[0] - 1.5) < 0.3)
    True
    """

    l2: float = 1e-3


@estimator
class HuberRegressor(BoundedRegressor):
    """Linear regression with Huber's loss under differential privacy.

    Minimises mean ρ(y - x·coef) + (l2 / 2)‖coef - prior_mean‖², where ρ(r) = ½r² up to
    c = threshold·scale and c|r| - ½c² beyond.

    Parameters
    ----------
    threshold
        In units of the errors' standard deviation; 1.345 has 95% efficiency under Gaussian errors.
    scale
        The errors' standard deviation, a public guess in units of y; None: the radius that holds
        seven tenths of the residuals over that of a unit normal variable, found privately.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 20_000).reshape(-1, 1)
    >>> y = 3 * X[:, 0] + np.sin(np.arange(20_000))
    >>> y[::20] = 50.0
    >>> facts = {"bounds": (-1, 1), "y_bounds": (-50, 50), "scale": 0.7}
    >>> model = HuberRegressor(epsilon=1.0, **facts).fit(X, y)
    >>> bool(abs(model.coef_[0] - 3) < 0.5)
    True
    """

    family = "huber"
    threshold: float = 1.345
    scale: float | None = None

    def _shape(self) -> LossShape:
        return LossShape(threshold=self.threshold, scale=self.scale)


@estimator
class QuantileRegressor(BoundedRegressor):
    """Regression of a quantile under differential privacy.

    Minimises mean ρ(y - x·coef) + (l2 / 2)‖coef - prior_mean‖², where ρ(r) is quantile·r for r ≥ h,
    (quantile - 1)·r for r ≤ -h, and the parabola that joins them between, h = `smoothing`.

    Parameters
    ----------
    quantile
        Which quantile, between 0 and 1; 0.5 is the median.
    smoothing
        Half width h of the rounded corner, in units of y; None: 0.3 deviations of the residuals,
        found privately. A corner over ±h moves a quantile about as much as further errors of
        variance h² / 3 would.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 20_000).reshape(-1, 1)
    >>> y = 3 * X[:, 0] + np.sin(np.arange(20_000))
    >>> facts = {"bounds": (-1, 1), "y_bounds": (-5, 5)}
    >>> model = QuantileRegressor(epsilon=1.0, quantile=0.8, **facts).fit(X, y)
    >>> bool(abs(np.mean(y < model.predict(X)) - 0.8) < 0.1)
    True
    """

    family = "quantile"
    quantile: float = 0.5
    smoothing: float | None = None

    def _shape(self) -> LossShape:
        return LossShape(quantile=self.quantile, smoothing=self.smoothing)


@estimator
class PoissonRegressor(Regressor):
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
        Public (lower, upper) of the exposures, where `fit` is given them. `predict` returns rates:
        expected counts at exposure 1.

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

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that counts are not negative."""
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags

    def _response(self, name: str, _table: Table | None) -> Response:
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

    def _facts(self, _response: Response) -> list[PublicFact]:
        return [PublicFact("y_max", self.y_max, "declared")]


def response_ends(bounds: Any) -> tuple[float, float]:
    """Public bounds of the response, or a refusal that names the ways out."""
    if bounds is None:
        raise BoundsError(
            "Public bounds of the response are missing, and they are never read off the data. "
            "Three ways out: declare y_bounds=(lower, upper), outside of which responses act as if "
            'they stood on the bound, set y_bounds="private" to spend part of the budget on '
            'finding them, or, in a schema, declare "lower" and "upper" of its column and use '
            "tacit.glm."
        )
    try:
        lower, upper = bounds
    except (TypeError, ValueError):
        lower = upper = None
    if not (is_number(lower) and is_number(upper)):
        raise BoundsError('y_bounds must be two numbers (lower, upper), or "private".')
    if not (np.isfinite(lower) and np.isfinite(upper) and lower < upper):
        raise BoundsError("y_bounds must be finite, the lower one below the upper.")
    return float(lower), float(upper)
