"""Predictions for new rows, with intervals for their means and for single new responses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.design.response import Binary, CloglogBinary, Continuous, Count, Positive, ProbitBinary, Response
from tacit.display import Displayed, Shown
from tacit.errors import SettingError
from tacit.inference.estimates import Estimated, frame_of
from tacit.inference.response_law import ResponseLaw, nodes
from tacit.solvers.coordinates import Vector
from tacit.text_table import Table, columns_of_numbers
from tacit.validate import between

SHOWN_ROWS = 10
"""Of a prediction that is printed."""
ENDS, RESPONSE_ENDS = ("lower", "upper"), ("response lower", "response upper")
Mean = Callable[[Vector], Vector]


@dataclass(frozen=True, repr=False)
class Prediction(Displayed):
    """Predicted means of new rows; NaN for a row that could not be read.

    The rows are the caller's own: nothing protects them here. `conf_int` is for the mean of the
    response at such a row, `response_int` for a single new response.
    """

    linear: Estimated
    response: Response
    mean: Mean
    find_law: Callable[[], ResponseLaw] | None = field(default=None, repr=False)

    @property
    def predicted_mean(self) -> Vector:
        """Expected response: a probability, a value within its bounds, a rate."""
        return self.mean(self.linear.values)

    @property
    def se_mean(self) -> Vector:
        """Standard error of the expected response, by the slope of the link (delta method); NaN where withheld."""
        return np.where(self._withheld, np.nan, self._steepness() * self.linear.std_errors)

    def conf_int(
        self, level: float = 0.95, which: str = "total", simultaneous: bool | str = False, *, transform: bool = True
    ) -> NDArray[np.float64]:
        """Intervals of the means, columns lower and upper; with transform=False of the predictors.

        The ends are those of the linear predictor, taken through the link, so they stay within
        what the response can be. The other parameters are those of `Results.conf_int`; with
        `simultaneous` all rows are covered at once. What is withheld is NaN, here as in `summary_frame`.
        """
        ends = _blank(self.linear.conf_int(level, which, simultaneous), self.linear.statements)
        if not transform:
            return ends
        return np.column_stack([self.mean(ends[:, 0]), self.mean(ends[:, 1])])

    @property
    def law(self) -> ResponseLaw:
        """How new responses scatter around their means, and what that assumes."""
        if self.find_law is None:
            raise SettingError("Nothing is known of the law of new responses.")
        return self.find_law()

    def response_int(self, level: float = 0.95) -> NDArray[np.float64]:
        """Intervals for a new response at each row, columns lower and upper.

        Guarantee
        ---------
        - They hold if `response_assumption` does: then 93 to 97% of new responses of the
          population, rows and errors drawn together, lie within nominal 95% ones.
        - A withheld one, by `response_statements`, is all that the response can be.

        Of labels the ends are 0 and 1, and equal where one label is that rare. The law of the
        response is averaged over that of its mean, so the mean's own error is in it.
        """
        between("level", level, 0, 1)
        law, linear = self.law, self.linear
        ends = law.interval(linear, self.mean(nodes(linear)), level)
        withheld = np.array([word == "withheld" for word in self.response_statements], dtype=bool)
        return np.where(withheld[:, None], self._whole_range(), ends)

    @property
    def response_statements(self) -> tuple[str, ...]:
        """What may be said of each response interval, if `response_assumption` holds."""
        if self.law.withheld is not None:
            return ("withheld",) * len(self.linear.names)
        if isinstance(self.response, Continuous):
            return self.linear.statements
        # Counts and labels jump, so an interval holds more than it was asked for.
        return tuple("conservative" if word == "nominal" else word for word in self.linear.statements)

    @property
    def response_assumption(self) -> str:
        """What response intervals assume, or why they are withheld."""
        law = self.law
        return f"if {law.assumption}" if law.withheld is None else f"withheld: {law.withheld}"

    def summary_frame(self, level: float = 0.95) -> Any:
        """Means, errors and interval ends; pandas' table, or a dict of columns without it.

        Columns obs_ci_lower and obs_ci_upper are those of `response_int`, where there is one.
        What is withheld is NaN.
        """
        ends = self.conf_int(level)
        columns = {
            "mean": self.predicted_mean,
            "mean_se": self.se_mean,
            "mean_ci_lower": ends[:, 0],
            "mean_ci_upper": ends[:, 1],
        }
        try:
            responses = _blank(self.response_int(level), self.response_statements)
        except SettingError:
            return frame_of(columns)
        return frame_of({**columns, "obs_ci_lower": responses[:, 0], "obs_ci_upper": responses[:, 1]})

    def interval_names(self, level: float = 0.95) -> tuple[str, ...]:
        """Names of the ends of all intervals that there are; those of a new label would say next to nothing."""
        if isinstance(self.response, Binary | ProbitBinary | CloglogBinary):
            return ENDS
        try:
            self.response_int(level)
        except SettingError:
            return ENDS
        return (*ENDS, *RESPONSE_ENDS)

    def with_ends(self, level: float, names: tuple[str, ...]) -> NDArray[np.float64]:
        """The means, and beside them the ends of these names; NaN where one is withheld or a row could not be read."""
        parts = [self.predicted_mean[:, None], _blank(self.conf_int(level), self.linear.statements)]
        if len(names) > len(ENDS):
            parts.append(_blank(self.response_int(level), self.response_statements))
        found = np.column_stack(parts)
        found[np.isnan(found[:, 0])] = np.nan
        return found

    def _shown(self) -> Shown:
        first = replace(self, linear=self.linear.rows(SHOWN_ROWS))
        ends = first.conf_int()
        numbers = columns_of_numbers(*map(np.ndarray.tolist, (first.predicted_mean, first.se_mean, *ends.T)))
        rows = tuple(zip(first.linear.names, *numbers, strict=True))
        left = len(self.linear.names) - len(rows)
        headers = ("row", "mean", "std err", "[0.025", "0.975]")
        return Shown("Predicted means", (), Table(headers, rows), (f"… and {left:,} more rows",) if left else ())

    @property
    def _withheld(self) -> NDArray[np.bool_]:
        return np.array([word == "withheld" for word in self.linear.statements], dtype=bool)

    def _whole_range(self) -> Vector:
        match self.response:
            case Continuous():
                return np.array([self.response.lower, self.response.upper])
            case Count():
                return np.array([0.0, self.response.upper])
            case Positive():
                return np.array([self.response.smallest_mean, self.response.upper])
        return np.array([0.0, 1.0])

    def _steepness(self) -> Vector:
        mean = self.predicted_mean
        match self.response:
            case ProbitBinary():
                return np.asarray(np.exp(-np.square(self.linear.values) / 2) / np.sqrt(2 * np.pi))
            case CloglogBinary():
                return -(1 - mean) * np.log1p(-np.minimum(mean, 1 - 1e-16))
            case Binary():
                return mean * (1 - mean)
            case Count() | Positive():
                return mean
        return np.ones_like(mean)


def _blank(ends: NDArray[np.float64], statements: tuple[str, ...]) -> NDArray[np.float64]:
    withheld = np.array([word == "withheld" for word in statements], dtype=bool)
    return np.where(withheld[:, None], np.nan, ends)
