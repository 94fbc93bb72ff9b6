"""Regressions of a number within public bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin

from tacit.contract.plan import PublicFact
from tacit.design.design import PRIVATE
from tacit.design.response import Continuous, Response
from tacit.engine.table import Table
from tacit.errors import BoundsError
from tacit.estimators.base import LinearModel
from tacit.estimators.loss_choice import LossShape, loss_of, predicted
from tacit.losses.loss import Loss
from tacit.validate import is_number


@dataclass(eq=False, repr=False, kw_only=True)
class BoundedRegressor(RegressorMixin, LinearModel):
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

    Attributes
    ----------
    coef_, intercept_
        On the user's scale: (d,) and a number.
    """

    family = "gaussian"
    y_bounds: ArrayLike | str | None = None

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the predicted response of new records, within `y_bounds`."""
        margins = self._linear_predictors(X)
        return predicted(self.plan_.design.response, margins)

    def _response(self, name: str, table: Table | None) -> Response:
        del table
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
    except (TypeError, ValueError) as error:
        raise BoundsError('y_bounds must be two numbers (lower, upper), or "private".') from error
    if not (is_number(lower) and is_number(upper)):
        raise BoundsError('y_bounds must be two numbers (lower, upper), or "private".')
    if not (np.isfinite(lower) and np.isfinite(upper) and lower < upper):
        raise BoundsError("y_bounds must be finite, the lower one below the upper.")
    return float(lower), float(upper)
