"""What every margin loss publishes: its constants, and which compiled branch computes it.

A loss sees a margin z and a label y, never a feature. The slope is its derivative in z, the
curvature the second derivative. A loss may have public shape parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Code(IntEnum):
    """Branches of the compiled switch (`losses.switch`)."""

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


@dataclass(frozen=True)
class Loss:
    """A convex loss of a margin and a label.

    Parameters
    ----------
    name
        How certificates and tables call it.
    code
        Which branch of the compiled switch computes it.
    lipschitz
        Bound on |slope|, for labels as a design prepares them; infinite where there is none, and
        then only a clip bounds a gradient.
    smoothness
        Bound on the curvature.
    shape
        Public parameters: threshold, quantile, cap. Zeros where the loss has none.
    one_signed
        Whether the slope has one sign given the label.
    joint
        Bound on (curvature / smoothness)² + (slope / lipschitz)⁴: how much more than one of them
        the two matrices of a sandwich can take together.
    relative
        Whether the shape is in units of the residuals' deviation, which is yet to be found.
    degree
        The loss grows by c^degree where prediction and response are both multiplied by c.
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
