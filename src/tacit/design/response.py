"""The kinds of response, the number that a cell of each becomes, and the families that model them.

Classes, bounds and the largest count are public: declared, or, for classes, assumed and listed so.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np

from tacit.errors import SettingError


@dataclass(frozen=True)
class Binary:
    """A response of two labels, coded 0 (first) and 1 (second)."""

    column: str
    classes: tuple[Any, Any]
    kind: ClassVar[str] = "binary"

    @classmethod
    def of(cls, column: str, classes: Sequence[Any]) -> Binary:
        """Response of exactly two different labels."""
        labels = _plain(classes)
        if len(labels) != 2 or labels[0] == labels[1]:
            raise SettingError("classes must be two different labels, the negative one first.")
        return cls(column, (labels[0], labels[1]))


@dataclass(frozen=True)
class ProbitBinary(Binary):
    """Two labels whose second has the probability Φ of the linear predictor."""

    kind: ClassVar[str] = "binary, probit link"


@dataclass(frozen=True)
class CloglogBinary(Binary):
    """Two labels whose second has the probability 1 - exp(-e^z) at a linear predictor z."""

    kind: ClassVar[str] = "binary, cloglog link"


@dataclass(frozen=True)
class Classes:
    """A response of three or more labels, coded 0, 1, 2 and so on."""

    column: str
    classes: tuple[Any, ...]
    kind: ClassVar[str] = "classes"

    def __post_init__(self) -> None:
        if len(self.classes) < 3 or len(set(self.classes)) < len(self.classes):
            raise SettingError("classes must be at least three different labels.")

    @classmethod
    def of(cls, column: str, classes: Sequence[Any]) -> Classes:
        """Response of these labels, numpy's scalars as Python's."""
        return cls(column, tuple(_plain(classes)))


@dataclass(frozen=True)
class Continuous:
    """A number clipped into [lower, upper] and mapped to (y - center) / scale."""

    column: str
    lower: float
    upper: float
    center: float
    scale: float
    kind: ClassVar[str] = "continuous"
    classes: ClassVar[tuple[Any, ...]] = ()

    @classmethod
    def opened(cls, column: str) -> Continuous:
        """Response whose bounds a fit has to find, by counts that it pays for."""
        return cls(column, -math.inf, math.inf, 0.0, 1.0)

    @property
    def is_open(self) -> bool:
        """Whether the bounds are not known yet."""
        return math.isinf(self.upper)

    @classmethod
    def of(cls, column: str, lower: float, upper: float, *, centred: bool = True) -> Continuous:
        """Map the bounds to [-1, 1]; shift only where an intercept can absorb it (`centred`)."""
        if not -math.inf < lower < upper < math.inf:
            raise SettingError("y_bounds must be two finite numbers, the lower one first.")
        center = (lower + upper) / 2 if centred else 0.0
        scale = (upper - lower) / 2 if centred else max(abs(lower), abs(upper))
        if not math.isfinite(center) or not 1e-150 <= scale <= 1e150:
            raise SettingError("y_bounds must be of moderate size; rescale the response.")
        return cls(column, float(lower), float(upper), center, scale)


@dataclass(frozen=True)
class Count:
    """A count or a rate, a number from 0, clipped at a declared largest value and not rescaled."""

    column: str
    upper: float
    kind: ClassVar[str] = "count"
    classes: ClassVar[tuple[Any, ...]] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.upper <= 1e9:
            raise SettingError("The largest count must be a number from 1 to 1e9.")


@dataclass(frozen=True)
class Positive:
    """A number above 0, clipped into [lower, upper] and not rescaled."""

    column: str
    lower: float
    upper: float
    kind: ClassVar[str] = "positive"
    classes: ClassVar[tuple[Any, ...]] = ()

    def __post_init__(self) -> None:
        if not (0 <= self.lower < self.upper and 1e-6 <= self.upper <= 1e9):
            raise SettingError("The bounds of a positive response must be 0 <= lower < upper, upper from 1e-6 to 1e9.")

    @property
    def smallest_mean(self) -> float:
        """The least mean that is looked for: the lower bound, or a ten-thousandth of the upper one if larger."""
        return max(self.lower, self.upper / 1e4)


@dataclass(frozen=True)
class Absent:
    """No response: the mean of the features is asked for."""

    column: ClassVar[None] = None
    kind: ClassVar[str] = "absent"
    classes: ClassVar[tuple[Any, ...]] = ()


Response = Binary | ProbitBinary | CloglogBinary | Classes | Continuous | Count | Positive | Absent


def _plain(labels: Sequence[Any]) -> list[Any]:
    return [label.item() if isinstance(label, np.generic) else label for label in labels]


@dataclass(frozen=True)
class Family:
    """A name, the kind of response it models, and how the linear predictor is linked to it."""

    name: str
    response: type[Binary] | type[Classes] | type[Continuous] | type[Count] | type[Positive]
    link: Literal["logit", "identity", "log", "softmax", "probit", "cloglog"]

    @property
    def takes_offset(self) -> bool:
        """Whether it has offsets: of classes they cancel, of numbers the response takes them."""
        return self.link in {"logit", "log", "probit", "cloglog"}


_ALL = (
    Family("binomial", Binary, "logit"),
    Family("gaussian", Continuous, "identity"),
    Family("poisson", Count, "log"),
    Family("multinomial", Classes, "softmax"),
    # Gaussian errors with outliers, and a quantile in place of the mean.
    Family("huber", Continuous, "identity"),
    Family("quantile", Continuous, "identity"),
    Family("probit", ProbitBinary, "probit"),
    Family("cloglog", CloglogBinary, "cloglog"),
    Family("gamma", Positive, "log"),
    Family("negative-binomial", Count, "log"),
)
FAMILIES = MappingProxyType({family.name: family for family in _ALL})
"""The names that `glm` and a stored fit know."""
OTHER_NAMES = MappingProxyType(
    {
        **dict.fromkeys(("normal", "linear", "ols", "least-squares", "identity"), "gaussian"),
        **dict.fromkeys(("logistic", "logit", "bernoulli", "binary"), "binomial"),
        **dict.fromkeys(("softmax", "categorical", "multinomial-logit", "ordinal"), "multinomial"),
        **dict.fromkeys(("count", "counts", "quasipoisson", "log-linear"), "poisson"),
        **dict.fromkeys(("negbin", "nb", "negativebinomial", "negative binomial"), "negative-binomial"),
        **dict.fromkeys(("robust", "rlm"), "huber"),
        **dict.fromkeys(("median", "pinball"), "quantile"),
    }
)
"""What other libraries call them; of ordered labels the nearest that there is."""


def find_family(name: object) -> Family:
    """The family of that name, or an error that lists them."""
    if isinstance(name, str) and name in FAMILIES:
        return FAMILIES[name]
    meant = OTHER_NAMES.get(str(name).lower().replace("_", "-"))
    close = [meant] if meant else difflib.get_close_matches(str(name), list(FAMILIES), n=1)
    hint = f' Did you mean "{close[0]}"?' if close else ""
    known = ", ".join(f'"{known}"' for known in FAMILIES)
    raise SettingError(f"family must be one of {known}; got {str(name)[:60]!r}.{hint}")
