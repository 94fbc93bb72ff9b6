"""Responses that are numbers within public bounds: what their regressions share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.contract.plan import Plan, PublicFact
from tacit.design.design import PRIVATE, Design
from tacit.design.response import Continuous, Response
from tacit.engine.table import Table
from tacit.errors import BoundsError
from tacit.estimators.base import linear_predictors, split
from tacit.estimators.loss_choice import is_real, predicted


class BoundedResponse:
    """A regression of a continuous response with declared `y_bounds`.

    Guarantee
    ---------
    - Without bounds nothing is fitted; they are declared, or found at a price, never read off.
    - A response outside them acts as if it stood on them.
    - Predictions lie within them.
    """

    y_bounds: ArrayLike | str | None
    fit_intercept: bool
    plan_: Plan

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the predicted response of new records, within `y_bounds`."""
        margins = linear_predictors(self, X)
        return predicted(self.plan_.design.response, margins)

    def _response(self, name: str, table: Table | None) -> Response:
        del table
        if isinstance(self.y_bounds, str) and self.y_bounds == PRIVATE:
            return Continuous.opened(name)
        lower, upper = response_ends(self.y_bounds)
        return Continuous.of(name, lower, upper, centred=self.fit_intercept)

    def _facts(self, response: Response) -> list[PublicFact]:
        ends: Any = PRIVATE
        if isinstance(response, Continuous) and not response.is_open:
            ends = [response.lower, response.upper]
        return [PublicFact("y_bounds", ends, "declared"), *self._shape_facts()]

    def _shape_facts(self) -> list[PublicFact]:
        """Public numbers of the loss."""
        return []

    def _keep(self, coefficients: NDArray[np.float64], design: Design) -> None:
        self.intercept_, self.coef_ = split(coefficients, design)


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
    if not (is_real(lower) and is_real(upper)):
        raise BoundsError('y_bounds must be two numbers (lower, upper), or "private".')
    if not (np.isfinite(lower) and np.isfinite(upper) and lower < upper):
        raise BoundsError("y_bounds must be finite, the lower one below the upper.")
    return float(lower), float(upper)
