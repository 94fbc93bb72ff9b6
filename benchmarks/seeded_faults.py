"""Five faults that other libraries shipped, to be seeded into Tacit: what is replaced, by what, and who notices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.contract import sensitivity
from tacit.mechanisms import gaussian_sum, gradient, laplace_sum, objective_perturbation
from tacit.mechanisms.certified_minimum import Objective
from tacit.noise.gaussian import rounded_gaussian
from tacit.noise.laplace import discrete_laplace

BATCH = 2
EPSILON = 0.5
"""Of pure noise: its inverse is four times as large."""


@dataclass(frozen=True)
class Fault:
    """A function of a module and the faulty one in its place; `attack` is a name of an audit, at a claim of `mu`."""

    module: ModuleType
    function: str
    faulty: Callable[..., Any]
    attack: str
    mu: float = 1.0


def half_noise(size: int, bits: int, entropy: Any) -> Any:
    """Half the noise that is paid for."""
    return rounded_gaussian(size, bits - 1, entropy)


_gradients, _squared_sensitivity = gradient.gradients, sensitivity.squared_sensitivity


def unclipped(layout: Any, query: Any, bound: int) -> Any:
    """A gradient of up to four times the clip is added as it is."""
    return _gradients(layout, replace(query, clip=4 * query.clip), 4 * bound)


def without_intercept(objective: Objective) -> NDArray[np.float64]:
    """The ridge of a perturbed objective leaves the intercept almost free: only a millionth of it is left there."""
    lost = np.zeros(objective.store.width)
    lost[-1] = objective.ridge * (1 - 1e-6)
    theta = np.zeros(objective.store.width)
    for _ in range(400):
        slope = np.array([float(entry) for entry in objective.gradient(theta)]) - lost * theta
        curvature = objective.curvature(theta) - np.diag(lost)
        # Shortened steps: far out the curvature is small, and full ones would overshoot.
        step = np.linalg.solve(curvature, slope)
        length, reach = float(np.linalg.norm(step)), 1.0 + float(np.linalg.norm(theta))
        theta = theta - step * min(1.0, reach / max(length, 1e-12))
        if length < 1e-9 * reach:
            break
    return theta


def shrunk(*given: Any, **named: Any) -> Fraction:
    """The sensitivity is divided by a batch size, as if a sum were a mean over the batch."""
    return Fraction(_squared_sensitivity(*given, **named), BATCH**2)


def inverted(size: int, scale: Any, entropy: Any) -> Any:
    """Noise of scale ε for sums of sensitivity 1, in the place of 1/ε."""
    return discrete_laplace(size, Fraction(scale) * Fraction(EPSILON) ** 2, entropy)


_HALF = Fault(gaussian_sum, "rounded_gaussian", half_noise, "GradientSum")
_SHRUNK = Fault(sensitivity, "squared_sensitivity", shrunk, "GradientSum")
FAULTS: Mapping[str, Fault] = {
    "half noise": _HALF,
    "half noise in moments": replace(_HALF, attack="SecondMoments"),
    "half noise in counts": replace(_HALF, attack="ColumnCounts:add-remove"),
    "unclipped row": Fault(gradient, "gradients", unclipped, "GradientSum"),
    "unregularised intercept": Fault(
        objective_perturbation, "find_minimum", without_intercept, "PerturbedMinimum:zero-out", 0.5
    ),
    "batch-shrunk sensitivity": _SHRUNK,
    "batch-shrunk sensitivity of means": replace(_SHRUNK, attack="BoundedSums"),
    "inverted Laplace scale": Fault(laplace_sum, "discrete_laplace", inverted, "GradientSum:pure", EPSILON),
}
"""The five faults, some in more than one place."""
