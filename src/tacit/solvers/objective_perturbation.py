"""Objective perturbation: the exact minimiser of a randomly tilted objective, in one answer.

    Σ w loss'(z·θ, y) z + λ θ + b = 0,   b Gaussian of scale s

It is asked for in prepared coordinates and reported as it is.
With rows divided by the clip, the squared error of a gradient is d s² + λ²‖θ‖². The ridge minimises
that for ‖θ‖ = 5: a stronger one costs less noise, by c = log(1 + h / λ), and more bias. The noise
is then the least for which all events of the plan together are within ε at δ.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from tacit.accounting import gaussian
from tacit.accounting.composition import compose, mu_squared_of
from tacit.contract.plan import Plan, Purpose, Solution, Step
from tacit.contract.query import Gate, PerturbedMinimum, QueryKind
from tacit.contract.sensitivity import MinimumPrice, Price, events_of, is_resolved, price_for
from tacit.errors import BudgetError
from tacit.losses.loss import Code
from tacit.privacy.event import Event, Gaussian
from tacit.privacy.relation import Relation
from tacit.solvers import requirements as needs
from tacit.solvers.interval_rules import PERTURBATION
from tacit.solvers.requirements import Requirement, require
from tacit.solvers.rules import between
from tacit.solvers.solver import CoefficientSolver, PublicFacts, SolverOptions, assembled

BITS, RATIO_BITS = 50, 60
"""Binary digits of the noise's lattice and of the ratio of curvature and ridge."""
ACCURACY = 1e-4
"""Relative accuracy of the largest gradient bound."""
NAME = "objective-perturbation"


REQUIRES = (
    needs.NO_INTERVALS,
    Requirement(needs.loss_is(Code.LOGISTIC), f'solver="{NAME}" is for the logistic regression of two classes.'),
    Requirement(
        lambda facts, _: facts.budget.epsilon is not None,
        "A perturbed objective has no mu and no rho: give a budget of epsilon and delta.",
        BudgetError,
    ),
    Requirement(
        lambda facts, _: (facts.budget.epsilon or 0.0) <= PERTURBATION.largest,
        f"A perturbed objective is priced up to epsilon = {PERTURBATION.largest:g}. Use a smaller "
        "epsilon, or epsilon=inf to ask for no privacy.",
        BudgetError,
    ),
    Requirement(
        needs.public_n,
        f'solver="{NAME}" needs a public n: how exactly the minimum can be computed depends on it. '
        "Use replace-one or zero-out.",
    ),
    Requirement(
        lambda facts, _: facts.design.attached.offset is None and facts.design.attached.unit is None,
        f'solver="{NAME}" is for plain records, without offset or units.',
    ),
    Requirement(
        needs.no_penalty, f'solver="{NAME}" has a ridge of its own: leave l2, prior_mean, radius and constraint out.'
    ),
    # The ridge stays in the result, and private bounds are wide: they would shrink it.
    Requirement(needs.declared_bounds, f'solver="{NAME}" needs declared bounds.'),
    *needs.takes_no(NAME, "iterations", "step_size", "output", "max_passes"),
)


@dataclass(frozen=True)
class ObjectivePerturbation(CoefficientSolver):
    """One minimum; `start` is None, and stays for the digests of requests."""

    start: None = None
    name: str = NAME
    maps_rows: ClassVar[bool] = False

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for the minimum."""
        return Solution(gate.ask(PerturbedMinimum(plan.design.row_norm, loss=plan.loss)).value)


def plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price a perturbed minimum.

    Guarantee
    ---------
    - All events of the plan, with `allowed` short of the budget spent elsewhere, are within the
      budget's ε at its δ.
    """
    require(REQUIRES, facts, options)
    elsewhere = mu_squared_of(facts.budget) - allowed
    cover = price_for(
        QueryKind.DIRECTION, allowed * PERTURBATION.cover, facts.relation, records=1, width=facts.design.width
    )
    others = (Gaussian(elsewhere, 1),) if elsewhere > 0 else ()
    price = _calibrated(facts, cover, others)
    minimum = Step(QueryKind.MINIMUM, price, 1, Purpose.PERTURBED_MINIMUM)
    return assembled(facts, ObjectivePerturbation(), (minimum,))


def _calibrated(facts: PublicFacts, cover: Price, others: tuple[Event, ...]) -> MinimumPrice:
    """The price of the best ridge and the least noise that the rest of the budget buys."""
    epsilon, delta = facts.budget.epsilon or 0.0, facts.budget.delta or 0.0
    spent = compose([*others, Gaussian(cover.bound**2, 4**cover.bits)]).mu_squared
    ratio, guess = _balanced(facts, epsilon, delta, float(spent))
    first = round(guess / facts.sensitivity * 2**BITS)
    bound = largest_bound(first, ratio, cover, others, facts.relation, epsilon, delta)
    if not is_resolved(QueryKind.GRADIENT, bound, facts.design.width):
        raise _too_small()
    return MinimumPrice(bound, BITS, ratio, cover)


@functools.lru_cache(maxsize=64)
def largest_bound(
    guess: int,
    ratio: Fraction,
    cover: Price,
    others: tuple[Event, ...],
    relation: Relation,
    epsilon: float,
    delta: float,
) -> int:
    """The largest gradient bound, to a part in 10^4, that is within ε at δ with other events.

    Guarantee
    ---------
    - The price of the answer, by the accountant that will price it, is at most ε.
    """

    def price(bound: int) -> float:
        events = events_of(QueryKind.MINIMUM, MinimumPrice(bound, BITS, ratio, cover), relation)
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


def _balanced(facts: PublicFacts, epsilon: float, delta: float, spent: float) -> tuple[Fraction, float]:
    """The ratio of curvature and ridge with the least error, and about the μ it leaves."""
    found: list[tuple[float, Fraction, float]] = []
    least, growth, candidates = PERTURBATION.ratios
    for share in (least * growth**k for k in range(candidates)):
        ratio = Fraction(math.ceil(math.expm1(share * epsilon) * 2**RATIO_BITS), 2**RATIO_BITS)
        square = gaussian.mu((1 - share) * epsilon, delta) ** 2 - spent
        if square > 0.0:
            noise = facts.sensitivity / math.sqrt(square)
            ridge = facts.loss.smoothness / float(ratio)
            error = facts.design.width * noise**2 + (ridge * PERTURBATION.norm) ** 2
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
