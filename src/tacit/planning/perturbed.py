"""The route by a perturbed objective: how strong the ridge, how much noise, what else is asked.

With rows divided by the clip, s the scale of the linear noise and λ the ridge, the squared error of
a gradient is d s² + λ²‖φ‖². The ridge minimises that for ‖φ‖ = 5: a stronger one costs less noise,
by c = log(1 + h / λ), and more bias. The noise is then the least for which all events of the plan
together are within ε at δ, priced as they will be.
"""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from fractions import Fraction

from tacit.accounting import gaussian
from tacit.accounting.composition import compose, mu_squared_of
from tacit.contract.plan import OneStep, Penalty, Plan, Step, Whitening
from tacit.contract.query import Kind
from tacit.contract.sensitivity import MinimumPrice, Price, events_of, is_resolved, price_for
from tacit.errors import BudgetError, SettingError
from tacit.losses.loss import Code
from tacit.planning.inferential import (
    RIDGE,
    ROW_FACTOR,
    Shares,
    evidence_of,
    first_steps,
)
from tacit.planning.pricing import assembled, between, priced
from tacit.planning.wishes import PERTURBED, Facts, Wishes
from tacit.privacy.event import Event, Gaussian, Repeated
from tacit.privacy.relation import Relation
from tacit.solvers.pilot import clip_factor_of

SHARES = Shares(scales=5, level=2, residuals=0, look=10, pilot=0, sandwich=30, step=0)
"""Parts of μ², in hundredths, that are not the minimum's."""
DRIFT = Fraction(1, 200)
"""Share of the noise that hides how the minimiser was computed."""
ASSUMED_NORM = 5.0
BITS = 50
RATIO_BITS = 60
SHARES_OF_EPSILON = tuple(0.005 * 1.09**k for k in range(61))
"""Candidates for the part of ε that the curvature costs, up to 0.88."""
ACCURACY = 1e-4
LARGEST_EPSILON = 500.0
"""Loss distributions are computed up to about 690, and floats hold e^0.88ε up to about 800."""


def plan_perturbed(facts: Facts, wishes: Wishes, allowed: Fraction) -> Plan:
    """Price a perturbed minimum, with intervals or without.

    Guarantee
    ---------
    - All events of the plan, with `allowed` short of the budget spent elsewhere, are within the
      budget's ε at its δ.
    """
    _require_possible(facts, wishes)
    elsewhere = mu_squared_of(facts.budget) - allowed
    drift = price_for(
        Kind.DIRECTION, allowed * DRIFT, facts.relation, records=1, width=facts.design.width
    )
    before, standardising, after = list[Step](), None, list[Step]()
    if wishes.inference:
        before, standardising = first_steps(facts, allowed, SHARES)
        part = allowed * Fraction(SHARES.sandwich, 100)
        after = [priced(facts, Kind.SANDWICH, part, 1, "curvature and score")]
    others: list[Event] = [Gaussian(elsewhere, 1)] if elsewhere > 0 else []
    for step in (*before, *after):
        if step.price is not None:
            events = events_of(step.kind, step.price, facts.relation, step.size)
            others.extend(Repeated(event, step.times) for event in events)
    price = _calibrated(facts, drift, tuple(others))
    minimum = Step(Kind.MINIMUM, price, 1, "perturbed minimum")
    plan = assembled(facts, PERTURBED, (*before, minimum, *after))
    if not wishes.inference:
        return plan
    return replace(
        plan,
        inference=OneStep(clip_factor_of(evidence_of(facts, allowed))),
        whitening=Whitening(1, RIDGE, ROW_FACTOR),
        standardising=standardising,
    )


def _require_possible(facts: Facts, wishes: Wishes) -> None:
    """Refuse, from public facts, what has no proof or no meaning."""
    if facts.loss.code is not Code.LOGISTIC:
        raise SettingError(
            'solver="objective-perturbation" is for the logistic regression of two classes.'
        )
    if facts.budget.epsilon is None:
        raise BudgetError(
            "A perturbed objective has no mu and no rho: give a budget of epsilon and delta."
        )
    if facts.budget.epsilon > LARGEST_EPSILON:
        raise BudgetError(
            f"A perturbed objective is priced up to epsilon = {LARGEST_EPSILON:g}. Use a smaller "
            "epsilon, or epsilon=inf to ask for no privacy."
        )
    if not facts.relation.n_is_public:
        raise SettingError(
            'solver="objective-perturbation" needs a public n: how exactly the minimum can be '
            "computed depends on it. Use replace-one or zero-out."
        )
    beside = facts.design.beside
    if beside.offset is not None or beside.unit is not None:
        raise SettingError(
            'solver="objective-perturbation" is for plain records, without offset or units.'
        )
    if facts.penalty != Penalty():
        raise SettingError(
            'solver="objective-perturbation" has a ridge of its own: leave l2, prior_mean, radius '
            "and constraint out."
        )
    if facts.design.open_places and not wishes.inference:
        # The ridge stays in the result, and found bounds are wide: they would shrink it.
        raise SettingError(
            'solver="objective-perturbation" needs declared bounds unless inference=True.'
        )
    for name in ("iterations", "step_size", "output", "max_passes"):
        if getattr(wishes, name) is not None:
            raise SettingError(f'solver="objective-perturbation" takes no {name}: leave it out.')


def _calibrated(facts: Facts, drift: Price, others: tuple[Event, ...]) -> MinimumPrice:
    """The price of the best ridge and the least noise that the rest of the budget buys."""
    epsilon, delta = facts.budget.epsilon or 0.0, facts.budget.delta or 0.0
    spent = compose([*others, Gaussian(drift.bound**2, 4**drift.bits)]).mu_squared
    ratio, guess = _balanced(facts, epsilon, delta, float(spent))
    bound = largest_bound(
        round(guess / facts.sensitivity * 2**BITS),
        ratio,
        drift,
        others,
        facts.relation,
        epsilon,
        delta,
    )
    if not is_resolved(Kind.GRADIENT, bound, facts.design.width):
        raise _too_small()
    return MinimumPrice(bound, BITS, ratio, drift)


@functools.lru_cache(maxsize=64)
def largest_bound(
    guess: int,
    ratio: Fraction,
    drift: Price,
    others: tuple[Event, ...],
    relation: Relation,
    epsilon: float,
    delta: float,
) -> int:
    """The largest gradient bound, to a part in 10^4, that is within ε at δ beside other events.

    Guarantee
    ---------
    - The price of the answer, by the accountant that will price it, is at most ε.
    """

    def price(bound: int) -> float:
        events = events_of(Kind.MINIMUM, MinimumPrice(bound, BITS, ratio, drift), relation)
        return compose([*others, *events], relation).epsilon(delta)

    low, high = max(1, guess // 2), guess + guess // 2 + 2
    below, above = price(low), price(high)
    if below > epsilon:
        raise _too_small()
    while high - low > low * ACCURACY and high - low > 1 and above > epsilon:
        share = (epsilon - below) / (above - below)
        middle = low + max(1, min(int((high - low) * between(share, 0.05, 0.95)), high - low - 1))
        found = price(middle)
        if found <= epsilon:
            low, below = middle, found
        else:
            high, above = middle, found
    return low


def _balanced(facts: Facts, epsilon: float, delta: float, spent: float) -> tuple[Fraction, float]:
    """The ratio of curvature and ridge with the least error, and about the μ it leaves."""
    found: list[tuple[float, Fraction, float]] = []
    for share in SHARES_OF_EPSILON:
        ratio = Fraction(math.ceil(math.expm1(share * epsilon) * 2**RATIO_BITS), 2**RATIO_BITS)
        square = gaussian.mu((1 - share) * epsilon, delta) ** 2 - spent
        if square > 0.0:
            noise = facts.sensitivity / math.sqrt(square)
            ridge = facts.loss.smoothness / float(ratio)
            error = facts.design.width * noise**2 + (ridge * ASSUMED_NORM) ** 2
            found.append((error, ratio, math.sqrt(square)))
    if not found:
        raise _too_small()
    _, ratio, mu = min(found)
    return ratio, mu


def _too_small() -> BudgetError:
    return BudgetError(
        "The budget is too small for this plan: nothing is left for the perturbed minimum. "
        "Use a larger epsilon or delta."
    )
