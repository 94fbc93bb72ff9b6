"""Output perturbation: the minimiser of a ridge-penalised objective, with noise on it, in one answer.

    θ̂ = argmin Σ w loss(z·θ, y) + (λ/2)‖θ‖²,     released θ̂ + noise

The ridge is on every coordinate, the intercept included: without it one record could move the minimiser any distance.
With rows divided by their norm bound, a slope of at most L, a curvature of at most β and ‖θ*‖ ≤ R, the expected excess
of the sum is at most λR²/2 + nβv/2. Here v is the variance of a noised coordinate, (ΔL/(λμ))² for the Gaussian and
(d + 1)(ΔL/(λε))² where delta is 0; Δ is 2 for replace-one and 1 for zero-out. Unless the user gives l2, λ minimises
that bound: λ³ = 2nβ λ²v / R².
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.contract.perturbable_loss import missing_for_perturbation
from tacit.contract.plan import Forecast, Penalty, Plan, Solution, Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import Gate, NoisyMinimum, QueryKind
from tacit.contract.sensitivity import GammaPrice, Price, is_resolved, price_for
from tacit.design.design import Design
from tacit.design.response import Continuous
from tacit.errors import BudgetError, SettingError
from tacit.losses import regression
from tacit.losses.constants import largest_at_zero
from tacit.losses.loss import Code, Loss
from tacit.solvers import requirements as needs
from tacit.solvers.interval_rules import OUTPUT_PERTURBATION
from tacit.solvers.requirements import Requirement, require
from tacit.solvers.solver import PublicFacts, SolverOptions, assembled

NAME = "output-perturbation"
RESPONSE_WIDTH = 2.0
"""Between the ends of a prepared response. A prediction within them has no larger residual."""
REQUIRES = (
    needs.NO_INTERVALS,
    Requirement(
        lambda _, options: options.l2 is None or options.l2 > 0.0,
        f'solver="{NAME}" needs a strongly convex objective, and with l2=0 it is not: one record could move the '
        "minimum any distance. Give l2 above 0, or leave it out: it is then chosen from public numbers.",
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
        lambda facts, _: facts.penalty == Penalty(facts.penalty.l2),
        f'solver="{NAME}" takes l2, but no prior_mean, radius and constraint: leave them out.',
    ),
    # The ridge stays in the result, and private bounds are wide: they would shrink it.
    Requirement(needs.declared_bounds, f'solver="{NAME}" needs declared bounds.'),
    *needs.takes_no(NAME, "iterations", "step_size", "output", "max_passes"),
)


@dataclass(frozen=True)
class OutputPerturbation:
    """One noised minimum, with the ridge λ of a sum over the records.

    `by_user` is whether the ridge is the user's l2. It is then isotropic in the user's units, to which rows are mapped.
    """

    ridge: float
    by_user: bool = False
    name: str = NAME
    intervals: ClassVar[bool] = False

    @property
    def maps_rows(self) -> bool:
        """Whether rows are mapped to the user's units."""
        return self.by_user

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for the minimum."""
        matrix, clip = user_units(plan.design) if self.by_user else (None, plan.design.row_norm)
        query = NoisyMinimum(clip, self.ridge, matrix, bounded(plan.loss), plan.design.outputs)
        theta = gate.ask(query).value
        return Solution(theta if matrix is None else np.asarray(matrix @ theta))


def bounded(loss: Loss) -> Loss:
    """The loss that is minimised: least squares grows linearly beyond the width of the response's bounds."""
    return regression.huber(RESPONSE_WIDTH) if loss.code is Code.SQUARED else loss


def user_units(design: Design) -> tuple[NDArray[np.float64], float]:
    """The map from prepared rows to columns in the user's units, centred and over the largest scale; a norm bound.

    The intercept at the centre of the bounds has the same ridge as a slope.
    """
    largest = _largest_scale(design)
    factors = np.array([column.scale for column in design.columns]) / largest
    ends = [max(abs(it.lower - it.center), abs(it.upper - it.center)) / largest for it in design.columns]
    norm = min(float(factors.max()) * design.feature_norm, math.hypot(*ends))
    if not design.intercept:
        return np.diag(factors), norm
    return np.diag(np.append(factors, 1 / largest)), math.hypot(norm, 1 / largest)


def _largest_scale(design: Design) -> float:
    return max(*(column.scale for column in design.columns), 1.0 if design.intercept else 0.0)


def plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price a minimum with Gaussian noise.

    Guarantee
    ---------
    - The event of the plan costs at most `allowed`, a μ², in exact rationals.
    """
    _require(facts, options)
    # The integers of a minimum are no sum over the records.
    price = price_for(QueryKind.NOISY_MINIMUM, allowed, facts.relation, records=1, width=facts.coordinates)
    return _planned(facts, price, 1.0 / float(allowed))


def pure_plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price a minimum with noise of Gamma norm, where delta is 0.

    Guarantee
    ---------
    - The event of the plan costs at most `allowed`, an ε, in exact rationals.
    """
    _require(facts, options)
    bits = OUTPUT_PERTURBATION.bits
    bound = math.floor(allowed * 2**bits / Fraction(facts.sensitivity))
    if not is_resolved(QueryKind.NOISY_MINIMUM, bound, facts.coordinates):
        raise BudgetError(
            "The budget is too small for this plan: one answer would be noise alone. Use a larger epsilon."
        )
    return _planned(facts, GammaPrice(bound, bits), (facts.coordinates + 1) / float(allowed) ** 2)


def exact_plan(facts: PublicFacts, options: SolverOptions) -> Plan:
    """Plan without noise (ε = ∞): the minimiser of the user's l2."""
    _require(facts, options)
    return assembled(facts, OutputPerturbation(user_ridge(facts), by_user=True), ())


def too_noisy(plan: Plan) -> bool:
    """Whether the user's l2 is so small for the budget that zeros are expected to fit as well as the noised minimum."""
    if not isinstance(plan.solver, OutputPerturbation) or not plan.solver.by_user or plan.forecast is None:
        return False
    return plan.forecast.excess_loss > largest_at_zero(bounded(plan.loss), plan.design.outputs)


def _require(facts: PublicFacts, options: SolverOptions) -> None:
    require(REQUIRES, facts, options)
    missing = missing_for_perturbation(bounded(facts.loss))
    if missing is not None:
        raise SettingError(f'solver="{NAME}" is not for the {facts.loss.name} loss: {missing}.')


def _planned(facts: PublicFacts, price: Price | GammaPrice, noise: float) -> Plan:
    """Plan one minimum; `noise` is the variance of a coordinate where one record moves the minimum by 1 / Δ."""
    step = Step(QueryKind.NOISY_MINIMUM, price, 1, Purpose.NOISY_MINIMUM)
    loss, n, design = bounded(facts.loss), facts.records, facts.design
    spread = n * loss.smoothness * (facts.sensitivity * loss.lipschitz) ** 2 * noise
    if facts.penalty.l2:
        ridge = user_ridge(facts)
        least = ridge / user_units(design)[1] ** 2
        if not loss.smoothness <= OUTPUT_PERTURBATION.flattest * least:
            raise SettingError(
                "l2 is too small for this solver: the objective would hardly be strongly convex. Use a larger one, or "
                "leave it out."
            )
        excess = (spread + facts.coordinates * least * spread / (n * loss.smoothness)) / (2 * least**2)
        forecast = Forecast(excess / n, "the loss is that with l2")
        return assembled(facts, OutputPerturbation(ridge, by_user=True), (step,), forecast)
    labels = not isinstance(design.response, Continuous)
    radius = OUTPUT_PERTURBATION.norm if labels else OUTPUT_PERTURBATION.response_norm
    ridge = math.cbrt(2 * spread / radius**2)
    excess = ridge * radius**2 / 2 + spread / (2 * ridge**2)
    forecast = Forecast(excess / n, f"the best coefficients have norm at most {radius:g} for rows of norm 1")
    return assembled(facts, OutputPerturbation(ridge * design.row_norm**2), (step,), forecast)


def user_ridge(facts: PublicFacts) -> float:
    """The ridge λ on every coordinate of `user_units`, from the user's l2 and mean loss."""
    response, weighting = facts.design.response, facts.design.attached.weighting
    scale = response.scale if isinstance(response, Continuous) else 1.0
    # The user's mean of w·loss is scale^degree·(largest weight) / n times the prepared sum.
    units = facts.records / (scale**facts.loss.degree * (1.0 if weighting is None else weighting.largest))
    return facts.penalty.l2 * units * (scale / _largest_scale(facts.design)) ** 2
