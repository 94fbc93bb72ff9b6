"""Private regressions (least squares, ridge, Huber, a quantile, Poisson counts), and the mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin

from tacit.contract.plan import PublicFact
from tacit.design.design import PRIVATE, Design
from tacit.design.response import Absent, Continuous, Count, Response
from tacit.engine.table import Table
from tacit.errors import BoundsError
from tacit.estimators.base import LinearModel, Model, with_noise
from tacit.estimators.loss_choice import LossShape, loss_of, predicted
from tacit.estimators.parameters import estimator
from tacit.estimators.settings import EXPOSURE, ORDER, UNIT, WEIGHT, two_ends
from tacit.losses import regression
from tacit.losses.loss import Loss
from tacit.validate import finite


@dataclass(eq=False, repr=False, kw_only=True)
class Regressor(RegressorMixin, LinearModel):
    """A regression of a number.

    Attributes
    ----------
    coef_, intercept_
        On the user's scale: (d,) and a number.
    """

    family = "gaussian"

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that scores are noisy."""
        return with_noise(super().__sklearn_tags__(), self.epsilon)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the expected responses of new records: within `y_bounds`, or rates of counts."""
        margins, design = self._linear_predictors(X), self.plan_.design
        return predicted(design.response, margins, design.attached.offset)

    def _shape(self) -> LossShape:
        """Numbers of the loss: those of them that are parameters of the class."""
        return LossShape(**{name: vars(self)[name] for name in LossShape.__annotations__ if name in vars(self)})

    def _loss(self, response: Response) -> Loss:
        return loss_of(self.family, response, self._shape())


@dataclass(eq=False, repr=False, kw_only=True)
class BoundedRegressor(Regressor):
    """A regression of a continuous response with declared `y_bounds`.

    Guarantee:

    - A response outside `y_bounds` acts as if it stood on them, and predictions lie within them. They are declared, or
      found at a price, never read off the data.

    Parameters
    ----------
    y_bounds
        Public (lower, upper) of the response. "private": part of the budget is spent on finding them.
    """

    y_bounds: ArrayLike | str | None = None

    def _response(self, name: str, _table: Table | None) -> Response:
        if isinstance(self.y_bounds, str) and self.y_bounds == PRIVATE:
            return Continuous.opened(name)
        lower, upper = response_ends(self.y_bounds)
        return Continuous.of(name, lower, upper, centred=self.fit_intercept)

    def _facts(self, response: Response) -> list[PublicFact]:
        ends: Any = PRIVATE
        if isinstance(response, Continuous) and not response.is_open:
            ends = [response.lower, response.upper]
        return [PublicFact("y_bounds", ends, "declared"), *self._shape().facts(self.family)]


@estimator
class LinearRegression(BoundedRegressor):
    """Least squares under differential privacy; nothing to tune.

    Minimises mean ½(y - x·coef)² + (l2 / 2)‖coef - prior_mean‖². At ε = ∞ it equals scikit-learn's
    LinearRegression. A private fit clips gradients at a multiple of the measured residuals. With
    inference=True the clip adapts to their tail, and intervals are for least squares, also under
    skewed errors; large residuals then cost width (`HuberRegressor` is the robust choice).

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
    >>> model = Ridge(epsilon=1.0, l2=1 / 3, bounds=(-1, 1), y_bounds=(-5, 5)).fit(X, y)
    >>> bool(abs(model.coef_[0] - 1.5) < 0.3)
    True
    """

    l2: float = 1e-3


@estimator
class HuberRegressor(BoundedRegressor):
    """Linear regression with Huber's loss under differential privacy.

    Minimises mean ρ(y - x·coef) + (l2 / 2)‖coef - prior_mean‖², where ρ(r) = ½r² up to
    c = threshold·scale and c|r| - ½c² beyond. With inference=True a smooth relative of ρ is used.
    Under errors that are not symmetric the intercept is that of their center, not of their mean.

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
    >>> model = HuberRegressor(epsilon=1.0, bounds=(-1, 1), y_bounds=(-50, 50), scale=0.7).fit(X, y)
    >>> bool(abs(model.coef_[0] - 3) < 0.5)
    True
    """

    family = "huber"
    threshold: float = 1.345
    scale: float | None = None


@estimator
class QuantileRegressor(BoundedRegressor):
    """Regression of a quantile under differential privacy.

    Minimises mean ρ(y - x·coef) + (l2 / 2)‖coef - prior_mean‖², where ρ(r) is quantile·r for r ≥ h, (quantile - 1)·r
    for r ≤ -h, and the parabola that joins them between, h = `smoothing`.

    Parameters
    ----------
    quantile
        Which quantile, between 0 and 1; 0.5 is the median.
    smoothing
        Half width h of the rounded corner, in units of y; None: 0.3 deviations of the residuals, found privately. A
        corner over ±h moves a quantile about as much as further errors of variance h² / 3 would.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 20_000).reshape(-1, 1)
    >>> y = 3 * X[:, 0] + np.sin(np.arange(20_000))
    >>> model = QuantileRegressor(epsilon=1.0, quantile=0.8, bounds=(-1, 1), y_bounds=(-5, 5)).fit(X, y)
    >>> bool(abs(np.mean(y < model.predict(X)) - 0.8) < 0.1)
    True
    """

    family = "quantile"
    quantile: float = 0.5
    smoothing: float | None = None


@estimator
class PoissonRegressor(Regressor):
    """Poisson regression with log link under differential privacy.

    Minimises mean exp(η) - y·η + (l2 / 2)‖coef - prior_mean‖² with η = x·coef + log(exposure). From η = log(y_max) + 1
    on the loss follows its tangent. At ε = ∞ it equals scikit-learn's PoissonRegressor at alpha = l2. With
    inference=True intervals are for the mean of the counts (quasi-likelihood), which need not be Poisson.

    Guarantee:

    - Counts above `y_max` act as if they were it, exposures outside `exposure_bounds` as if they stood on them.

    Parameters
    ----------
    y_max
        Public largest count. Counts are numbers from 0; fractions are rates, such as counts over an exposure.
    exposure_bounds
        Public (lower, upper) of the exposures, if `fit` is given them. `predict` returns rates, counts at exposure 1.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 20_000).reshape(-1, 1)
    >>> y = np.floor(np.exp(1 + X[:, 0]) + np.arange(20_000) * 0.618 % 1)
    >>> model = PoissonRegressor(epsilon=1.0, bounds=(-1, 1), y_max=20).fit(X, y)
    >>> bool(abs(model.coef_[0] - 1) < 0.3)
    True
    """

    family = "poisson"
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
        *,
        cluster: Any = None,
    ) -> Self:
        """Fit to private records and release the coefficients.

        `exposure` is how long or how much each record was observed, above 0; it needs
        `exposure_bounds`. The other parameters are those of `LogisticRegression.fit`.
        """
        return self._fit(X, y, {WEIGHT: sample_weight, UNIT: units, ORDER: order, EXPOSURE: exposure}, cluster)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that counts are not negative."""
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags

    def _response(self, name: str, _table: Table | None) -> Response:
        if self.y_max is None:
            raise BoundsError(
                "The largest count is missing, and it is never read off the data. Two ways out: declare y_max=…, above "
                'which counts act as if they were it, or, in a schema, "lower" and "upper" of the column for tacit.glm.'
            )
        return Count(name, finite("y_max, the largest count,", self.y_max, BoundsError))

    def _facts(self, _response: Response) -> list[PublicFact]:
        return [PublicFact("y_max", self.y_max, "declared")]


class ColumnMoments(Model):
    """Mean and covariance of the columns of a table, which has no response."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        units: Any = None,
        order: Any = None,
        *,
        cluster: Any = None,
    ) -> Self:
        """Release the moments of private records; y is ignored, the rest is `LogisticRegression`'s."""
        del y
        return self._fit(X, None, {WEIGHT: sample_weight, UNIT: units, ORDER: order}, cluster)

    def _response(self, _name: str, _table: Table | None) -> Response:
        return Absent()

    def _loss(self, _response: Response) -> Loss:
        return regression.DISTANCE

    def _store(self, coefficients: NDArray[np.float64], design: Design) -> None:
        """Second moments less the squared mean, without negative eigenvalues, are a covariance."""
        self.mean_ = self.location_ = coefficients
        self.covariance_: Any = None
        moments, count = self.release_.moments, len(design.columns)
        if moments is not None:
            mean = self.release_.theta[:count]
            values, vectors = np.linalg.eigh(moments[:count, :count] - np.outer(mean, mean))
            scales = np.array([column.scale for column in design.columns])
            root = scales[:, None] * (vectors * np.sqrt(np.maximum(values, 0.0)))
            self.covariance_ = np.asarray(root @ root.T)


@estimator
class GaussianMean(ColumnMoments):
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


def response_ends(bounds: Any) -> tuple[float, float]:
    """Public bounds of the response, or a refusal that names the ways out."""
    if bounds is None:
        raise BoundsError(
            "Public bounds of the response are missing, and they are never read off the data. Three ways out: "
            "declare y_bounds=(lower, upper), outside of which responses act as if they stood on the bound, set "
            'y_bounds="private" to spend part of the budget on finding them, or, in a schema, declare "lower" and '
            '"upper" of its column and use tacit.glm.'
        )
    return two_ends('y_bounds, unless "private",', bounds, "finite")
