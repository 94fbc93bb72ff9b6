"""Descent in the coordinates of the public bounds: a fit of two labels for tables of few records.

Where n·μ is a few hundred, second moments resolve some directions and leave noise in the others. Coordinates made of
them stretch the latter, and their noise with them. In the coordinates of the bounds every column has the same noise,
and a direction in which the rows hardly spread hardly moves a margin. So the steps

    θ ← θ - η (mean (p - y) w z + noise),   w = min(1, C / (‖z‖ max(p, 1 - p))),   C far below the row norm

start at the labels' odds, and η is such that noise alone gives the longest row's margin a public deviation: fits of
less data stay nearer to their start. How long the margins ought to be is asked for at the end (`label_slope`), by
second moments that are used for that alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from tacit.contract.plan import Plan, Solution
from tacit.contract.purpose import Purpose
from tacit.contract.query import Gate, QueryKind, SecondMoments
from tacit.solvers.coordinates import Coordinates
from tacit.solvers.label_direction import suits as suits_direction
from tacit.solvers.label_slope import asks_for_length, lengthened
from tacit.solvers.label_slope_rules import LABEL_SLOPE
from tacit.solvers.noisy_steps import Descent, descend
from tacit.solvers.public_descent_rules import PUBLIC_DESCENT
from tacit.solvers.response_location import label_start
from tacit.solvers.solver import CoefficientSolver, PublicFacts, SolverOptions, assembled, priced
from tacit.solvers.step_correction import tail_variance


@dataclass(frozen=True)
class PublicDescent(CoefficientSolver):
    """The labels' share, second moments, steps as long as their noise allows, and the length of the margins."""

    descent: Descent
    lengthening: int
    name: str = "public-descent"

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for the labels' share, second moments, gradients, and the length of the margins."""
        start = label_start(gate, plan)
        answer = gate.ask(SecondMoments(plan.design.row_norm))
        width = plan.design.width
        coordinates = Coordinates(
            None,
            float(width),
            (answer.value / plan.count, None),
            (None, np.ones(width)),
            answer.noise_scale / plan.count,
        )
        clip = PUBLIC_DESCENT.clip * plan.design.row_norm
        descent = replace(self.descent, step_size=step_size(plan, self.descent, clip))
        theta, _ = descend(gate, plan, descent, coordinates, start, clip, plan.loss)
        errors = PUBLIC_DESCENT.sampling_errors
        return Solution(lengthened(gate, plan, self.lengthening, coordinates, theta, errors))


def step_size(plan: Plan, descent: Descent, clip: float) -> float:
    """Length of steps whose noise gives the longest row's margin the public deviation, if no curvature holds it.

    With curvatures of at most C·row norm / 2 such steps are stable for every n·μ that this is for.
    """
    price = plan.step(Purpose.DESCENT).price
    if price is None:
        return descent.step_size
    noise = 2.0**price.bits / price.bound * clip / plan.count
    walk = math.sqrt(float(tail_variance(np.zeros(1), replace(descent, step_size=1.0))[0]))
    return PUBLIC_DESCENT.margin_noise / (noise * plan.design.row_norm * walk)


def suits(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> bool:
    """Whether records are rows of logits whose length can be asked for, and few for their columns."""
    few = facts.records < PUBLIC_DESCENT.records * facts.design.width
    few = few and PUBLIC_DESCENT.least <= facts.n_mu(allowed) < PUBLIC_DESCENT.most
    few = few and facts.signal(allowed) >= PUBLIC_DESCENT.signal
    return few and suits_direction(facts) and asks_for_length(facts, options)


def plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price the labels' share, second moments, the steps, and the questions for the length of the margins."""
    del options
    rules, n_mu = PUBLIC_DESCENT, facts.n_mu(allowed)
    share = allowed * Fraction(rules.label_share.at(n_mu))
    moments = allowed * rules.moments_share
    length = (allowed - share - moments) * Fraction(LABEL_SLOPE.share.at(n_mu))
    descent = Descent(rules.iterations, 1.0, rules.momentum, None, "tail", 0.5, balanced=True)
    steps = (
        priced(facts, QueryKind.COUNTS, share, 1, Purpose.LABEL_SHARE),
        priced(facts, QueryKind.SECOND_MOMENTS, moments, 1, Purpose.SECOND_MOMENTS),
        priced(facts, QueryKind.GRADIENT, allowed - share - moments - length, descent.iterations, Purpose.DESCENT),
        priced(facts, QueryKind.COUNTS, length, LABEL_SLOPE.rounds, Purpose.SLOPE),
    )
    return assembled(facts, PublicDescent(descent, LABEL_SLOPE.rounds), steps)
