"""Objective perturbation: the exact minimiser of a randomly tilted objective, in one answer.

    Σ w loss'(z·θ, y) z + λ θ + b = 0

Three forms of the noise b: Gaussian, priced by its privacy loss (the default); Gaussian as Kifer, Smith and Thakurta
calibrated it in 2012, for comparison; of density ∝ exp(-‖b‖ / scale) where delta is 0 (Chaudhuri, Monteleoni and
Sarwate). It is asked for in prepared coordinates and reported as it is.
With rows divided by the clip and losses by their largest slope, the squared error of a gradient is d s² + λ²‖θ‖². The
ridge minimises that for ‖θ‖ = 5 (1 for a numeric response): a stronger one costs less noise, by c = log(1 + h / λ), and
more bias. The noise is then the least for which all events of the plan together are within ε at δ. A user's l2 is the
ridge, on every coordinate and in the user's units, unless it is too weak for ε: it is then raised until c = ε / 2.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.accounting import gaussian
from tacit.accounting.composition import compose, mu_squared_of
from tacit.accounting.objective_perturbation import jacobian_term, vertices
from tacit.contract.perturbable_loss import missing_for_perturbation
from tacit.contract.plan import Penalty, Plan, Solution, Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import Gate, PerturbedMinimum, QueryKind
from tacit.contract.sensitivity import (
    MinimumPrice,
    PerturbedPrice,
    Price,
    PurePrice,
    events_of,
    is_resolved,
    minimum_price,
    objective_event,
    price_for,
    pure_rate,
)
from tacit.design.response import Continuous
from tacit.errors import BudgetError, SettingError
from tacit.losses.loss import Code
from tacit.privacy.event import Event, Gaussian, PerturbedObjective
from tacit.privacy.relation import Relation
from tacit.solvers import requirements as needs
from tacit.solvers.interval_rules import PERTURBATION
from tacit.solvers.output_perturbation import OutputPerturbation, bounded, user_ridge, user_units
from tacit.solvers.requirements import Requirement, require
from tacit.solvers.rules import between
from tacit.solvers.solver import CoefficientSolver, PublicFacts, SolverOptions, assembled

BITS, RATIO_BITS = 50, 60
"""Binary digits of the noise's lattice and of the ratio of curvature and ridge."""
ACCURACY = 1e-4
"""Relative accuracy of the largest gradient bound."""
LARGEST_COVER = 2**51
"""Scale of Laplace noise that the sampler draws."""
NAME = "objective-perturbation"
CLASSICAL = "objective-perturbation-kst"


def _requirements(name: str) -> tuple[Requirement, ...]:
    return (
        needs.NO_INTERVALS,
        Requirement(
            lambda facts, _: facts.budget.epsilon is not None,
            "A perturbed objective has no mu and no rho: give a budget of epsilon and delta.",
            BudgetError,
        ),
        Requirement(
            lambda facts, _: (facts.budget.epsilon or 0.0) <= PERTURBATION.largest or facts.budget.is_infinite,
            f"A perturbed objective is priced up to epsilon = {PERTURBATION.largest:g}. Use a smaller "
            "epsilon, or epsilon=inf to ask for no privacy.",
            BudgetError,
        ),
        Requirement(
            needs.public_n,
            f'solver="{name}" needs a public n: how exactly the minimum can be computed depends on it. '
            "Use replace-one or zero-out.",
        ),
        Requirement(
            lambda facts, _: facts.design.attached.offset is None and facts.design.attached.unit is None,
            f'solver="{name}" is for plain records, without offset or units.',
        ),
        Requirement(
            lambda facts, _: facts.penalty == Penalty(facts.penalty.l2),
            f'solver="{name}" takes l2, which it may raise, but no prior_mean, radius and constraint: leave them out.',
        ),
        # The ridge stays in the result, and private bounds are wide: they would shrink it.
        Requirement(needs.declared_bounds, f'solver="{name}" needs declared bounds.'),
        *needs.takes_no(name, "iterations", "step_size", "output", "max_passes"),
    )


REQUIRES = _requirements(NAME)


@dataclass(frozen=True)
class ObjectivePerturbation(CoefficientSolver):
    """One minimum; `start` is None, and stays for the digests of requests."""

    start: None = None
    name: str = NAME
    maps_rows: ClassVar[bool] = False

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for the minimum."""
        query = PerturbedMinimum(plan.design.row_norm, None, plan.loss, plan.design.outputs)
        return Solution(_centred(gate.ask(query).value))


@dataclass(frozen=True)
class RidgePerturbation(ObjectivePerturbation):
    """One minimum in the user's units, where a user's l2 is the same on every coordinate."""

    maps_rows: ClassVar[bool] = True

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for the minimum in the user's units."""
        matrix, clip = user_units(plan.design)
        answer = gate.ask(PerturbedMinimum(clip, matrix, plan.loss, plan.design.outputs))
        return Solution(np.asarray(matrix @ _centred(answer.value)))


def _centred(theta: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take away what all classes have in common: it is noise alone, and changes no probability."""
    return theta if theta.ndim == 1 else theta - theta.mean(axis=1, keepdims=True)


def plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price a perturbed minimum.

    Guarantee
    ---------
    - All events of the plan, with `allowed` short of the budget spent elsewhere, are within the
      budget's ε at its δ.
    """
    facts = _ready(facts, options)
    elsewhere, cover = _shared(facts, allowed)
    epsilon, delta = facts.budget.epsilon or 0.0, facts.budget.delta or 0.0
    spent = compose([*elsewhere, Gaussian(cover.bound**2, 4**cover.bits)]).mu_squared
    fixed = _user_ratio(facts, epsilon / 2)
    ratio, guess = _balanced(facts, epsilon, delta, float(spent)) if fixed is None else fixed
    if guess is None:
        guess = gaussian.mu(epsilon - _jacobian(facts, ratio), delta / _vertices(facts))
    first = round(guess / facts.sensitivity * 2**BITS)
    price = minimum_price(facts.loss, facts.design.outputs, first, BITS, ratio, cover)
    bound = largest_bound(price, elsewhere, facts.relation, epsilon, delta)
    return _planned(facts, replace(price, bound=bound), NAME)


def classical_plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price a perturbed minimum with the noise and the ridge of Kifer, Smith and Thakurta (2012).

    s² = L²(8 log(2/δ) + 4ε)/ε² and λ ≥ 2β/ε, L the sensitivity of the gradient. The plan states what its events cost,
    which is less than ε at δ.

    Guarantee
    ---------
    - All events of the plan, with `allowed` short of the budget spent elsewhere, are within the
      budget's ε at its δ.
    """
    facts = _ready(facts, options, CLASSICAL)
    if facts.design.outputs > 1:
        raise SettingError(f'solver="{CLASSICAL}" is for one linear predictor: use solver="{NAME}" for classes.')
    elsewhere, cover = _shared(facts, allowed)
    epsilon, delta = facts.budget.epsilon or 0.0, facts.budget.delta or 0.0
    largest = Fraction(epsilon) / 2
    fixed = _user_ratio(facts, math.log1p(epsilon / 2))
    ratio = Fraction(math.ceil(largest * 2**RATIO_BITS), 2**RATIO_BITS) if fixed is None else min(fixed[0], largest)
    share = epsilon / math.sqrt(8 * math.log(2 / delta) + 4 * epsilon) / facts.sensitivity
    price = minimum_price(facts.loss, 1, math.floor(share * 2**BITS), BITS, ratio, cover)
    if _epsilon_of(price, elsewhere, facts.relation, delta) > epsilon:
        raise _too_small()
    return _planned(facts, price, CLASSICAL)


def pure_plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price a perturbed minimum where delta is 0: ε = c + sensitivity / scale + the share of the cover.

    Guarantee
    ---------
    - The events of the plan cost at most `allowed`, an ε, in exact rationals.
    """
    facts = _ready(facts, options)
    cover = Fraction(math.floor(allowed * PERTURBATION.cover * 2**RATIO_BITS), 2**RATIO_BITS)
    left = allowed - cover
    fixed = _user_ratio(facts, float(left) / 2)
    ratios = [_ratio_at(facts, share * float(left)) for share in _shares()] if fixed is None else [fixed[0]]
    found: list[tuple[float, PurePrice]] = []
    for ratio in ratios:
        rest = left - Fraction(_jacobian(facts, ratio))
        if rest > 0:
            bound = math.floor(rest * 2**BITS / Fraction(facts.sensitivity))
            variance = (facts.coordinates + 1) * (2**BITS / max(bound, 1)) ** 2
            found.append((_error(facts, variance, ratio), PurePrice(bound, BITS, ratio, cover, facts.design.outputs)))
    if not found or math.sqrt(facts.coordinates) * 2**21 / float(cover or Fraction(1, 2**60)) > LARGEST_COVER:
        raise _too_small()
    _, price = min(found, key=lambda pair: pair[0])
    if pure_rate(price, facts.relation) + cover > allowed:
        # A theorem; checked because everything rests on it.
        raise AssertionError("A plan would cost more than its budget.")
    return _planned(facts, price, NAME)


def exact_plan(facts: PublicFacts, options: SolverOptions) -> Plan:
    """Plan without noise (ε = ∞): the minimiser of the user's l2."""
    facts = _ready(facts, options, options.solver)
    return assembled(facts, OutputPerturbation(user_ridge(facts), by_user=True, name=options.solver), ())


def _ready(facts: PublicFacts, options: SolverOptions, name: str = NAME) -> PublicFacts:
    """Refuse what has no proof, and put the loss that is minimised in the place of least squares."""
    loss = bounded(facts.loss)
    require((needs.NO_INTERVALS,), facts, options)
    if (missing := missing_for_perturbation(loss)) is not None:
        raise SettingError(f'solver="{name}" is not for the {facts.loss.name} loss: {missing}.')
    require(_requirements(name), facts, options)
    return replace(facts, loss=loss)


def _shared(facts: PublicFacts, allowed: Fraction) -> tuple[tuple[Event, ...], Price]:
    """What is spent elsewhere, and the price of the noise on the computed minimum."""
    elsewhere = mu_squared_of(facts.budget) - allowed
    share = allowed * PERTURBATION.cover
    cover = price_for(QueryKind.DIRECTION, share, facts.relation, records=1, width=facts.coordinates)
    return ((Gaussian(elsewhere, 1),) if elsewhere > 0 else ()), cover


def _planned(facts: PublicFacts, price: PerturbedPrice, name: str) -> Plan:
    if not is_resolved(QueryKind.GRADIENT, price.bound, facts.coordinates):
        raise _too_small()
    minimum = Step(QueryKind.MINIMUM, price, 1, Purpose.PERTURBED_MINIMUM)
    if not facts.penalty.l2:
        return assembled(facts, ObjectivePerturbation(name=name), (minimum,))
    # The plan states the ridge that is used.
    raised = float(max(_given_ratio(facts) / price.ratio, Fraction(1)))
    used = replace(facts, penalty=Penalty(facts.penalty.l2 * raised))
    return assembled(used, RidgePerturbation(name=name), (minimum,))


@functools.lru_cache(maxsize=64)
def largest_bound(
    price: MinimumPrice, others: tuple[Event, ...], relation: Relation, epsilon: float, delta: float
) -> int:
    """The largest gradient bound, to a part in 10^4, that is within ε at δ with other events; the price has a guess.

    Guarantee
    ---------
    - The price of the answer, by the accountant that will price it, is at most ε.
    """

    def cost(bound: int) -> float:
        return _epsilon_of(replace(price, bound=bound), others, relation, delta)

    guess = price.bound
    low, high = max(1, guess // 2), guess + guess // 2 + 2
    below, above = cost(low), cost(high)
    if below > epsilon:
        raise _too_small()
    while high - low > low * ACCURACY and high - low > 1 and above > epsilon:
        share = (epsilon - below) / (above - below)
        middle = low + max(1, min(int((high - low) * between(share, 0.05, 0.95)), high - low - 1))
        found = cost(middle)
        if found <= epsilon:
            low, below = middle, found
        else:
            high, above = middle, found
    return low


def _epsilon_of(price: MinimumPrice, others: tuple[Event, ...], relation: Relation, delta: float) -> float:
    return compose([*others, *events_of(QueryKind.MINIMUM, price, relation)], relation).epsilon(delta)


def _shares() -> list[float]:
    """Parts of ε that are tried for the Jacobian."""
    least, growth, candidates = PERTURBATION.ratios
    return [least * growth**k for k in range(candidates)]


def _balanced(facts: PublicFacts, epsilon: float, delta: float, spent: float) -> tuple[Fraction, float]:
    """The ratio of curvature and ridge with the least error, and about the μ it leaves."""
    found: list[tuple[float, Fraction, float]] = []
    for share in _shares():
        ratio = _ratio_at(facts, share * epsilon)
        square = gaussian.mu((1 - share) * epsilon, delta / _vertices(facts)) ** 2 - spent
        if square > 0.0:
            noise = facts.sensitivity / math.sqrt(square)
            found.append((_error(facts, noise**2, ratio), ratio, math.sqrt(square)))
    if not found:
        raise _too_small()
    _, ratio, mu = min(found)
    return ratio, mu


def _error(facts: PublicFacts, variance: float, ratio: Fraction) -> float:
    """Squared error of a gradient, of noise and of the ridge."""
    ridge = facts.loss.smoothness / facts.loss.lipschitz / float(ratio)
    numeric = isinstance(facts.design.response, Continuous)
    return facts.coordinates * variance + (ridge * (PERTURBATION.response_norm if numeric else PERTURBATION.norm)) ** 2


def _user_ratio(facts: PublicFacts, largest: float) -> tuple[Fraction, None] | None:
    """The ratio of curvature and the user's ridge, or None; one whose c is above `largest` is lowered to it."""
    if not facts.penalty.l2:
        return None
    ratio = _given_ratio(facts)
    rounded = max(Fraction(math.floor(ratio * 2**RATIO_BITS), 2**RATIO_BITS), Fraction(1, 2**RATIO_BITS))
    return (rounded if _jacobian(facts, rounded) <= largest else _ratio_at(facts, largest)), None


def _given_ratio(facts: PublicFacts) -> Fraction:
    """The ratio of a record's curvature and the ridge of the user's l2."""
    _, clip = user_units(facts.design)
    return Fraction(clip) ** 2 * Fraction(facts.loss.smoothness) / Fraction(user_ridge(facts))


def _ratio_at(facts: PublicFacts, c: float) -> Fraction:
    """The ratio of curvature and ridge whose Jacobian costs c."""
    classes = facts.design.outputs
    scale, rank = (classes / 2, classes - 1) if facts.loss.code is Code.SOFTMAX else (1.0, 1)
    return Fraction(math.ceil(scale * math.expm1(c / rank) * 2**RATIO_BITS), 2**RATIO_BITS)


def _event(facts: PublicFacts, ratio: Fraction) -> PerturbedObjective:
    return objective_event(minimum_price(facts.loss, facts.design.outputs, 1, 0, ratio, Price(1, 0)))


def _jacobian(facts: PublicFacts, ratio: Fraction) -> float:
    return jacobian_term(_event(facts, ratio))


def _vertices(facts: PublicFacts) -> int:
    return vertices(_event(facts, Fraction(1)), facts.relation)


def _too_small() -> BudgetError:
    return BudgetError(
        "The budget is too small for this plan: nothing is left for the perturbed minimum. "
        "Use a larger epsilon or delta."
    )
