"""The response: what kind it is, and how a cell becomes the number that losses see.

Every kind is public: classes, bounds and the largest count are declared (or, for classes, assumed
and listed so), never read off the records without saying so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tacit.errors import CertificateError, SettingError


@dataclass(frozen=True)
class Binary:
    """A response of two declared kinds, coded 0 (first) and 1 (second)."""

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
class Classes:
    """A response of three or more declared kinds, coded 0, 1, 2 and so on."""

    column: str
    classes: tuple[Any, ...]
    kind: ClassVar[str] = "classes"

    @classmethod
    def of(cls, column: str, classes: Sequence[Any]) -> Classes:
        """Response of at least three labels, all different."""
        labels = _plain(classes)
        if len(labels) < 3 or len(set(labels)) < len(labels):
            raise SettingError("classes must be at least three different labels.")
        return cls(column, tuple(labels))


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
        """Leave the bounds to be found, by counts that are paid for; the cells are kept as is."""
        return cls(column, -math.inf, math.inf, 0.0, 1.0)

    @property
    def is_open(self) -> bool:
        """Whether the bounds are yet to be found."""
        return math.isinf(self.upper)

    @classmethod
    def of(cls, column: str, lower: float, upper: float, *, centred: bool = True) -> Continuous:
        """Map the bounds to [-1, 1]; shift only where an intercept can absorb it (`centred`)."""
        if not (math.isfinite(lower) and math.isfinite(upper) and lower < upper):
            raise SettingError("y_bounds must be two finite numbers, the lower one first.")
        center = (lower + upper) / 2 if centred else 0.0
        scale = (upper - lower) / 2 if centred else max(abs(lower), abs(upper))
        if not math.isfinite(center) or not 1e-150 <= scale <= 1e150:
            raise SettingError("y_bounds must be of moderate size; rescale the response.")
        return cls(column, float(lower), float(upper), center, scale)


@dataclass(frozen=True)
class Count:
    """A whole number from 0, clipped at a declared largest value and not rescaled."""

    column: str
    upper: float
    kind: ClassVar[str] = "count"
    classes: ClassVar[tuple[Any, ...]] = ()

    @classmethod
    def of(cls, column: str, upper: float) -> Count:
        """Counts up to a public largest value."""
        if not (math.isfinite(upper) and 1 <= upper <= 1e9):
            raise SettingError("The largest count must be a number from 1 to 1e9.")
        return cls(column, float(upper))


@dataclass(frozen=True)
class Absent:
    """No response: the mean of the features is asked for."""

    column: ClassVar[None] = None
    kind: ClassVar[str] = "absent"
    classes: ClassVar[tuple[Any, ...]] = ()


Response = Binary | Classes | Continuous | Count | Absent


def response_to_json(response: Response) -> dict[str, Any]:
    """Plain data for the stored fit."""
    match response:
        case Binary() | Classes():
            return {
                "kind": response.kind,
                "column": response.column,
                "classes": _plain(response.classes),
            }
        case Continuous():
            fields = ("column", "lower", "upper", "center", "scale")
            return {"kind": response.kind, **{name: getattr(response, name) for name in fields}}
        case Count():
            return {"kind": response.kind, "column": response.column, "upper": response.upper}
        case Absent():
            return {"kind": response.kind}


def response_from_json(data: Mapping[str, Any]) -> Response:
    """Read back what `response_to_json` wrote."""
    match data["kind"]:
        case Binary.kind:
            first, second = data["classes"]
            return Binary(str(data["column"]), (first, second))
        case Classes.kind:
            return Classes.of(str(data["column"]), data["classes"])
        case Continuous.kind:
            numbers = [float(data[name]) for name in ("lower", "upper", "center", "scale")]
            return Continuous(str(data["column"]), *numbers)
        case Count.kind:
            return Count.of(str(data["column"]), float(data["upper"]))
        case Absent.kind:
            return Absent()
    raise CertificateError("The stored response is of an unknown kind.")


def _plain(labels: Sequence[Any]) -> list[Any]:
    return [label.item() if isinstance(label, np.generic) else label for label in labels]
