"""Least squares from X'X and X'y in the coordinates of the public bounds, with a ridge that adapts to the noise.

AdaSSP (Wang, "Revisiting differentially private linear regression", UAI 2018) as two Gaussian answers, priced exactly:

    A = X'X + noise of deviation s          c = X'y + noise
    λ = max(0, t·√(2d)·s - λ_min(A))        θ = (A + λI)⁻¹ c

The published form asks for λ_min(X'X) too, and takes λ = max(0, 1.5·√(2d)·s - λ̃_min). The smallest eigenvalue of A is
free, since A is released anyway, and it is what the inverse depends on. Noise moves eigenvalues by at most its spectral
norm, about √(2d)·s. So t = 1.5 - 1 = ½ gives the same λ where the noise took off as much as it can, and A + λI then
has no eigenvalue below ½·√(2d)·s, on every table. What the third answer would cost goes to the other two.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tacit.contract.plan import Plan, Solution
from tacit.contract.purpose import Purpose
from tacit.contract.query import Gate, GradientSum, QueryKind, SecondMoments
from tacit.losses.loss import Code
from tacit.solvers.coordinates import Coordinates, penalty_in
from tacit.solvers.requirements import Requirement, declared_bounds, loss_is, no_intervals, require, takes_no
from tacit.solvers.rules import ADASSP
from tacit.solvers.solver import CoefficientSolver, PublicFacts, SolverOptions, assembled, priced
from tacit.solvers.spectrum import Spectrum, noise_norm

REQUIRES = (
    Requirement(loss_is(Code.SQUARED), 'solver="adassp" is for LinearRegression and Ridge.'),
    Requirement(no_intervals, 'There are no intervals for solver="adassp".'),
    Requirement(declared_bounds, 'solver="adassp" needs declared bounds: it works in their coordinates.'),
    Requirement(
        lambda facts, _: facts.penalty.radius is None and facts.penalty.constraint is None,
        'solver="adassp" takes l2 and prior_mean, but no radius and no constraint.',
    ),
    *takes_no("adassp", "iterations", "step_size", "output"),
)


@dataclass(frozen=True)
class AdaptiveRidge(CoefficientSolver):
    """Noised moments, and the eigenvalue that the ridge lifts them to, in noise norms."""

    lift: float
    name: str = "adassp"
    maps_rows = False

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for both moments, and solve the ridge equations."""
        bound = plan.design.row_norm
        gram = gate.ask(SecondMoments(bound))
        # At zero the squared loss has the slope -y, and prepared responses lie in [-1, 1].
        cross = gate.ask(GradientSum(np.zeros(plan.design.width), bound, loss=plan.loss))
        moments, correlation = gram.value / plan.count, -cross.value / plan.count
        norm = noise_norm(gram.noise_scale / plan.count, plan.design.width)
        penalty, _, start = penalty_in(plan, Coordinates(None, float(plan.design.width)))
        # The user's penalty is known and lifts eigenvalues too: it counts before the ridge is chosen.
        whole = moments + penalty.curvature()
        values = Spectrum.of(whole).values
        ridge = max(0.0, self.lift * norm - float(values[0]))
        pull = penalty.curvature() @ start if plan.penalty.prior_mean is not None else 0.0
        return Solution(_solved(whole + ridge * np.eye(len(whole)), correlation + pull + ridge * start))


def _solved(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Solution of positive definite equations."""
    spectrum = Spectrum.of(matrix)
    floor = max(float(spectrum.values[-1]), 1e-300) * 1e-14
    return np.asarray(spectrum.with_values(1.0 / np.maximum(spectrum.values, floor)) @ vector)


def plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price X'X and X'y."""
    require(REQUIRES, facts, options)
    steps = (
        priced(facts, QueryKind.SECOND_MOMENTS, allowed * ADASSP.gram_share, 1, Purpose.SECOND_MOMENTS),
        priced(facts, QueryKind.GRADIENT, allowed * (1 - ADASSP.gram_share), 1, Purpose.CROSS_MOMENTS),
    )
    return assembled(facts, AdaptiveRidge(ADASSP.lift), steps)
