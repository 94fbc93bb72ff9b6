"""How many records there are, or what their weights come to, where that is private.

Shares of the records, means and steps are in units of it. It is asked for once, before anything
else; with a public number of records that all count alike nothing is asked.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacit.contract.gate import Gate
from tacit.contract.plan import Plan
from tacit.contract.query import ColumnCounts

SMALLEST_SHARE = 1e-6
"""Floor of the sum of the weights, as a share of the largest it could be."""


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
    elif plan.design.beside.weighting is None:
        total = max(total, float(plan.records))
    return replace(plan, total=total)


def inverse_mean_weight(plan: Plan) -> float:
    """Number of records over the sum of the user's weights, by which a penalty is multiplied.

    A penalty stands beside the user's mean over records, Σ w loss / n, while solvers divide by the
    sum of the weights. Where n is private too, that sum stands for n.
    """
    weighting = plan.design.beside.weighting
    if weighting is None or not plan.relation.n_is_public:
        return 1.0
    return plan.records / (weighting.largest * plan.count)
