"""The plain route: noisy gradient descent of the lecture notes, smooth planner."""

from __future__ import annotations

import math
from fractions import Fraction

from tacit.contract.plan import Descent, Forecast, Plan
from tacit.contract.query import Kind
from tacit.errors import SettingError
from tacit.planning.bounds import Noise, best_time, excess_bound
from tacit.planning.pricing import assembled, priced
from tacit.planning.wishes import Facts, Wishes, passes_allowed, require_passes
from tacit.solvers.coordinates import slope_bound

UNIT_RADIUS = 10.0
"""Assumed ‖θ*‖ for rows of norm 1, where the plain planner needs one."""


def plan_plain(facts: Facts, wishes: Wishes, allowed: Fraction) -> Plan:
    """Noisy gradient descent of the lecture notes, smooth planner."""
    if facts.design.open_places:
        raise SettingError('solver="gradient" needs declared bounds; use solver="auto".')
    if not facts.relation.n_is_public:
        # The steps would be too long by the unknown factor n / n_at_least; whitening removes it.
        raise SettingError('solver="gradient" needs a public n; use solver="auto" with add-remove.')
    require_passes(wishes, 0)
    design, row_norm = facts.design, facts.design.row_norm
    radius = UNIT_RADIUS / row_norm
    if facts.penalty.radius is not None:
        largest = max((column.scale for column in design.columns), default=1.0)
        radius = math.hypot(facts.penalty.radius * largest, radius)
    slope = slope_bound(facts.loss, facts.records * design.unit_rows)
    sensitivity = facts.sensitivity * design.unit_norm * slope
    noise = Noise(sensitivity / (facts.records * math.sqrt(allowed)), design.width)
    smoothness = row_norm**2 * design.unit_rows * facts.loss.smoothness
    time = best_time(noise, radius)
    iterations = wishes.iterations or max(
        1, min(passes_allowed(facts, wishes) + facts.counts, math.ceil(smoothness * time))
    )
    step_size = wishes.step_size or min(time / iterations, 1 / smoothness)
    output = wishes.output or "average"
    bound = excess_bound(
        noise,
        radius=radius,
        time=step_size * iterations,
        step_size=step_size,
        smoothness=smoothness,
        output=output,
    )
    forecast = None
    if bound is not None and step_size <= 1 / smoothness:
        forecast = Forecast(
            bound, f"the best prepared coefficients have norm at most {radius:.3g} (expected value)"
        )
    steps = (priced(facts, Kind.GRADIENT, allowed, iterations, "gradient descent"),)
    descent = Descent(iterations, step_size, 0.0, None, output)
    return assembled(facts, "gradient", steps, stages=(descent,), forecast=forecast)
