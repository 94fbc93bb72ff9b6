"""A short descent that Newton steps end: for two labels of a large table, where noise is small.

Second moments bound the curvature of the logistic loss and do not give it. Where labels are uneven
or margins long the curvature is a fraction of the bound, and a short descent stops short of the
minimum. So the curvature is asked for once, where a short descent stopped,

    H = Σ p(1 - p) z z' / n + noise,   θ ← θ - U min(1 / (ξ + λ), longest) U' g,   H = U v U'

with ξ the denoised eigenvalues and λ a ridge in noise norms: directions whose curvature noise hides
take steps of at most 1 / λ, the others Newton's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from tacit.contract.plan import Plan, Solution
from tacit.contract.purpose import Purpose
from tacit.contract.query import Gate, GradientSum, QueryKind, SecondMoments, Weights
from tacit.solvers.coordinates import Coordinates, Matrix, Vector
from tacit.solvers.noisy_steps import Descent, descend, take_steps
from tacit.solvers.rules import LABELS, NEWTON_POLISH
from tacit.solvers.solver import CoefficientSolver, PublicFacts, SolverOptions, assembled, priced
from tacit.solvers.spectrum import Spectrum, noise_norm
from tacit.solvers.step_correction import counted, shortened
from tacit.solvers.whitened_gradient import Whitening, forecast, moment_queries, recipe_of, whiten


@dataclass(frozen=True)
class NewtonPolish(CoefficientSolver):
    """Whitening, descent, then Newton steps; `averaged` is the number of last iterates averaged.

    `ridge` is in noise norms. `margin_variance` and `follows_count` as in `WhitenedGradient`.
    """

    whitening: Whitening
    descent: Descent
    newton_steps: int
    ridge: float
    averaged: int
    margin_variance: float | None = None
    follows_count: bool = False
    name: str = "whitened-gradient"

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for second moments and gradients, then for the curvature and further gradients."""
        coordinates = whiten(gate, plan, self.whitening)
        descent = counted(plan, self.descent) if self.follows_count else self.descent
        clip = (descent.clip_factor or 1.0) * math.sqrt(coordinates.dimension)
        descent = shortened(plan, descent, coordinates, clip, self.margin_variance)
        theta, _ = descend(gate, plan, descent, coordinates, None, clip, plan.loss)
        theta = self.polish(gate, plan, coordinates, theta, clip)
        return Solution(coordinates.prepared(theta))

    def polish(self, gate: Gate, plan: Plan, coordinates: Coordinates, start: Vector, clip: float) -> Vector:
        """Take the Newton steps from where descent ended."""
        inverse = self.inverse_curvature(gate, plan, coordinates, start)

        def step(_: int, theta: Vector) -> Vector:
            query = GradientSum(theta, clip, coordinates.matrix, loss=plan.loss, balanced=True)
            return theta - inverse @ (gate.ask(query).value / plan.count)

        first = self.newton_steps - self.averaged
        return take_steps(start, self.newton_steps, step, first=first)

    def inverse_curvature(self, gate: Gate, plan: Plan, coordinates: Coordinates, theta: Vector) -> Matrix:
        """Ask for the curvature at theta, and return the map from mean gradients to steps."""
        bound = self.whitening.row_factor * math.sqrt(coordinates.dimension)
        answer = gate.ask(
            SecondMoments(bound, coordinates.matrix, theta, Weights.CURVATURE, plan.loss, self.whitening.one_in)
        )
        spectrum = Spectrum.of(answer.value)
        ridge = noise_norm(answer.noise_scale, len(spectrum.values), self.ridge)
        unit = plan.loss.smoothness / plan.count
        curvature = unit * (spectrum.denoised(answer.noise_scale) + ridge)
        return spectrum.with_values(1.0 / np.maximum(curvature, 1.0 / NEWTON_POLISH.longest))


def plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price second moments, a short descent, the curvature, Newton steps."""
    del options
    rules, signal = NEWTON_POLISH, facts.signal(allowed)
    _, _, ridge = moment_queries(facts, signal)
    row_factor = LABELS.row_factor.at(signal)
    one_in = facts.one_in_of_moments(math.sqrt(allowed * rules.curvature_share), row_factor)
    moments = rules.queries * rules.query_share
    left = allowed * (1 - moments - rules.curvature_share)
    # The descent only has to come near: it need not read all records either.
    first = left * rules.descent_share
    recipe = recipe_of(facts, signal)
    length = (recipe.clip_factor or 1.0) * recipe.step_size
    descent = replace(
        recipe,
        iterations=rules.steps,
        momentum=rules.momentum,
        averaged=rules.averaged / rules.steps,
        one_in=facts.one_in_of_steps(math.sqrt(first / rules.steps), length),
    )
    steps = (
        priced(facts, QueryKind.SECOND_MOMENTS, allowed * moments, rules.queries, Purpose.SECOND_MOMENTS),
        priced(facts, QueryKind.GRADIENT, first, rules.steps, Purpose.DESCENT),
        priced(facts, QueryKind.SECOND_MOMENTS, allowed * rules.curvature_share, 1, Purpose.CURVATURE),
        priced(facts, QueryKind.GRADIENT, left - first, rules.newton_steps, Purpose.NEWTON_STEPS),
    )
    solver = NewtonPolish(
        Whitening(rules.queries, ridge, row_factor, one_in=one_in),
        descent,
        rules.newton_steps,
        rules.ridge,
        rules.averaged,
        margin_variance=LABELS.margin_variance,
        follows_count=bool(facts.counts),
    )
    return assembled(facts, solver, steps, forecast(facts, descent, math.sqrt(left)))
