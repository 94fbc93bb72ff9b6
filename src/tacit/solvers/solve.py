"""From a plan and a gate to coefficients: which strategy runs which plan."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.contract.gate import Gate
from tacit.contract.plan import Plan
from tacit.contract.release import Sandwich
from tacit.design.response import Absent
from tacit.solvers.coordinates import Coordinates
from tacit.solvers.descent import descend
from tacit.solvers.double_noise import step_with_double_noise
from tacit.solvers.exact_sandwich import infer_exactly
from tacit.solvers.level import find_level
from tacit.solvers.mean import take_mean
from tacit.solvers.newton import minimise
from tacit.solvers.onestep import infer
from tacit.solvers.perturbed import minimise_perturbed
from tacit.solvers.rounds import run_rounds
from tacit.solvers.staged import descend_in_stages


@dataclass(frozen=True)
class Solution:
    """Coefficients of the prepared row, and what intervals or a covariance are made of."""

    theta: NDArray[np.float64]
    sandwich: Sandwich | None = None
    moments: NDArray[np.float64] | None = None
    decrements: tuple[float, ...] = ()


def solve(gate: Gate, plan: Plan) -> Solution:  # noqa: PLR0911 - one return a strategy
    """Run the plan's strategy; it sees answers of the gate and nothing else."""
    if isinstance(plan.design.response, Absent):
        mean, moments = take_mean(gate, plan)
        return Solution(mean, None, moments)
    if plan.solver == "level":
        return Solution(find_level(gate, plan))
    if plan.rounds is not None:
        walked = run_rounds(gate, plan, plan.rounds)
        prepared = walked.coordinates.prepared(walked.theta)
        return Solution(prepared, walked.sandwich, decrements=walked.decrements)
    if plan.solver == "objective-perturbation":
        coordinates, theta, spread = minimise_perturbed(gate, plan)
        return Solution(coordinates.prepared(theta), spread)
    if plan.solver == "double-noise-newton":
        return Solution(step_with_double_noise(gate, plan))
    if plan.inference is not None and plan.private:
        coordinates, theta, sandwich = infer(gate, plan)
        return Solution(coordinates.prepared(theta), sandwich)
    if plan.placing is not None:
        coordinates, theta = descend_in_stages(gate, plan)
    elif plan.private:
        coordinates, theta = descend(gate, plan)
    else:
        coordinates = Coordinates(None, float(plan.design.width))
        theta = minimise(gate, plan)
    if plan.inference is not None:
        return Solution(theta, infer_exactly(gate, plan, theta))
    return Solution(coordinates.prepared(theta))
