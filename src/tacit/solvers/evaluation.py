"""Evaluations: how wrong a released model is on private records, by one noised sum.

For two labels it is the number of wrong ones (the 0–1 loss), a count that one record changes by at most one. For
numbers it is the sum of squared errors, each at most the square of the public range. The model is public by then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tacit.accounting.composition import mu_squared_of
from tacit.contract.plan import Plan, Purpose, Solution, Step
from tacit.contract.query import Gate, Measure, QueryKind, ResidualSize
from tacit.design.design import Column, Design
from tacit.design.response import Absent, Binary, Continuous
from tacit.errors import SettingError
from tacit.solvers.counting import with_counting
from tacit.solvers.solver import PublicFacts, assembled, priced

WRONG, SQUARED = "zero_one_loss", "mean_squared_error"
RESOLVED = 60
"""Coefficients are scaled so that the largest is near 2^60: no margin but 0 is then taken for 0."""
ROUNDED = 2.0**-53


@dataclass(frozen=True)
class Evaluation:
    """The mean loss of prepared coefficients; `low` and `high` are the ends of a number, None for two labels."""

    theta: tuple[float, ...]
    ends: tuple[float, float] | None = None
    scale: float = 1.0
    name: str = "evaluation"
    intervals: ClassVar[bool] = False
    maps_rows: ClassVar[bool] = False

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for the one sum; the answer is the mean loss, kept within its range, and its noise."""
        theta = np.array(self.theta)
        if self.ends is None:
            largest = float(np.abs(theta).max(initial=0.0))
            exponent = RESOLVED - math.frexp(largest)[1] if largest > 0.0 else 0
            # 1/2 above a margin of 0: labels less predictions are 0 or in [1/2, 1) where they are right.
            right = ResidualSize(
                np.ldexp(theta, exponent), 1.0 - ROUNDED, None, 0.0, 0.5, Measure.WITHIN, start=-(ROUNDED**2)
            )
            answer, most = gate.ask(right), 1.0
            share = 1.0 - float(answer.value[0]) / plan.count
        else:
            low, high = self.ends
            answer = gate.ask(ResidualSize(theta, high - low, None, low, high, Measure.SQUARE))
            most = (self.scale * (high - low)) ** 2
            share = float(answer.value[0]) / plan.count
        noise = answer.noise_scale / plan.count * most
        return Solution(np.array([min(max(share, 0.0), 1.0) * most]), decrements=(noise,))


def plan_evaluation(facts: PublicFacts, theta: tuple[float, ...]) -> Plan:
    """Price one evaluation of prepared coefficients; its release is the loss alone, in a design of its own.

    Guarantee: the sum costs at most the budget, the count of the records included where n is private.
    """
    response = facts.design.response
    if isinstance(response, Binary):
        solver, name, purpose = Evaluation(theta), WRONG, Purpose.WRONG_LABELS
    elif isinstance(response, Continuous) and not response.is_open:
        ends = tuple((end - response.center) / response.scale for end in (response.lower, response.upper))
        solver = Evaluation(theta, (ends[0], ends[1]), response.scale)
        name, purpose = SQUARED, Purpose.SQUARED_RESIDUALS
    else:
        raise SettingError(
            "Evaluations on private rows are for two classes and for numbers with declared bounds. Others are free on "
            "public rows: evaluate(tacit.public(X, y))."
        )

    def rest(allowed: Fraction) -> Plan:
        return assembled(facts, solver, (priced(facts, QueryKind.COUNTS, allowed, 1, purpose),))

    if facts.budget.is_infinite:
        plan = assembled(facts, solver, (Step(QueryKind.COUNTS, None, 1, purpose),))
        plan = replace(plan, counting=bool(facts.counts))
    else:
        plan = with_counting(facts, mu_squared_of(facts.budget), rest)
    return replace(plan, design=Design((Column(name, (), 0.0, math.inf, 0.0, 1.0),), Absent(), 1.0, intercept=False))
