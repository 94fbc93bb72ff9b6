"""Mean predictions for new rows with intervals, on the linear scale and on the response's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.design.response import Binary, Count, Response
from tacit.inference.estimates import Estimated, frame_of

Vector = NDArray[np.float64]
Mean = Callable[[Vector], Vector]


@dataclass(frozen=True)
class Prediction:
    """Predicted means of new rows; NaN for a row that could not be read.

    The rows are the caller's own: nothing protects them here. Intervals are for the mean of the
    response at such a row, not for a single new response.
    """

    linear: Estimated
    response: Response
    mean: Mean

    @property
    def predicted_mean(self) -> Vector:
        """Expected response: a probability, a value within its bounds, a rate."""
        return self.mean(self.linear.values)

    @property
    def se_mean(self) -> Vector:
        """Standard error of the expected response, by the slope of the link (delta method)."""
        return np.asarray(self._steepness() * self.linear.std_errors)

    def conf_int(
        self,
        level: float = 0.95,
        which: str = "total",
        simultaneous: bool | str = False,
        *,
        transform: bool = True,
    ) -> NDArray[np.float64]:
        """Intervals of the means, columns lower and upper; with transform=False of the predictors.

        The ends are those of the linear predictor, taken through the link, so they stay within
        what the response can be. The other parameters are those of `Results.conf_int`; with
        `simultaneous` all rows are covered at once.
        """
        ends = self.linear.conf_int(level, which, simultaneous)
        if not transform:
            return ends
        return np.column_stack([self.mean(ends[:, 0]), self.mean(ends[:, 1])])

    def summary_frame(self, level: float = 0.95) -> Any:
        """A table of means, errors and interval ends; pandas', or a dict of columns without it."""
        lower, upper = self.conf_int(level).T
        errors = {"mean": self.predicted_mean, "mean_se": self.se_mean}
        return frame_of({**errors, "mean_ci_lower": lower, "mean_ci_upper": upper})

    def _steepness(self) -> Vector:
        mean = self.predicted_mean
        match self.response:
            case Binary():
                return mean * (1 - mean)
            case Count():
                return mean
        return np.ones_like(mean)
