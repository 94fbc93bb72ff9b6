"""One direction, then two coefficients: a fit of two labels for tables of few records.

Where n·μ/d is small, second moments are noise, and coordinates made of them turn slopes away. The mean gradient at the
labels' odds is the difference of the two classes' means, and one answer tells it with all of its budget:

    g = mean (p - y) w z,   w = min(1, C / (‖z‖ max(p, 1 - p))),   p the share of the second label

With C far below the row norm rows count alike. Along the direction v of -g a record is the one number t = z'v. Its mean
and spread follow from one query of second moments of (t, 1), and intercept and slope of the standardised t from a
descent with two coefficients, whose signal is n·μ/2.

Below a signal of 1 no length is told by so few records. There the direction has nearly all of the budget, and the
margins along it a short length that goes by n·μ/√d: ranks need no more. The gradient is then that at p = ½, whose rows
all count alike; the labels' share is asked for where its noise leaves something of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from tacit.contract.plan import Plan, Solution
from tacit.contract.purpose import Purpose
from tacit.contract.query import Gate, GradientSum, QueryKind, SecondMoments
from tacit.losses.loss import Code
from tacit.solvers.coordinates import Coordinates, Matrix, Vector
from tacit.solvers.label_direction_rules import LABEL_DIRECTION
from tacit.solvers.noisy_steps import Descent, descend
from tacit.solvers.quantiles import SMALLEST
from tacit.solvers.response_location import label_start
from tacit.solvers.rules import INTERCEPT_ONLY, LABELS
from tacit.solvers.solver import CoefficientSolver, PublicFacts, SolverOptions, assembled, priced
from tacit.solvers.step_correction import shortened
from tacit.solvers.whitened_gradient import recipe_of
from tacit.solvers.wide_rules import COLUMNS


@dataclass(frozen=True)
class LabelDirection(CoefficientSolver):
    """The difference of the classes' means, and a descent along it; without one, margins of the deviation `length`.

    With `shared` the labels' share is asked for; without it the level is that of even labels.
    """

    descent: Descent | None
    length: float
    shared: bool = True
    name: str = "label-direction"

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for the labels' share, a gradient, moments along it, and gradients of two coefficients."""
        start = label_start(gate, plan) if self.shared else np.zeros(plan.design.width)
        if self.descent is None:
            line = standardised_line(gate, plan, direction(gate, plan, np.zeros_like(start)))
            theta = np.zeros_like(start)
            theta[[0, -1]] = self.length, start[-1]
            return Solution(line.prepared(theta))
        line = standardised_line(gate, plan, direction(gate, plan, start))
        clip = (self.descent.clip_factor or 1.0) * math.sqrt(2.0)
        descent = shortened(plan, self.descent, line, clip, LABEL_DIRECTION.margin_variance)
        begin = np.zeros_like(start)
        begin[[0, -1]] = self.length, start[-1]
        theta, _ = descend(gate, plan, descent, line, begin, clip, plan.loss)
        theta[0] = max(theta[0], LABEL_DIRECTION.shortest)
        return Solution(line.prepared(theta))


def direction(gate: Gate, plan: Plan, start: Vector) -> Vector:
    """Slopes of norm 1 against the mean gradient at the labels' odds."""
    clip = LABEL_DIRECTION.clip * plan.design.row_norm
    gradient = gate.ask(GradientSum(start, clip, None, False, plan.loss, True)).value
    slopes = -np.append(gradient[:-1], 0.0)
    return slopes / max(float(np.linalg.norm(slopes)), SMALLEST)


def standardised_line(gate: Gate, plan: Plan, slopes: Vector) -> Coordinates:
    """Coordinates (t, 0, …, 0, 1) of a prepared row, t its standardised product with the slopes."""
    slopes = LABEL_DIRECTION.unit * slopes
    bound = LABEL_DIRECTION.row_bound
    answer = gate.ask(SecondMoments(bound, _line(slopes, 0.0)))
    noise = answer.noise_scale / plan.count
    # Rows beyond the bound are shortened: what is left of the constant says by how much.
    moments = answer.value / max(float(answer.value[-1, -1]), LABEL_DIRECTION.shortened * plan.count)
    mean = float(np.clip(moments[0, -1], -bound, bound))
    # A spread that noise hides is taken to be as large as the noise: slopes are then too short, not too long.
    variance = max(float(moments[0, 0]) - mean**2, LABEL_DIRECTION.least * noise, SMALLEST)
    resolved = np.zeros(len(slopes))
    resolved[[0, -1]] = 1.0
    return Coordinates(
        _line(slopes / math.sqrt(variance), mean / math.sqrt(variance)), 2.0, directions=(None, resolved)
    )


def _line(slopes: Vector, mean: float) -> Matrix:
    """Map of a prepared row to (its product with the slopes less the mean, 0, …, 0, 1)."""
    found = np.zeros((len(slopes), len(slopes)))
    found[:, 0] = slopes
    found[-1, 0] = -mean
    found[-1, -1] = 1.0
    return found


def suits(facts: PublicFacts) -> bool:
    """Whether records are rows of logits with a level and nothing added, of a table neither wide nor large."""
    design = facts.design
    narrow = design.width < COLUMNS.wide and not facts.is_large
    plain = design.intercept and design.attached.offset is None and design.unit_rows == 1
    return narrow and plain and facts.loss.code is Code.LOGISTIC


def plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price the labels' share, one gradient, one query of second moments, and the steps along the line."""
    del options
    rules = LABEL_DIRECTION
    n_mu = facts.n_mu(allowed)
    length = rules.length.at(n_mu / math.sqrt(facts.design.width))
    if facts.signal(allowed) < INTERCEPT_ONLY.labels:
        return _faint(facts, allowed, length)
    share = allowed * Fraction(rules.label_share.at(n_mu))
    moments, line = ((allowed - share) * it for it in (rules.moments_share, rules.line_share))
    descent = replace(recipe_of(facts, math.sqrt(line) * facts.records / 2), output="tail")
    first = min(max(LABELS.burn_in, descent.iterations // 2), descent.iterations - 1)
    descent = replace(descent, averaged=(descent.iterations - first) / descent.iterations)
    steps = (
        priced(facts, QueryKind.COUNTS, share, 1, Purpose.LABEL_SHARE),
        priced(facts, QueryKind.GRADIENT, allowed - share - moments - line, 1, Purpose.DIRECTION),
        priced(facts, QueryKind.SECOND_MOMENTS, moments, 1, Purpose.SECOND_MOMENTS),
        priced(facts, QueryKind.GRADIENT, line, descent.iterations, Purpose.DESCENT),
    )
    return assembled(facts, LabelDirection(descent, length), steps)


def _faint(facts: PublicFacts, allowed: Fraction, length: float) -> Plan:
    """Price a direction and the moments along it, and the labels' share where its noise leaves something of it."""
    rules = LABEL_DIRECTION
    shared = facts.n_mu(allowed) >= rules.faint_level
    share = allowed * (rules.faint_label_share if shared else 0)
    moments = allowed * rules.faint_moments_share
    steps = [priced(facts, QueryKind.COUNTS, share, 1, Purpose.LABEL_SHARE)] if shared else []
    steps.append(priced(facts, QueryKind.GRADIENT, allowed - share - moments, 1, Purpose.DIRECTION))
    steps.append(priced(facts, QueryKind.SECOND_MOMENTS, moments, 1, Purpose.SECOND_MOMENTS))
    return assembled(facts, LabelDirection(None, length, shared), steps)
