"""The route of sufficient statistics: least squares from noised moments, and when it is chosen.

In whitened coordinates the normal equations are S θ = c, S the second moments of the last look and
c = Σ z (y - start): one gradient, at the start. So this is the staged route with a single step, and
the errors of both can be told beforehand, as shares of the response's variance. With a clip κ, its
unit s the mean size of what is clipped, and prices μ_g for gradients and μ_S for a look,

    noise:   d·(Δ κ s √d / (n μ_g))²
    matrix:  R²·(2 b² d^1.5 / (n μ_S))²        (the look's noise edge, b√d the bound on its rows)

The single step clips responses (s = 0.8 deviations) and pays the second term, since S is never
corrected. Two stages clip residuals (s = 0.8·√(1 - R²)) and correct S, but leave (1 - pace)^T of
the way. R² = ½ is assumed.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tacit.accounting.composition import compose
from tacit.contract.plan import Plan
from tacit.contract.query import Kind
from tacit.contract.sensitivity import event_of
from tacit.errors import SettingError
from tacit.losses.loss import Code
from tacit.planning.staged import Approach, Pace, plan_staged, priced_stages
from tacit.planning.wishes import MOMENTS, Facts, Wishes, require_passes

EXPLAINED = 0.5
"""Assumed share of the response's variance that the model explains."""
MEAN_SIZE = 0.8
"""Mean size of a normal variable over its deviation."""
LOOKS, LOOK_SHARE = 3, Fraction(3, 20)


def plan_moments(facts: Facts, wishes: Wishes, allowed: Fraction) -> Plan:
    """Price least squares from noised moments."""
    if facts.loss.code is not Code.SQUARED:
        raise SettingError('solver="moments" is for LinearRegression and Ridge.')
    if wishes.inference:
        raise SettingError('There are no intervals for solver="moments".')
    if wishes.iterations not in {None, 1} or wishes.step_size is not None:
        raise SettingError('solver="moments" takes no steps: leave iterations and step_size out.')
    require_passes(wishes, 2 + facts.counts)
    once = Pace((Fraction(1),), (1,), 1.0, 1.0, 0.0)
    return priced_stages(facts, wishes, allowed, Approach(MOMENTS, once, LOOKS, LOOK_SHARE))


def prefers_moments(facts: Facts, wishes: Wishes, allowed: Fraction) -> bool:
    """Whether sufficient statistics have the smaller predicted error, or passes allow no more."""
    if wishes.solver != "auto" or facts.loss.code is not Code.SQUARED:
        return False
    if wishes.iterations is not None or wishes.step_size is not None:
        return False
    once, staged = plan_moments(facts, wishes, allowed), plan_staged(facts, wishes, allowed)
    if wishes.max_passes is not None and staged.queries > wishes.max_passes >= once.queries:
        return True
    return predicted_error(facts, once) < predicted_error(facts, staged)


def predicted_error(facts: Facts, plan: Plan) -> float:
    """Expected excess error of a plan for a continuous response, as a share of its variance."""
    width, stage, whitening = facts.design.width, plan.stages[-1], plan.whitening
    if whitening is None:
        raise SettingError("Errors are predicted for plans that whiten.")
    corrected = len(plan.stages) > 1
    size = MEAN_SIZE * math.sqrt(1 - EXPLAINED if corrected else 1.0)
    clip = (stage.clip_factor or 1.0) * size * math.sqrt(width)
    gradients = _last_price(plan, Kind.GRADIENT)
    averaged = max(1.0, stage.averaged * stage.iterations) if corrected else 1.0
    noise = width * (facts.sensitivity * clip / (facts.records * gradients)) ** 2 / averaged
    look = _last_price(plan, Kind.SECOND_MOMENTS)
    edge = 2 * whitening.row_factor**2 * width * math.sqrt(width) / (facts.records * look)
    left = min(1.0, edge) if not corrected else (1 - min(stage.step_size, 0.9)) ** stage.iterations
    return noise + EXPLAINED * left**2


def _last_price(plan: Plan, kind: Kind) -> float:
    """μ of one answer of the last step of a kind."""
    step = [step for step in plan.steps if step.kind is kind][-1]
    if step.price is None:
        raise SettingError("Errors are predicted for private plans.")
    event = event_of(step.kind, step.price, plan.relation, step.size)
    return math.sqrt(compose([event]).mu_squared)
