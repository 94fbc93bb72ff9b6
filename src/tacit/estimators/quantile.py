"""Private quantile regression, by a pinball loss with a rounded corner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from tacit.contract.plan import PublicFact
from tacit.design.response import Response
from tacit.estimators.base import Model
from tacit.estimators.loss_choice import Shape, loss_of
from tacit.estimators.numeric_response import BoundedResponse
from tacit.losses.loss import Loss
from tacit.privacy.budget import Budget


class QuantileRegressor(BoundedResponse, RegressorMixin, Model):
    """Regression of a quantile under differential privacy.

    Minimises mean ρ(y - x·coef) + (l2 / 2)‖coef - prior_mean‖², where ρ(r) is quantile·r for r ≥ h,
    (quantile - 1)·r for r ≤ -h, and the parabola that joins them between, h = `smoothing`.

    Guarantee
    ---------
    - The fitted attributes are (ε, δ)-differentially private for one record under `relation` (for
      one unit where units are given), given the public facts that `certificate_` lists. `predict`
      and `score` on private records are not.
    - Features and responses outside the declared bounds act as if they stood on them.
    - Without declared bounds nothing is fitted: they are never read off the data.

    Parameters
    ----------
    quantile
        Which quantile, between 0 and 1; 0.5 is the median.
    smoothing
        Half width h of the rounded corner, in units of y; None: 0.3 deviations of the residuals,
        found privately. A corner over ±h moves a quantile about as much as further errors of
        variance h² / 3 would.
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
    >>> model = QuantileRegressor(epsilon=1.0, quantile=0.8, **facts).fit(X, y)
    >>> bool(abs(np.mean(y < model.predict(X)) - 0.8) < 0.1)
    True
    """

    quantile: float
    smoothing: float | None

    def __init__(
        self,
        epsilon: float | None = None,
        delta: float | None = None,
        *,
        quantile: float = 0.5,
        smoothing: float | None = None,
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
        return loss_of("quantile", response, self._shape())

    def _shape(self) -> Shape:
        return Shape(quantile=self.quantile, smoothing=self.smoothing)

    def _shape_facts(self) -> list[PublicFact]:
        return self._shape().facts("quantile")
