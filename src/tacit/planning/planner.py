"""The planner: budget and public facts in, a priced plan out. One file a route."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from tacit.accounting.composition import compose, mu_squared_of
from tacit.contract.plan import OneStep, Penalty, Plan
from tacit.design.response import Absent, Continuous, Count
from tacit.errors import SettingError
from tacit.losses.loss import Code
from tacit.planning.counting import with_counting, with_exact_counting
from tacit.planning.double_noise import plan_double_noise
from tacit.planning.finished import finishes, plan_finished
from tacit.planning.inferential import plan_inference
from tacit.planning.level import is_hopeless, is_hopeless_for_labels, plan_level
from tacit.planning.locating import with_exact_locating, with_locating
from tacit.planning.mean import plan_mean
from tacit.planning.moments import plan_moments, prefers_moments
from tacit.planning.perturbed import plan_perturbed
from tacit.planning.plain import plan_plain
from tacit.planning.pricing import assembled
from tacit.planning.rounds import plan_rounds
from tacit.planning.scales import require_moderate
from tacit.planning.staged import plan_staged
from tacit.planning.whitened import plan_whitened
from tacit.planning.wishes import (
    DESCENTS,
    DOUBLE_NOISE,
    MOMENTS,
    NEWTON_FORMS,
    PERTURBED,
    Facts,
    Wishes,
)

__all__ = ["Facts", "Wishes", "make_plan"]


def make_plan(facts: Facts, wishes: Wishes) -> Plan:
    """Choose route, steps and prices.

    Guarantee
    ---------
    - The plan's events cost at most the budget, in exact rationals.
    - Nothing but the arguments, which are public, enters the plan.
    """
    if wishes.inference and facts.penalty != Penalty():
        raise SettingError("Intervals are for fits without l2, prior_mean, radius and constraint.")
    if wishes.inference and facts.loss.code is Code.SOFTMAX:
        raise SettingError(f"There are no intervals for the {facts.loss.name} loss.")
    if facts.budget.is_infinite:
        plan = with_exact_counting(facts, with_exact_locating(assembled(facts, "newton", ())))
        return replace(plan, inference=OneStep(math.inf)) if wishes.inference else plan
    require_moderate(facts)
    allowed = mu_squared_of(facts.budget)
    plan = with_locating(facts, allowed, lambda rest: _route(facts, wishes, rest))
    if wishes.max_passes is not None and plan.queries > wishes.max_passes:
        raise SettingError(f"max_passes must be at least {plan.queries} for this plan.")
    if not _is_within(plan, allowed):
        # A theorem; checked because everything rests on it.
        raise AssertionError("A plan would cost more than its budget.")
    return plan


def _is_within(plan: Plan, allowed: Fraction) -> bool:
    """Whether the events cost at most the budget; a perturbed objective has no μ, but an ε."""
    total = compose(plan.events(), plan.relation)
    if total.square is not None:
        return total.square <= allowed
    return plan.guarantee().epsilon <= (plan.budget.epsilon or 0.0)


def _route(facts: Facts, wishes: Wishes, allowed: Fraction) -> Plan:
    """Plan what comes after the bounds are known."""
    plainly = wishes.solver == "gradient" or (wishes.solver == "auto" and wishes.max_passes == 1)
    if isinstance(facts.design.response, Absent):
        return plan_mean(facts, wishes, allowed)
    if wishes.solver == DOUBLE_NOISE:
        return plan_double_noise(facts, wishes, allowed)
    if plainly and not wishes.inference:
        return plan_plain(facts, wishes, allowed)
    return with_counting(facts, allowed, lambda rest: _counted_route(facts, wishes, rest))


def _counted_route(facts: Facts, wishes: Wishes, allowed: Fraction) -> Plan:
    """Plan what comes after the records are counted, where they need be."""
    if wishes.solver in NEWTON_FORMS or (wishes.inference and wishes.solver in DESCENTS):
        return plan_rounds(facts, wishes, allowed)
    if wishes.solver == PERTURBED:
        return plan_perturbed(facts, wishes, allowed)
    if wishes.solver == MOMENTS:
        return plan_moments(facts, wishes, allowed)
    if wishes.inference:
        return plan_inference(facts, wishes, allowed)
    if isinstance(facts.design.response, Continuous | Count):
        return _numeric_route(facts, wishes, allowed)
    return _label_route(facts, wishes, allowed)


def _label_route(facts: Facts, wishes: Wishes, allowed: Fraction) -> Plan:
    """Plan a fit of labels without intervals: their share, a descent, or one that Newton ends."""
    if is_hopeless_for_labels(facts, allowed) and wishes == Wishes():
        return plan_level(facts, allowed)
    if finishes(facts, wishes, allowed):
        return plan_finished(facts, allowed)
    return plan_whitened(facts, wishes, allowed)


def _numeric_route(facts: Facts, wishes: Wishes, allowed: Fraction) -> Plan:
    """Plan a fit of numbers or counts without intervals, by what is predicted of each route."""
    if is_hopeless(facts, allowed) and wishes.solver == "auto":
        return plan_level(facts, allowed)
    if prefers_moments(facts, wishes, allowed):
        return plan_moments(facts, wishes, allowed)
    return plan_staged(facts, wishes, allowed)
