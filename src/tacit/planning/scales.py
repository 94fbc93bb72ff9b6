"""Public scales that a solver's floats can hold; any other is refused before something is spent.

Intervals square the variances of coefficients on the user's scale, and a query's parameters must be
of moderate size. Both follow from declared bounds, row norm and prior mean, so nothing need fail in
the middle of a run.
"""

from __future__ import annotations

from tacit.design.design import Column
from tacit.design.response import Absent, Continuous, Response
from tacit.errors import SettingError
from tacit.planning.wishes import Facts

LARGEST_RATIO = 1e50
"""Of the response's scale to a column's, and the other way round."""
LARGEST_START = 1e60
"""A prior mean's size in prepared coordinates."""
SMALLEST_NORM = 1e-6
"""Of a prepared row, whose columns lie in [-1, 1]."""
FOUND = 2.0**-64, 2.0**72
"""What bounds that are found by counts can come to."""


def require_moderate(facts: Facts) -> None:
    """Refuse scales that would leave the range of floats in some run of a plan."""
    design = facts.design
    if design.feature_norm < SMALLEST_NORM:
        raise SettingError("row_norm is far below the size of the columns; declare a larger one.")
    if isinstance(design.response, Absent):
        return
    least, most = _scale_of_response(design.response)
    ends = [_scale_of_column(column) for column in design.columns]
    if any(most / low > LARGEST_RATIO or high / least > LARGEST_RATIO for low, high in ends):
        raise SettingError("The bounds of response and columns are too far apart; rescale them.")
    prior = facts.penalty.prior_mean or (0.0,) * len(ends)
    sizes = (abs(mean) * high / least for mean, (_, high) in zip(prior, ends, strict=True))
    if any(size > LARGEST_START for size in sizes):
        raise SettingError("prior_mean is too large for the bounds of its columns.")


def _scale_of_response(response: Response) -> tuple[float, float]:
    if not isinstance(response, Continuous):
        return 1.0, 1.0
    return FOUND if response.is_open else (response.scale, response.scale)


def _scale_of_column(column: Column) -> tuple[float, float]:
    return FOUND if column.is_open else (column.scale, column.scale)
