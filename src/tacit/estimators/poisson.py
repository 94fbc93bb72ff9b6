"""Private Poisson regression of counts, with exposures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin

from tacit.contract.plan import PublicFact
from tacit.design.design import Design
from tacit.design.response import Count, Response
from tacit.engine.table import Table
from tacit.errors import BoundsError
from tacit.estimators.attached_columns import EXPOSURE, ORDER, UNIT, WEIGHT, Declared
from tacit.estimators.base import Model, linear_predictors, split
from tacit.estimators.loss_choice import is_real, loss_of, predicted
from tacit.losses.loss import Loss
from tacit.privacy.budget import Budget


class PoissonRegressor(RegressorMixin, Model):
    """Poisson regression with log link under differential privacy.

    Minimises mean exp(η) - y·η + (l2 / 2)‖coef - prior_mean‖² with η = x·coef + log(exposure). From
    η = log(y_max) + 1 on the loss follows its tangent. At ε = ∞ it equals scikit-learn's
    PoissonRegressor at alpha = l2.

    Guarantee
    ---------
    - The fitted attributes are (ε, δ)-differentially private for one record under `relation` (for
      one unit where units are given), given the public facts that `certificate_` lists. `predict`
      and `score` on private records are not.
    - Features outside the declared bounds act as if they stood on them, counts above `y_max` as if
      they were it, exposures outside `exposure_bounds` as if they stood on them.
    - Without declared bounds nothing is fitted: they are never read off the data.

    Parameters
    ----------
    y_max
        Public largest count. Counts are whole numbers from 0.
    exposure_bounds
        Public (lower, upper) of the exposures, where `fit` is given them.

    The other parameters are those of `LogisticRegression`, the attributes those of
    `LinearRegression`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 20_000).reshape(-1, 1)
    >>> y = np.floor(np.exp(1 + X[:, 0]) + np.arange(20_000) * 0.618 % 1)
    >>> model = PoissonRegressor(epsilon=1.0, bounds=(-1, 1), y_max=20).fit(X, y)
    >>> bool(abs(model.coef_[0] - 1) < 0.3)
    True
    """

    y_max: float | None
    exposure_bounds: Sequence[float] | None

    def __init__(
        self,
        epsilon: float | None = None,
        delta: float | None = None,
        *,
        y_max: float | None = None,
        exposure_bounds: Sequence[float] | None = None,
        budget: Budget | None = None,
        bounds: ArrayLike | str | None = None,
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
            Features and, beside them, counts.
        exposure
            How long or how much each record was observed, above 0; needs `exposure_bounds`.

        The other parameters are those of `LogisticRegression.fit`.
        """
        beside = {WEIGHT: sample_weight, UNIT: units, ORDER: order, EXPOSURE: exposure}
        with self._prepared(X, y, beside) as run:
            return self._take(run())

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the rates of new records: expected counts at exposure 1."""
        margins = linear_predictors(self, X)
        design = self.plan_.design
        return predicted(design.response, margins, design.beside.offset)

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
        if not is_real(self.y_max) or not math.isfinite(self.y_max):
            raise BoundsError("y_max must be a number: the largest count.")
        return Count.of(name, float(self.y_max))

    def _declared(self) -> Declared:
        return Declared(self.max_weight, self.max_rows_per_unit, self.exposure_bounds)

    def _loss(self, response: Response) -> Loss:
        return loss_of("poisson", response)

    def _facts(self, response: Response) -> list[PublicFact]:
        del response
        return [PublicFact("y_max", self.y_max, "declared")]

    def _keep(self, coefficients: NDArray[np.float64], design: Design) -> None:
        self.intercept_, self.coef_ = split(coefficients, design)
