"""The route of last resort: where slopes would be noise, the response's level alone is released.

Below n·μ of 25 even counts would be noise: one mean over the whole range, pulled to its middle by
what the noise alone would explain.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from tacit.contract.plan import Penalty, Placing, Plan
from tacit.contract.query import Kind
from tacit.losses.loss import Code
from tacit.planning.pricing import assembled, priced
from tacit.planning.staged import MEDIANS, RADII, SHIFT_ROUNDS
from tacit.planning.wishes import Facts

SMALLEST_QUALITY = 4.0
"""n·μ/d below which slopes are noise."""
SMALLEST_EVIDENCE = 80.0
"""n·μ below which they are, however few."""
LEAST_FOR_LABELS = 1.0
"""n·μ/d below which the slopes of a fit of labels are noise: their share alone is as good."""
COUNTS_PAY = 25.0
COUNTS_SHARE = Fraction(3, 5)


def is_hopeless(facts: Facts, allowed: Fraction) -> bool:
    """Whether slopes would be noise: from public numbers, before anything is spent."""
    evidence = facts.records * math.sqrt(allowed)
    hopeless = evidence < max(SMALLEST_EVIDENCE, SMALLEST_QUALITY * facts.design.width)
    return hopeless and facts.design.intercept


def is_hopeless_for_labels(facts: Facts, allowed: Fraction) -> bool:
    """The same for two labels, without penalty: a penalty says how to keep slopes short."""
    evidence = facts.records * math.sqrt(allowed)
    hopeless = evidence < LEAST_FOR_LABELS * facts.design.width and facts.design.intercept
    return hopeless and facts.loss.code is Code.LOGISTIC and facts.penalty == Penalty()


def plan_level(facts: Facts, allowed: Fraction) -> Plan:
    """Price the level of a continuous response, of counts, or of two labels."""
    if facts.loss.code is Code.LOGISTIC:
        steps = (priced(facts, Kind.COUNTS, allowed, 1, "share of labels"),)
        return assembled(facts, "level", steps)
    if facts.records * math.sqrt(allowed) < COUNTS_PAY:
        steps = (priced(facts, Kind.COUNTS, allowed, 1, "mean of the response"),)
        return assembled(facts, "level", steps)
    rounds = SHIFT_ROUNDS if facts.loss.code is Code.PINBALL else 1
    counts = priced(
        facts,
        Kind.COUNTS,
        allowed * COUNTS_SHARE,
        MEDIANS + RADII,
        "median and scale of the response",
    )
    level = priced(
        facts, Kind.COUNTS, allowed * (1 - COUNTS_SHARE), rounds, "level of the response"
    )
    plan = assembled(facts, "level", (counts, level))
    return replace(plan, placing=Placing(MEDIANS, RADII))
