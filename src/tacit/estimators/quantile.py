"""Private regression of a quantile, by a pinball loss with a rounded corner."""

from __future__ import annotations

from tacit.estimators.loss_choice import LossShape
from tacit.estimators.numeric_response import BoundedRegressor
from tacit.estimators.parameters import estimator


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
