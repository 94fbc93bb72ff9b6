"""Private least squares, with and without a ridge penalty."""

from __future__ import annotations

from tacit.estimators.numeric_response import BoundedRegressor
from tacit.estimators.parameters import estimator


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
