"""The noisy count of the records, or the sum of their weights, where that is private.

Shares of the records, means and steps are in units of it. A count has noise of 1 / √(a μ²) records
at a share a of μ². The share makes that 3% of the declared records, within 1% and 25% of the
budget: what depends on the total moves with it in proportion, and needs no more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from tacit.contract.plan import Plan
from tacit.contract.purpose import Purpose
from tacit.contract.query import ColumnCounts, Gate, QueryKind
from tacit.solvers.rules import COUNTING, between
from tacit.solvers.solver import PublicFacts, priced

SMALLEST_SHARE = 1e-6
"""Floor of the sum of the weights, as a share of the largest it could be."""


def with_counting(facts: PublicFacts, allowed: Fraction, rest: Callable[[Fraction], Plan]) -> Plan:
    """Put a count of the records before the plan of the rest, where one is needed.

    Guarantee
    ---------
    - The count costs at most its share of `allowed`, and the plan after it is given the rest.
    - With a public number of records and no weights nothing is counted.
    """
    if not facts.counts:
        return rest(allowed)
    wanted = 1 / (COUNTING.noise * facts.records * math.sqrt(allowed)) ** 2
    share = Fraction(between(wanted, *COUNTING.share))
    weighted = facts.design.attached.weighting is not None
    purpose = Purpose.WEIGHT_SUM if weighted else Purpose.RECORD_COUNT
    step = priced(facts, QueryKind.COUNTS, allowed * share, facts.counts, purpose)
    plan = rest(allowed * (1 - share))
    return replace(plan, steps=(step, *plan.steps), counting=True)


def count_records(gate: Gate, plan: Plan) -> Plan:
    """Ask for the sum of the prepared weights; return the plan that goes by it.

    Weights are at most 1, so a public number of records bounds it from above. Without weights
    the declared least number of records bounds it from below.
    """
    everywhere = np.array([np.inf])
    answer = gate.ask(ColumnCounts((plan.design.width,), -everywhere, everywhere))
    # Below its own noise nothing is known of it.
    total = max(float(answer.value[0]), answer.noise_scale, SMALLEST_SHARE * plan.records)
    if plan.relation.n_is_public:
        total = min(total, float(plan.records))
    elif plan.design.attached.weighting is None:
        total = max(total, float(plan.records))
    return replace(plan, total=total)
