"""How long rows are: a quantile of their norms and the mean of what lies beyond, both paid for.

Rows beyond a bound C weigh less, and where a model's mean is wrong for them its target moves. Of the information
τ = E(1 - w)‖z‖² / d is weighed away, less what is of normal rows. If effects among these rows differ by a part κ from
those among the others, the mean gradient is off by about κ τ M θ, θ the slopes of numbers: a bound that is added to
that of the clip. The excess is read just beyond the quantile, where rows are many enough for the noise, and a lognormal
law goes on from there. Rows whose quantile and excess are near those of normal ones are ordinary: none is too long.
"""

from __future__ import annotations

import functools
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
    return single and bool(numbers_of(design)) and loss.code not in {Code.HUBER, Code.SOFTMAX}


def numbers_of(design: Design) -> tuple[int, ...]:
    """Places of columns that are no indicators, without the response."""
    return tuple(place for place in standardised_columns(design) if place < design.width - 1)


FASTEST = 2.0
"""Logarithm of the largest rate that is counted, over the mean: beyond, the noise of the law would speak."""


@dataclass(frozen=True)
class NormalRows:
    """Norms of standard normal rows: a quantile, and those beyond it over it, with their shares of all rows."""

    quantile: float
    ratios: Vector
    shares: Vector

    @classmethod
    @functools.lru_cache(maxsize=64)
    def of(cls, dimension: float, held: float) -> NormalRows:
        """Of this dimension, beyond the quantile that holds a share of them."""
        norms = np.linspace(0.0, math.sqrt(dimension) + 8.0, 4001)[1:]
        logs = (dimension - 1) * np.log(norms) - norms**2 / 2
        shares = np.exp(logs - logs.max())
        shares /= shares.sum()
        place = int(np.searchsorted(np.cumsum(shares), held))
        return cls(float(norms[place]), norms[place:] / norms[place], shares[place:])

    def excess(self, cap: float) -> float:
        """Mean over all rows of the share of the way from the quantile to 1 + `cap` quantiles."""
        return float(self.shares @ np.minimum((self.ratios - 1) / cap, 1.0))


@dataclass(frozen=True)
class RowNorms:
    """Norms beyond a quantile at even steps of their share (None: too heavy for any law), and that share.

    `ordinary` rows are not seen to be longer than normal ones.
    """

    quantile: float
    beyond: float
    law: Vector | None
    ordinary: bool = False

    def left_out(self, bound: float, dimension: float, growth: float = 0.0) -> float:
        """Part of the information that weights w = (C / ‖z‖)² beyond a bound C leave out.

        What they leave out of normal rows with the same quantile is not counted. Rows of counts tell more with their
        rates: e^(growth ‖z‖) times as much.
        """
        if self.ordinary:
            return 0.0
        if self.law is None:
            return 1.0
        normal = NormalRows.of(dimension, 1 - self.beyond)
        scale = min(self.quantile, ONE_STEP.row_scale * normal.quantile)

        def lost(norms: Vector) -> Vector:
            return np.asarray(np.maximum(norms**2 - bound**2, 0.0) * np.exp(np.minimum(growth * norms, FASTEST)))

        own, usual = self.beyond * float(np.mean(lost(self.law))), float(normal.shares @ lost(scale * normal.ratios))
        return min(1.0, max(0.0, own - usual) / dimension)


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
    cap = ONE_STEP.row_cap * quantile
    query = GradientNorm(far, LARGEST, cap, matrix, loss, Measure.SHARE, start=quantile, shortened=True)
    answer = gate.ask(query)
    seen = float(answer.value[0]) / plan.count
    law = tail_law(quantile, held, cap * max(0.0, seen), LARGEST, heavy=True, cap=ONE_STEP.row_cap)
    normal = NormalRows.of(coordinates.dimension, held)
    most = normal.excess(ONE_STEP.row_cap) + ONE_STEP.row_noises * answer.noise_scale / plan.count
    ordinary = plan.private and seen <= most and quantile <= ONE_STEP.row_scale * normal.quantile
    return RowNorms(quantile, 1 - held, law, ordinary)


def shift_bound(
    norms: RowNorms,
    row_bound: float,
    loss: Loss,
    coordinates: Coordinates,
    curvature: Matrix,
    theta: Vector,
    mean_row: Vector,
    numbers: tuple[int, ...],
) -> float:
    """What rows that weigh less may do to the mean gradient in one direction, if their effects differ by a part κ.

    Effects of indicators are not curved: those of `numbers` count.
    """
    prepared = coordinates.prepared(theta)
    curved = np.zeros_like(prepared)
    curved[list(numbers)] = prepared[list(numbers)]
    center = mean_row if coordinates.matrix is None else coordinates.matrix.T @ mean_row
    slopes = coordinates.working(curved)
    slopes -= center * float(center @ slopes) / max(float(center @ center), 1e-300)
    width = math.sqrt(coordinates.dimension)
    growth = float(np.linalg.norm(slopes)) / width if loss.code is Code.WEIGHTED_POISSON else 0.0
    left_out = norms.left_out(row_bound, coordinates.dimension, growth)
    part = ONE_STEP.other_effects if loss.code is Code.SQUARED else ONE_STEP.other_log_effects
    return part * left_out * float(np.linalg.norm(curvature @ slopes)) / width
