"""The planner: budget and public facts in, a priced plan out. One file a route."""

from __future__ import annotations

import math
from dataclasses import replace

from tacit.accounting.composition import compose, mu_squared_of
from tacit.errors import SettingError
from tacit.planning.inferential import plan_inference
from tacit.planning.mean import plan_mean
from tacit.planning.plain import plan_plain
from tacit.planning.pricing import assembled
from tacit.planning.whitened import plan_whitened
from tacit.planning.wishes import Facts, Wishes
from tacit.problem.plan import OneStep, Penalty, Plan
from tacit.problem.response import Absent

__all__ = ["Facts", "Wishes", "make_plan"]


def make_plan(facts: Facts, wishes: Wishes) -> Plan:
    """Choose route, steps and prices.

    Guarantee
    ---------
    - The plan's events cost at most the budget, in exact rationals.
    - Nothing but the arguments, which are public, enters the plan.
    """
    if wishes.inference and facts.penalty != Penalty():
        raise SettingError("Intervals are for fits without l2, prior_mean and radius.")
    if facts.budget.is_infinite:
        plan = assembled(facts, "newton", ())
        return replace(plan, inference=OneStep(math.inf)) if wishes.inference else plan
    allowed = mu_squared_of(facts.budget)
    if isinstance(facts.design.response, Absent):
        plan = plan_mean(facts, wishes, allowed)
    elif wishes.inference:
        plan = plan_inference(facts, wishes, allowed)
    elif wishes.solver == "gradient" or (wishes.solver == "auto" and wishes.max_passes == 1):
        plan = plan_plain(facts, wishes, allowed)
    else:
        plan = plan_whitened(facts, wishes, allowed)
    if compose(plan.events()).mu_squared > allowed:
        # A theorem; checked because everything rests on it.
        raise AssertionError("A plan would cost more than its budget.")
    return plan
