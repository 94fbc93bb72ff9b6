"""The share of two labels, by one count: where the intercept of a fit starts."""

from __future__ import annotations

import math

import numpy as np

from tacit.contract.plan import Plan
from tacit.contract.query import ColumnCounts, Gate
from tacit.solvers.coordinates import Vector
from tacit.solvers.rules import LABELS, between


def label_start(gate: Gate, plan: Plan) -> Vector:
    """Coefficients of the prepared row whose intercept is the labels' log-odds.

    The noised share is pulled to one half, by what its noise alone would explain.
    """
    answer = gate.ask(ColumnCounts((plan.design.width,), np.array([0.5]), np.array([1.5])))
    noise = answer.noise_scale / plan.count
    gap = float(answer.value[0]) / plan.count - 0.5
    share = 0.5 + gap * LABELS.prior_variance / (LABELS.prior_variance + noise**2)
    share = between(share, LABELS.farthest_share, 1 - LABELS.farthest_share)
    start = np.zeros(plan.design.width)
    start[-1] = math.log(share / (1 - share))
    return start
