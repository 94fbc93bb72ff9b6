"""The route of a mean: one sum, after looks at the second moments where they pay.

The sum's noise is sensitivity·clip / (n μ) in each coordinate. In prepared coordinates the clip is
the row norm, about √d for columns that fill their bounds. In whitened ones it is 2√d in units of
the columns' own spread, at 80% of the budget: better as soon as the spread is below two fifths of
a bound's half width, which holds for all but two-valued columns, if the looks can resolve it.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tacit.contract.plan import Descent, Plan, Whitening
from tacit.contract.query import Kind
from tacit.planning.counting import with_counting
from tacit.planning.pricing import assembled, between, priced
from tacit.planning.wishes import Facts, Wishes

LOOKS_SHARE = Fraction(1, 5)
LOOKS_PAY = 30.0
"""n·μ/d from which the looks resolve the spread."""
CLIP_FACTOR = 2.0


def plan_mean(facts: Facts, wishes: Wishes, allowed: Fraction) -> Plan:
    """Price a mean, and a covariance where the looks are taken."""
    width = facts.design.width
    evidence = facts.records * math.sqrt(allowed) / width
    if wishes.solver == "gradient" or evidence < LOOKS_PAY:
        alone = priced(facts, Kind.GRADIENT, allowed, 1, "sum of the rows")
        return assembled(facts, "mean", (alone,))
    return with_counting(facts, allowed, lambda rest: _whitened_mean(facts, evidence, rest))


def _whitened_mean(facts: Facts, evidence: float, allowed: Fraction) -> Plan:
    width = facts.design.width
    whitening = Whitening(
        rounds=2,
        ridge=between(0.08 * math.sqrt(width), 0.3, 1.5),
        row_factor=between(0.25 * evidence ** (1 / 3), 1.0, 2.0),
    )
    steps = (
        priced(facts, Kind.SECOND_MOMENTS, allowed * LOOKS_SHARE, 2, "second moments"),
        priced(facts, Kind.GRADIENT, allowed * (1 - LOOKS_SHARE), 1, "sum of the rows"),
    )
    stage = Descent(1, 1.0, 0.0, CLIP_FACTOR, "last")
    return assembled(facts, "whitened-mean", steps, stages=(stage,), whitening=whitening)
