"""Private Huber regression: a linear model that outliers hardly move."""

from __future__ import annotations

from tacit.estimators.loss_choice import LossShape
from tacit.estimators.numeric_response import BoundedRegressor
from tacit.estimators.parameters import estimator


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
