"""The minimiser of a perturbed objective, and one step that takes its ridge off again.

    Σ w loss'(z·θ, y) z + λ θ + b = 0,   b Gaussian of scale s

is one answer of the gate. Without intervals it is asked for in prepared coordinates and reported as
it is. With intervals the columns are standardised and whitened first, as for the one-step route;
M and Q at θ are asked for as well, and

    θ_d = θ + λ (n M + λ I)⁻¹ θ,    Cov = M⁻¹ (Q / n + s² I / n²) M⁻¹
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.contract.gate import Gate
from tacit.contract.perturbation_precision import Accuracy, ridge_of
from tacit.contract.plan import Plan
from tacit.contract.query import PerturbedMinimum
from tacit.contract.release import Sandwich
from tacit.contract.sensitivity import MinimumPrice
from tacit.errors import SettingError
from tacit.solvers.coordinates import Coordinates
from tacit.solvers.onestep import begin
from tacit.solvers.sandwich import ask_sandwich

Vector = NDArray[np.float64]


def minimise_perturbed(gate: Gate, plan: Plan) -> tuple[Coordinates, Vector, Sandwich | None]:
    """Run the whole route; return coordinates, coefficients in them, and what intervals need."""
    width = plan.design.width
    if plan.inference is None:
        answer = gate.ask(PerturbedMinimum(plan.design.row_norm, loss=plan.loss))
        return Coordinates(None, float(width)), answer.value, None
    known = begin(gate, plan, plan.inference.clip_factor)
    theta, sandwich = _debiased(gate, plan, known.coordinates, known.clip, known.level.share)
    return known.coordinates, theta, replace(sandwich, rare=known.rare)


def _debiased(
    gate: Gate, plan: Plan, coordinates: Coordinates, clip: float, share: float
) -> tuple[Vector, Sandwich]:
    matrix, count, loss = coordinates.matrix, plan.records, plan.loss
    price = _price(plan)
    minimum = gate.ask(PerturbedMinimum(clip, matrix, loss))
    theta = minimum.value
    asked = ask_sandwich(gate, plan, coordinates, theta, clip, loss)
    ridge = ridge_of(price, clip, loss)
    damped = count * asked.curvature + ridge * np.eye(len(theta))
    debiased = theta + ridge * np.linalg.solve(damped, theta)
    # Noise on θ itself is no more than noise on the gradient times the largest curvature.
    cover = _cover(plan, price, clip) * float(np.linalg.norm(asked.curvature, 2))
    step_noise = math.hypot(minimum.noise_scale / count, cover)
    return debiased, replace(asked, step_noise=step_noise, level=share)


def _price(plan: Plan) -> MinimumPrice:
    for step in plan.steps:
        if isinstance(step.price, MinimumPrice):
            return step.price
    raise SettingError("The plan pays for no perturbed minimum.")


def _cover(plan: Plan, price: MinimumPrice, clip: float) -> float:
    """Standard deviation of the noise that hides how the minimiser was computed."""
    width = plan.design.width
    accuracy = Accuracy.of(
        price, records=plan.records, width=width, smoothness=plan.loss.smoothness
    )
    return 2.0**price.drift.bits * accuracy.step(price, width) / clip
