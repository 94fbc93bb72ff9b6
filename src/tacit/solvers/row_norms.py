"""How long rows are: a quantile of their norms and the mean of what lies beyond, both paid for.

Rows beyond a bound C weigh less, and where a model's mean is wrong for them its target moves. Of the information
τ = E(1 - w)‖z‖² / d is weighed away. If effects among these rows differ by a part κ from those among the others, the
mean gradient is off by about κ τ M θ, θ without its level: a bound that is added to that of the clip.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.contract.plan import Plan
from tacit.contract.purpose import Purpose
from tacit.contract.query import Gate, GradientNorm, Measure
from tacit.design.design import Design
from tacit.losses import regression
from tacit.losses.loss import Code, Loss
from tacit.solvers.coordinates import Coordinates, Matrix, Vector
from tacit.solvers.gradient_tail import LARGEST, tail_law
from tacit.solvers.interval_rules import ONE_STEP, TAIL
from tacit.solvers.quantiles import FARTHEST, bisect_octaves
from tacit.solvers.rules import between
from tacit.solvers.standardised_start import standardised_columns


def measures_rows(loss: Loss, design: Design) -> bool:
    """Whether norms of rows are asked for: one predictor, an intercept, rows that are units, no target of its own."""
    # A column of units makes a store of persons, also where each has one row.
    single = design.attached.unit is None and design.outputs == 1 and design.intercept
    # An effect of indicators alone cannot be curved.
    numbers = any(place < design.width - 1 for place in standardised_columns(design))
    return single and numbers and loss.code not in {Code.HUBER, Code.SOFTMAX}


@dataclass(frozen=True)
class RowNorms:
    """Norms beyond a quantile at even steps of their share (None: too heavy for any law), and that share."""

    quantile: float
    beyond: float
    law: Vector | None

    def left_out(self, bound: float, dimension: float) -> float:
        """Part of the information that weights (C / ‖z‖)² beyond a bound C leave out: 1 at most."""
        if self.law is None:
            return 1.0
        weight = np.minimum(1.0, bound / self.law) ** 2
        return min(1.0, self.beyond * float(np.mean(self.law**2 * (1 - weight))) / dimension)


def ask_norms(gate: Gate, plan: Plan, coordinates: Coordinates) -> RowNorms:
    """Ask for the quantile, then for the mean excess beyond it.

    At a level far above every response Huber's slope is 1, so that the norm of a gradient is that of its row.
    """
    level = np.zeros(plan.design.width)
    level[-1] = FARTHEST
    far, matrix = coordinates.working(level), coordinates.matrix
    loss = regression.huber(1.0)
    noise = plan.step(Purpose.ROW_NORMS).noise_share(plan.count)
    held = between(1 - TAIL.noises * noise, *TAIL.held)

    def within(norm: float) -> float:
        return float(gate.ask(GradientNorm(far, LARGEST, 2 * norm, matrix, loss, start=-norm, shortened=True)).value[0])

    top = ONE_STEP.row_top * math.sqrt(coordinates.dimension)
    quantile = bisect_octaves(within, top, ONE_STEP.row_octaves, ONE_STEP.row_rounds, held * plan.count)
    cap = TAIL.cap * quantile
    query = GradientNorm(far, LARGEST, cap, matrix, loss, Measure.SHARE, start=quantile, shortened=True)
    answer = gate.ask(query)
    seen = float(answer.value[0]) - ONE_STEP.row_noises * answer.noise_scale
    excess = cap * max(0.0, seen) / plan.count
    return RowNorms(quantile, 1 - held, tail_law(quantile, held, excess, LARGEST, heavy=True))


def shift_bound(coordinates: Coordinates, curvature: Matrix, theta: Vector, mean_row: Vector, left_out: float) -> float:
    """What rows that weigh less may do to the mean gradient in one direction, if their effects differ by a part κ."""
    center = mean_row if coordinates.matrix is None else coordinates.matrix.T @ mean_row
    slopes = theta - center * float(center @ theta) / max(float(center @ center), 1e-300)
    moved = float(np.linalg.norm(curvature @ slopes))
    return ONE_STEP.other_effects * left_out * moved / math.sqrt(coordinates.dimension)
