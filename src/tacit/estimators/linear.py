"""Private least squares, with and without a ridge penalty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from tacit.design.response import Response
from tacit.estimators.base import Model
from tacit.estimators.loss_choice import loss_of
from tacit.estimators.numeric_response import BoundedResponse
from tacit.losses.loss import Loss
from tacit.privacy.budget import Budget


class LinearRegression(BoundedResponse, RegressorMixin, Model):
    """Least squares under differential privacy; nothing to tune.

    Minimises mean ½(y - x·coef)² + (l2 / 2)‖coef - prior_mean‖². At ε = ∞ it equals scikit-learn's
    LinearRegression; the private fit limits the influence of large residuals, like Huber's.

    Guarantee
    ---------
    - The fitted attributes are (ε, δ)-differentially private for one record under `relation` (for
      one unit where units are given), given the public facts that `certificate_` lists. `predict`
      and `score` on private records are not.
    - Features and responses outside the declared bounds act as if they stood on them.
    - Without declared bounds nothing is fitted: they are never read off the data.

    Parameters
    ----------
    y_bounds
        Public (lower, upper) of the response, or "private": part of the budget is spent on finding
        them. Predictions are kept within them.
    l2, prior_mean
        Ridge penalty on the slopes, and the point it shrinks to (default 0).

    The other parameters are those of `LogisticRegression`.

    Attributes
    ----------
    coef_, intercept_
        On the user's scale: (d,) and a number.
    release_, plan_, certificate_
        What left the wall, the plan that paid for it, and what was guaranteed.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 20_000).reshape(-1, 1)
    >>> y = 3 * X[:, 0] + np.sin(np.arange(20_000))
    >>> model = LinearRegression(epsilon=1.0, bounds=(-1, 1), y_bounds=(-5, 5)).fit(X, y)
    >>> bool(abs(model.coef_[0] - 3) < 0.3)
    True
    """

    def __init__(
        self,
        epsilon: float | None = None,
        delta: float | None = None,
        *,
        budget: Budget | None = None,
        bounds: ArrayLike | str | None = None,
        y_bounds: ArrayLike | str | None = None,
        row_norm: float | None = None,
        relation: str = "replace-one",
        n_at_least: int | None = None,
        solver: str = "auto",
        output: str | None = None,
        iterations: int | None = None,
        step_size: float | None = None,
        max_passes: int | None = None,
        radius: float | None = None,
        l2: float = 0.0,
        prior_mean: Sequence[float] | None = None,
        constraint: Any = None,
        fit_intercept: bool = True,
        feature_map: Any = None,
        inference: bool = False,
        max_weight: float | None = None,
        max_rows_per_unit: int | None = None,
        invalid_rows: str | None = None,
        random_state: int | None = None,
    ) -> None:
        self._set(locals())

    def _loss(self, response: Response) -> Loss:
        return loss_of("gaussian", response)


class Ridge(BoundedResponse, RegressorMixin, Model):
    """Least squares with a ridge penalty under differential privacy.

    Minimises mean ½(y - x·coef)² + (l2 / 2)‖coef - prior_mean‖²; the intercept is free. With n
    records it is scikit-learn's Ridge at alpha = n·l2, to which it is equal at ε = ∞.

    Guarantee
    ---------
    - The fitted attributes are (ε, δ)-differentially private for one record under `relation` (for
      one unit where units are given), given the public facts that `certificate_` lists. `predict`
      and `score` on private records are not.
    - Features and responses outside the declared bounds act as if they stood on them.
    - Without declared bounds nothing is fitted: they are never read off the data.

    Parameters
    ----------
    l2, prior_mean
        Penalty on the slopes, and the point it shrinks to (default 0). It multiplies no record, so
        it costs nothing.
    y_bounds
        Public (lower, upper) of the response, or "private": part of the budget is spent on finding
        them. Predictions are kept within them.

    The other parameters are those of `LogisticRegression`, the attributes those of
    `LinearRegression`.

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

    def __init__(
        self,
        epsilon: float | None = None,
        delta: float | None = None,
        *,
        l2: float = 1e-3,
        prior_mean: Sequence[float] | None = None,
        budget: Budget | None = None,
        bounds: ArrayLike | str | None = None,
        y_bounds: ArrayLike | str | None = None,
        row_norm: float | None = None,
        relation: str = "replace-one",
        n_at_least: int | None = None,
        solver: str = "auto",
        output: str | None = None,
        iterations: int | None = None,
        step_size: float | None = None,
        max_passes: int | None = None,
        radius: float | None = None,
        constraint: Any = None,
        fit_intercept: bool = True,
        feature_map: Any = None,
        inference: bool = False,
        max_weight: float | None = None,
        max_rows_per_unit: int | None = None,
        invalid_rows: str | None = None,
        random_state: int | None = None,
    ) -> None:
        self._set(locals())

    def _loss(self, response: Response) -> Loss:
        return loss_of("gaussian", response)
