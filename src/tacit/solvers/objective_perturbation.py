"""Objective perturbation: the exact minimiser of a randomly tilted objective, in one answer.

    Σ w loss'(z·θ, y) z + λ θ + b = 0,   b Gaussian of scale s

Without intervals it is asked for in prepared coordinates and reported as it is. With intervals the
columns are standardised and whitened first, as for the one-step solver; M and Q at θ are asked for
as well, and one step takes the ridge off again:

    θ_d = θ + λ (n M + λ I)⁻¹ θ,    Cov = M⁻¹ (Q / n + s² I / n²) M⁻¹

With rows divided by the clip, the squared error of a gradient is d s² + λ²‖θ‖². The ridge minimises
that for ‖θ‖ = 5: a stronger one costs less noise, by c = log(1 + h / λ), and more bias. The noise
is then the least for which all events of the plan together are within ε at δ.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from tacit.accounting import gaussian
from tacit.accounting.composition import compose, mu_squared_of
from tacit.contract.plan import Plan, Purpose, Solution, Step
from tacit.contract.query import Gate, PerturbedMinimum, QueryKind
from tacit.contract.release import Sandwich
from tacit.contract.sensitivity import Accuracy, MinimumPrice, Price, events_of, is_resolved, price_for, ridge_of
from tacit.errors import BudgetError, SettingError
from tacit.losses.loss import Code
from tacit.privacy.event import Event, Gaussian, Repeated
from tacit.privacy.relation import Relation
from tacit.solvers.coordinates import Vector
from tacit.solvers.interval_rules import PERTURBATION
from tacit.solvers.rules import between
from tacit.solvers.sandwich import ask_sandwich
from tacit.solvers.signal import signal_of
from tacit.solvers.solver import (
    PublicFacts,
    Requirement,
    SolverOptions,
    assembled,
    leaves_out,
    loss_is,
    no_penalty,
    priced,
    public_n,
    require,
)
from tacit.solvers.standardised_start import Known, StandardisedStart, begin, clip_factor_of, first_steps

BITS, RATIO_BITS = 50, 60
"""Binary digits of the noise's lattice and of the ratio of curvature and ridge."""
ACCURACY = 1e-4
"""Relative accuracy of the largest gradient bound."""
NAME = "objective-perturbation"


def _has_epsilon(facts: PublicFacts, _: SolverOptions) -> bool:
    return facts.budget.epsilon is not None


def _has_moderate_epsilon(facts: PublicFacts, _: SolverOptions) -> bool:
    return (facts.budget.epsilon or 0.0) <= PERTURBATION.largest


def _has_plain_records(facts: PublicFacts, _: SolverOptions) -> bool:
    attached = facts.design.attached
    return attached.offset is None and attached.unit is None


def _has_bounds_or_intervals(facts: PublicFacts, options: SolverOptions) -> bool:
    # The ridge stays in the result, and private bounds are wide: they would shrink it.
    return not facts.design.open_places or options.inference


REQUIRES = (
    Requirement(loss_is(Code.LOGISTIC), f'solver="{NAME}" is for the logistic regression of two classes.'),
    Requirement(
        _has_epsilon, "A perturbed objective has no mu and no rho: give a budget of epsilon and delta.", BudgetError
    ),
    Requirement(
        _has_moderate_epsilon,
        f"A perturbed objective is priced up to epsilon = {PERTURBATION.largest:g}. Use a smaller "
        "epsilon, or epsilon=inf to ask for no privacy.",
        BudgetError,
    ),
    Requirement(
        public_n,
        f'solver="{NAME}" needs a public n: how exactly the minimum can be computed depends on it. '
        "Use replace-one or zero-out.",
    ),
    Requirement(_has_plain_records, f'solver="{NAME}" is for plain records, without offset or units.'),
    Requirement(
        no_penalty, f'solver="{NAME}" has a ridge of its own: leave l2, prior_mean, radius and constraint out.'
    ),
    Requirement(_has_bounds_or_intervals, f'solver="{NAME}" needs declared bounds unless inference=True.'),
    *(
        Requirement(leaves_out(name), f'solver="{NAME}" takes no {name}: leave it out.')
        for name in ("iterations", "step_size", "output", "max_passes")
    ),
)


@dataclass(frozen=True)
class ObjectivePerturbation:
    """One minimum; with intervals it follows a standardised start."""

    start: StandardisedStart | None = None
    name: str = NAME

    @property
    def intervals(self) -> bool:
        """Whether the curvature and the score are asked for."""
        return self.start is not None

    @property
    def maps_rows(self) -> bool:
        """Rows are whitened where intervals are paid for."""
        return self.start is not None

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for the minimum, and with intervals for what surrounds it."""
        if self.start is None:
            return Solution(gate.ask(PerturbedMinimum(plan.design.row_norm, loss=plan.loss)).value)
        known = begin(gate, plan, self.start, self.start.clip_factor)
        theta, sandwich = _debiased(gate, plan, known)
        return Solution(known.coordinates.prepared(theta), sandwich)


def _debiased(gate: Gate, plan: Plan, known: Known) -> tuple[Vector, Sandwich]:
    coordinates, clip = known.coordinates, known.clip
    count, loss = plan.records, plan.loss
    price = plan.step(Purpose.PERTURBED_MINIMUM).price
    if not isinstance(price, MinimumPrice):
        raise SettingError("A perturbed minimum has a price of its own kind.")
    minimum = gate.ask(PerturbedMinimum(clip, coordinates.matrix, loss))
    theta = minimum.value
    asked = ask_sandwich(gate, plan, coordinates, theta, clip, loss)
    ridge = ridge_of(price, clip, loss)
    damped = count * asked.curvature + ridge * np.eye(len(theta))
    debiased = theta + ridge * np.linalg.solve(damped, theta)
    # Noise on θ itself is no more than noise on the gradient times the largest curvature.
    cover = _cover(plan, price, clip) * float(np.linalg.norm(asked.curvature, 2))
    step_noise = math.hypot(minimum.noise_scale / count, cover)
    share = known.level.share
    return debiased, replace(asked, step_noise=step_noise, level=share, rare=known.rare)


def _cover(plan: Plan, price: MinimumPrice, clip: float) -> float:
    """Standard deviation of the noise that hides how the minimiser was computed."""
    width = plan.design.width
    accuracy = Accuracy.of(price, records=plan.records, width=width, smoothness=plan.loss.smoothness)
    return 2.0**price.drift.bits * accuracy.step(price, width) / clip


def plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price a perturbed minimum, with intervals or without.

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
    before, start, after = list[Step](), None, list[Step]()
    if options.inference:
        shares, clip = PERTURBATION.shares, clip_factor_of(signal_of(facts, allowed))
        before, start = first_steps(facts, allowed, shares, clip)
        spent = allowed * Fraction(shares.sandwich, 100)
        after = [priced(facts, QueryKind.SANDWICH, spent, 1, Purpose.CURVATURE_AND_SCORE)]
    others: list[Event] = [Gaussian(elsewhere, 1)] if elsewhere > 0 else []
    for step in (*before, *after):
        if step.price is not None:
            events = events_of(step.kind, step.price, facts.relation, step.size)
            others.extend(Repeated(event, step.times) for event in events)
    price = _calibrated(facts, cover, tuple(others))
    minimum = Step(QueryKind.MINIMUM, price, 1, Purpose.PERTURBED_MINIMUM)
    return assembled(facts, ObjectivePerturbation(start), (*before, minimum, *after))


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
