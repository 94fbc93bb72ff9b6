"""What a pilot goes by, and how it follows the number of records where that had to be counted.

Rows are cut farther out and steps are more, and faster, the more evidence e = n μ / d there is. A
plan knows the declared records, not what their weights come to. With weights far below the largest
declared, a pilot that was planned for all records would run after noise: on what was counted the
rows are cut nearer, momentum is less, and each step is shorter, so that all of them together go as
far as the few that the evidence calls for. How many are asked stays as planned.
"""

from __future__ import annotations

import math
from dataclasses import replace

from tacit.contract.plan import Descent, Plan

STEPS_AT_REST, STEPS_TO_PACE, FASTEST = 6, 20.0, 0.5
"""The pilot's momentum is that of its steps beyond the first, over the second, up to the third."""
FEWEST, MOST = 8, 30


def clip_factor_of(evidence: float) -> float:
    """Norm over √d beyond which whitened rows are downweighted."""
    return math.sqrt(min(max(1.5 * (evidence / 100) ** 0.25, 1.5), 4.0))


def pilot_steps_of(evidence: float) -> int:
    """Steps of a pilot, if nothing limits them."""
    return min(max(math.ceil(10 * math.log10(max(evidence, 1.0)) - 10), FEWEST), MOST)


def momentum_of(steps: int) -> float:
    """Momentum of a pilot that takes so many steps."""
    return min(max((steps - STEPS_AT_REST) / STEPS_TO_PACE, 0.0), FASTEST)


def counted_less(plan: Plan) -> bool:
    """Whether the records were counted, and came to less than was planned for."""
    return plan.private and plan.total is not None and plan.count < plan.records


def followed_clip(plan: Plan, planned: float) -> float:
    """Clip factor for the records that were counted; never above the planned one."""
    return min(planned, clip_factor_of(plan.evidence)) if counted_less(plan) else planned


def follow_count(plan: Plan, stage: Descent) -> Descent:
    """Return the pilot for the records that were counted, with as many steps as planned."""
    if not counted_less(plan):
        return stage
    steps = min(stage.iterations, pilot_steps_of(plan.evidence))
    return replace(
        stage,
        step_size=stage.step_size * steps / stage.iterations,
        momentum=min(stage.momentum, momentum_of(steps)),
    )
