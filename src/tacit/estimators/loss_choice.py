"""What is minimised: from a family and a user's declared numbers to a loss in prepared units.

A continuous response is prepared as (y - center) / scale, so thresholds and widths that the user
gives in units of y are divided by the scale here, and nowhere else.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.contract.plan import PublicFact
from tacit.design.attached_columns import AnyOffset
from tacit.design.response import (
    Absent,
    Binary,
    Classes,
    CloglogBinary,
    Continuous,
    Count,
    Positive,
    ProbitBinary,
    Response,
    find_family,
)
from tacit.errors import SettingError
from tacit.losses import classification, links, log_link, poisson, regression
from tacit.losses.loss import Code, Loss
from tacit.validate import between, is_number

SMALLEST_THRESHOLD, SMALLEST_WIDTH, LARGEST_SHAPE = 1e-9, 1e-30, 1e9
"""Of thresholds and widths, in deviations or half ranges of the response."""
SMALLEST_ALPHA, LARGEST_ALPHA = 1e-3, 100.0
FARTHEST = 700.0
"""Exponent whose exponential a float still holds."""
_SHAPELESS = {
    "binomial": classification.LOGISTIC,
    "multinomial": classification.SOFTMAX,
    "gaussian": regression.SQUARED,
    "probit": links.PROBIT,
    "cloglog": links.CLOGLOG,
}


@dataclass(frozen=True)
class LossShape:
    """Public numbers of losses that have some; the others ignore them.

    `threshold` is Huber's in units of the errors' deviation, `scale` that deviation in units of y; without it, it is
    found privately. `smoothing` is the half width of the pinball's rounded corner in units of y. `alpha` is the
    dispersion of negative binomial counts: their variance is m + alpha m².
    """

    threshold: float = regression.EFFICIENT
    scale: float | None = None
    quantile: float = 0.5
    smoothing: float | None = None
    alpha: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what no loss can have."""
        require_positive("threshold", self.threshold)
        for name in ("scale", "smoothing"):
            if getattr(self, name) is not None:
                require_positive(name, getattr(self, name))
        between("quantile", self.quantile, 0.0, 1.0)
        if not is_number(self.alpha) or not SMALLEST_ALPHA <= self.alpha <= LARGEST_ALPHA:
            raise SettingError(
                f"alpha, the dispersion of negative binomial counts, must be a number from {SMALLEST_ALPHA:g} to "
                f'{LARGEST_ALPHA:g}; got {self.alpha!r}. Without overdispersion use family="poisson".'
            )

    @classmethod
    def among(cls, settings: Mapping[str, Any]) -> LossShape:
        """The shape that settings of `glm` state."""
        return cls(**{field.name: settings[field.name] for field in fields(cls) if field.name in settings})

    def facts(self, family: str) -> list[PublicFact]:
        """What the certificate says of the numbers that a family uses."""
        if family == "huber":
            numbers = {"threshold": self.threshold, "scale": self.scale or "private"}
        elif family == "quantile":
            width = self.smoothing or f"{regression.RELATIVE_WIDTH} private deviations"
            numbers = {"quantile": self.quantile, "smoothing": width}
        elif family == "negative-binomial":
            numbers = {"alpha": self.alpha}
        else:
            return []
        return [PublicFact("loss", numbers, "declared")]


def loss_of(family: str, response: Response, shape: LossShape | None = None) -> Loss:
    """The loss of a family of `glm`; without a declared scale or width in units of a deviation yet to be found."""
    if type(response) is not find_family(family).response:
        raise SettingError(f"A {response.kind} response does not go with the family {family!r}.")
    shape = LossShape() if shape is None else shape
    if isinstance(response, Count | Positive):
        return _log_linked(family, response, shape)
    if not isinstance(response, Continuous) or family in _SHAPELESS:
        return _SHAPELESS[family]
    if family == "huber":
        unit = 1.0 if shape.scale is None else _prepared(shape.scale, response)
        threshold = _moderate("threshold", float(shape.threshold) * unit, SMALLEST_THRESHOLD)
        return regression.huber(threshold, relative=shape.scale is None)
    if shape.smoothing is None:
        return regression.pinball(float(shape.quantile), relative=True)
    width = _moderate("smoothing", _prepared(shape.smoothing, response), SMALLEST_WIDTH)
    return regression.pinball(float(shape.quantile), width)


def _log_linked(family: str, response: Count | Positive, shape: LossShape) -> Loss:
    highest, largest = highest_predictor(response), response.upper
    if isinstance(response, Positive):
        return log_link.gamma(math.log(response.smallest_mean) - 1.0, highest, largest)
    if family == "negative-binomial":
        return log_link.negative_binomial(float(shape.alpha), highest, largest)
    return poisson.loss(highest, largest)


def _prepared(value: float, response: Continuous) -> float:
    """Translate from units of y to prepared units, which need declared bounds."""
    if response.is_open:
        raise SettingError("scale and smoothing are in units of y: they need declared y_bounds.")
    return float(value) / response.scale


def _moderate(name: str, value: float, least: float) -> float:
    """Return a shape that a solver's floats can hold, or refuse it before anything is spent."""
    if not least <= value <= LARGEST_SHAPE:
        raise SettingError(f"{name} is too small or too large for y; choose a moderate one.")
    return value


def highest_predictor(response: Count | Positive) -> float:
    """Return where a loss with log link is capped: at e times the largest count or response."""
    return math.log(response.upper) + 1.0


def predicted(response: Response, margins: NDArray[np.float64], offset: AnyOffset | None = None) -> NDArray[np.float64]:
    """Return the expected response at linear predictors on the user's scale; NaN stays NaN.

    Probabilities of the second class, or of all classes; values within y_bounds; counts up to the largest one, or
    rates up to that over the smallest exposure; positive numbers within their bounds likewise.
    """
    match response:
        case ProbitBinary() | CloglogBinary():
            return links.probability(Code.PROBIT if isinstance(response, ProbitBinary) else Code.CLOGLOG, margins)
        case Binary():
            return classification.logistic_probability(margins)
        case Classes():
            return classification.softmax_probability(margins)
        case Continuous():
            return np.clip(margins, response.lower, response.upper)
        case Count() | Positive():
            smallest, largest = (0.0, 0.0) if offset is None else (offset.lower, offset.upper)
            least = response.smallest_mean * _over(largest) if isinstance(response, Positive) else 0.0
            # No count is larger than the public largest one, and no rate than that over the smallest exposure.
            most = min(response.upper * _over(smallest), sys.float_info.max)
            return np.clip(np.exp(np.minimum(margins, math.log(most))), least, most)
        case Absent():
            raise SettingError("A mean predicts no response.")


def require_positive(name: str, value: Any) -> float:
    """Return a declared positive number of moderate size, or refuse it."""
    if not is_number(value) or not 1e-150 <= value <= 1e150:
        raise SettingError(f"{name} must be a positive number of moderate size; got {value!r}.")
    return float(value)


def _over(offset: float) -> float:
    """One over the exponential of an offset, or a number near the ends of the floats."""
    return math.exp(min(max(-offset, -FARTHEST), FARTHEST))
