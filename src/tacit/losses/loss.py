"""A margin loss: its name, its constants and the code of its compiled branch.

A loss sees a margin z and a label y, never a feature. Its slope is the derivative in z, its
curvature the second derivative.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar

from tacit.display import Displayed


class Code(IntEnum):
    """Branches of the compiled dispatch (`losses.dispatch`)."""

    LOGISTIC = 0
    SQUARED = 1
    HUBER = 2
    SMOOTH_HUBER = 3
    HINGE = 4
    POISSON = 5
    PINBALL = 6
    DISTANCE = 7
    SOFTMAX = 8
    BOUNDED_POISSON = 9
    WEIGHTED_POISSON = 10
    WEIGHTED_LOGISTIC = 11
    OWN = 12
    GAMMA = 13
    NEGATIVE_BINOMIAL = 14
    PROBIT = 15
    CLOGLOG = 16


TWO_LABELS = frozenset({Code.LOGISTIC, Code.PROBIT, Code.CLOGLOG})
"""Losses of two labels by their probability."""
LOG_LINKED = frozenset({Code.POISSON, Code.GAMMA, Code.NEGATIVE_BINOMIAL})
"""Losses of a mean that is the exponential of the margin."""


@dataclass(frozen=True)
class Loss(Displayed):
    """A convex loss of a margin and a label.

    `lipschitz` bounds |slope| for labels as a design prepares them; where it is infinite, only a clip bounds a
    gradient. `smoothness` bounds the curvature, and `joint` bounds (curvature / smoothness)² + (slope / lipschitz)⁴.
    `shape` holds public parameters (threshold, quantile, cap), in units of the residuals' estimated deviation if
    `relative`. `one_signed`: the slope has one sign given the label. If prediction and response are multiplied by c,
    the loss is multiplied by c^degree.
    """

    name: str
    code: Code
    lipschitz: float
    smoothness: float
    shape: tuple[float, ...] = (0.0, 0.0)
    one_signed: bool = False
    degree: int = 0
    joint: float = 2.0
    relative: bool = False
    convex: ClassVar[bool] = True
