"""Noisy steps over secret batches, for tables that may be read a few times only.

At equal privacy a batch has the noise of a full sum of as many steps, as long as the noise of a batch exceeds what one
record adds to it, and a sampling error besides. So batches save passes, and nothing else. Labels are fitted as by
`whitened_gradient`, numbers and counts in two stages as by `staged_gradient`, with fewer measurements. With a clip of
the user's own it is the algorithm of the lecture notes, in the coordinates of the public bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from tacit.contract.batches import Batches
from tacit.contract.plan import Plan, Solution
from tacit.contract.purpose import Purpose
from tacit.contract.query import BatchGradientSum, Gate, QueryKind
from tacit.design.response import Continuous, Count, Positive
from tacit.errors import BudgetError, SettingError
from tacit.losses.links import unit
from tacit.losses.loss import LOG_LINKED, TWO_LABELS, Code
from tacit.solvers.batch_schedule import moments_within, passes_left, price_steps, schedule, with_cap
from tacit.solvers.coordinates import Coordinates, Vector, gradient_bound, response_ends
from tacit.solvers.noisy_steps import Descent, descend
from tacit.solvers.requirements import NO_INTERVALS, Requirement, require
from tacit.solvers.residual_scale import Residuals, loss_in_units, measure, slope_size, step_unit
from tacit.solvers.response_location import ResponseLocation, ask_mean
from tacit.solvers.rules import DESCENT, LABELS, RESPONSE, STAGED, STOCHASTIC, between
from tacit.solvers.solver import PublicFacts, SolverOptions, assembled, best_time, priced
from tacit.solvers.staged_gradient import first_coefficients, pace_of, whitening_of_numbers
from tacit.solvers.step_correction import shortened
from tacit.solvers.whitened_gradient import Whitening, moment_queries, recipe_of, whiten

MEASURED = 3
"""Passes for the mean of a response and for two sizes of residuals."""

REQUIRES = (
    NO_INTERVALS,
    Requirement(
        lambda facts, _: facts.budget.epsilon is not None,
        'solver="stochastic" needs a budget of epsilon and delta: steps over batches have no mu and no rho.',
        BudgetError,
    ),
    Requirement(
        lambda facts, _: facts.loss.code is not Code.PINBALL,
        'solver="stochastic" fits no quantiles: their smoothing needs counts of residuals. Use solver="auto".',
    ),
    Requirement(
        lambda facts, options: options.clip is None or options.step_size is not None or facts.relation.n_is_public,
        "With a clip of your own and a private n, declare step_size too: the curvature is not known.",
    ),
    Requirement(
        lambda facts, _: facts.relation.n_is_public or facts.penalty.l2 == 0,
        'With l2 the mean over a private n would be penalised: use solver="auto", which counts the records.',
    ),
)


@dataclass(frozen=True)
class Stochastic:
    """Second moments, then steps over batches; without `whitening` the steps alone, clipped at `clip`.

    With a `first` stage the response is a number or a count: its mean, and the size of the residuals before each stage,
    are asked for. `margin_variance` is as in `WhitenedGradient`.
    """

    batches: Batches
    descent: Descent
    whitening: Whitening | None
    clip: float | None = None
    first: Descent | None = None
    margin_variance: float | None = None
    name: str = "stochastic"
    intervals: ClassVar[bool] = False

    @property
    def maps_rows(self) -> bool:
        """Whether rows are whitened."""
        return self.whitening is not None

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for the mean of the response, second moments and gradients."""
        if self.whitening is None:
            known, clip = Coordinates(None, float(plan.design.width)), self.clip or gradient_bound(plan)
            return Solution(descend(gate, plan, self.descent, known, None, clip, plan.loss, query=BatchGradientSum)[0])
        start = _start(gate, plan) if self.first is not None else None
        coordinates = whiten(gate, plan, self.whitening)
        if self.first is None or start is None:
            clip = (self.descent.clip_factor or 1.0) * math.sqrt(coordinates.dimension)
            descent = shortened(plan, self.descent, coordinates, clip, self.margin_variance)
            # Clips and steps are those of logits.
            logits = unit(plan.loss.code)
            descent, clip = replace(descent, step_size=descent.step_size / logits**2), clip * logits
            theta, _ = descend(gate, plan, descent, coordinates, None, clip, plan.loss, query=BatchGradientSum)
        else:
            theta = self._stages(gate, plan, coordinates, self.first, start)
        return Solution(coordinates.prepared(theta))

    def _stages(
        self, gate: Gate, plan: Plan, coordinates: Coordinates, first: Descent, location: ResponseLocation
    ) -> Vector:
        """Descend twice, each time with a clip in units of the residuals as they are."""
        theta = coordinates.working(first_coefficients(plan, location))
        known = Residuals(location.size, RESPONSE.normal * location.size, location.mean or 1.0)
        for number, stage in enumerate((first, self.descent)):
            known = measure(gate, plan, 1, coordinates, theta, known, 1)
            loss = loss_in_units(plan, known, first=number == 0)
            clip = (stage.clip_factor or 1.0) * math.sqrt(coordinates.dimension)
            clip *= slope_size(loss, known)
            descent = replace(stage, step_size=stage.step_size * step_unit(loss, known))
            theta, _ = descend(gate, plan, descent, coordinates, theta, clip, loss, query=BatchGradientSum)
        return theta


def _start(gate: Gate, plan: Plan) -> ResponseLocation:
    """Mean of the response, and what its size cannot pass: the rate's for counts, else the whole range."""
    low, high = response_ends(plan)
    mean = low + (high - low) * float(ask_mean(gate, plan, low, high).value[0]) / plan.count
    if isinstance(plan.design.response, Positive):
        mean = between(mean, (high - low) / RESPONSE.mean_floor, high)
        return ResponseLocation(mean, mean, mean)
    if plan.design.response.kind == Count.kind:
        mean = between(mean, (high - low) / RESPONSE.mean_floor, high)
        return ResponseLocation(mean, max(RESPONSE.least_size, STAGED.rate_size * math.sqrt(mean)), mean)
    return ResponseLocation(between(mean, low, high), high - low)


def plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price the steps by a search for the least noise within ε and δ, beside all that is not sampled."""
    require(REQUIRES, facts, options)
    if options.clip is not None:
        return _own_clip(facts, options, allowed, options.clip)
    numeric = isinstance(facts.design.response, Continuous | Count | Positive)
    return (_numbers if numeric else _labels)(facts, options, allowed)


def _own_clip(facts: PublicFacts, options: SolverOptions, allowed: Fraction, clip: float) -> Plan:
    """Descent in prepared coordinates, with the step of the bound R²/(2s) + s·(d σ² + C²/b)/T, s = ηT."""
    design, passes = facts.design, passes_left(options, 0)
    steps, batches = schedule(facts, options, passes, facts.passes_allowed(options))
    step = price_steps(facts, batches, steps, (), allowed)
    size = float(batches.rate) * facts.records
    spread = clip * math.hypot(step.noise / size, 1 / math.sqrt(size * facts.coordinates))
    smoothness = design.row_norm**2 * facts.loss.smoothness
    time = best_time(spread / math.sqrt(steps), facts.coordinates, DESCENT.radius / design.row_norm)
    length = options.step_size or min(time / steps, 1 / smoothness)
    descent = Descent(steps, length, 0.0, None, options.output or "tail")
    return assembled(facts, Stochastic(batches, descent, None, clip), (step.steps(steps),))


def _labels(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Descent in privately whitened coordinates, as `whitened_gradient` has it."""
    signal, capped = facts.signal(allowed), with_cap(options, STOCHASTIC.passes)
    queries, share, ridge = moment_queries(facts, signal)
    queries = moments_within(capped, queries, STOCHASTIC.moments_part)
    recipe = recipe_of(facts, signal)
    usual = math.ceil(recipe.iterations * STOCHASTIC.steps)
    steps, batches = schedule(facts, options, passes_left(capped, queries), usual)
    others = (priced(facts, QueryKind.SECOND_MOMENTS, allowed * share * queries, queries, Purpose.SECOND_MOMENTS),)
    step = price_steps(facts, batches, steps, others, allowed)
    limited = facts.loss.code in TWO_LABELS and not options.step_size
    solver = Stochastic(
        batches,
        _descent(facts, options, recipe, batches, steps),
        Whitening(queries, ridge, LABELS.row_factor.at(signal)),
        margin_variance=LABELS.margin_variance if limited else None,
    )
    return assembled(facts, solver, (*others, step.steps(steps)))


def _numbers(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Two stages in privately whitened coordinates, as `staged_gradient` has them, with a mean and two sizes alone."""
    signal, capped = facts.signal(allowed), with_cap(options, STOCHASTIC.passes + MEASURED)
    narrow = facts.design.width <= STAGED.narrow and not facts.is_large
    queries, share = STAGED.narrow_queries if narrow else STAGED.wide_queries
    queries = moments_within(capped, queries, STOCHASTIC.number_part, MEASURED)
    pace = pace_of(facts, replace(options, iterations=None), signal)
    by_size = facts.loss.code in {Code.SQUARED, *LOG_LINKED}
    clip = (STAGED.size_clip if by_size else STAGED.slope_clip).at(signal)
    recipe = Descent(sum(pace.steps), pace.length, pace.momentum, clip, "tail", pace.averaged)
    usual = math.ceil(recipe.iterations * STOCHASTIC.steps)
    steps, batches = schedule(facts, options, passes_left(capped, queries + MEASURED), usual)
    if steps < 2:
        raise SettingError("Numbers and counts are fitted in two stages: iterations must be at least 2.")
    mean = priced(facts, QueryKind.COUNTS, allowed * STOCHASTIC.mean_share, 1, Purpose.RESPONSE_MEAN)
    moments = priced(facts, QueryKind.SECOND_MOMENTS, allowed * share * queries, queries, Purpose.SECOND_MOMENTS)
    size = priced(facts, QueryKind.COUNTS, allowed * STOCHASTIC.size_share, 1, Purpose.RESIDUAL_SIZE)
    step = price_steps(facts, batches, steps, (mean, moments, size, size), allowed)
    first = max(1, round(steps * STOCHASTIC.first_steps))
    solver = Stochastic(
        batches,
        _descent(facts, options, recipe, batches, steps - first),
        replace(whitening_of_numbers(facts, allowed, queries, share), one_in=1),
        first=_descent(facts, options, recipe, batches, first),
    )
    return assembled(facts, solver, (mean, moments, size, step.steps(first), size, step.steps(steps - first)))


def _descent(facts: PublicFacts, options: SolverOptions, recipe: Descent, batches: Batches, steps: int) -> Descent:
    """The descent of all records with other steps: so many, and shorter ones where a batch has few records."""
    enough = float(batches.rate) * facts.records / (STOCHASTIC.records_a_coefficient * facts.design.width)
    length = options.step_size or recipe.step_size * min(1.0, enough)
    return replace(recipe, iterations=steps, step_size=length, output=options.output or "tail")
