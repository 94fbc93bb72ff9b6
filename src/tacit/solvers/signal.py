"""The signal n·μ/d of a fit, by which almost every rule goes, and what a small one means."""

from __future__ import annotations

import math
from fractions import Fraction

from tacit.contract.plan import Plan, signal
from tacit.solvers.rules import WARNINGS
from tacit.solvers.solver import PublicFacts


def signal_of(facts: PublicFacts, allowed: Fraction) -> float:
    """Return n·μ/d at a budget of μ² = `allowed`; with n as it is declared."""
    return signal(facts.records, math.sqrt(allowed), facts.design.width)


def interval_signal(facts: PublicFacts, allowed: Fraction) -> float:
    """Return n·μ/d with the coefficients of all classes but one as d: what intervals go by."""
    return signal(facts.records, math.sqrt(allowed), facts.design.identified)


def n_mu_of(facts: PublicFacts, allowed: Fraction) -> float:
    """Return n·μ, the signal of a single number."""
    return signal(facts.records, math.sqrt(allowed), 1)


def plan_warnings(plan: Plan) -> tuple[str, ...]:
    """Return what a user should know before spending, from public facts alone."""
    mu = plan.strength
    if mu is None:
        return ()
    texts = []
    strength = plan.records * mu / math.sqrt(plan.design.width)
    if strength < WARNINGS.smallest:
        texts.append(
            f"The budget is small for this table: n·μ/√d is {strength:.2g}, and below "
            f"{WARNINGS.smallest:g} a fit is mostly noise. Use a larger epsilon, more records or "
            "fewer columns."
        )
    if plan.intervals_declined or (plan.solver.intervals and plan.signal < WARNINGS.intervals):
        texts.append(
            f"Intervals will not be offered: n·μ/d is {plan.signal:.2g}, and below "
            f"{WARNINGS.intervals:g} they would mean nothing. All is spent on the coefficients. "
            "Use a larger epsilon, more records or fewer columns."
        )
    if plan.locating is not None and plan.locating.noise > WARNINGS.count_noise:
        texts.append(
            "The budget is too small to find bounds reliably: a count of records has noise of "
            f"{plan.locating.noise:.0%} of them. Declare bounds, or use a larger epsilon, more "
            "records or fewer columns."
        )
    return tuple(texts)
