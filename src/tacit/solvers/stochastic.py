"""Noisy steps over secret batches, for tables that may be read a few times only.

At equal privacy a batch has the noise of a full sum of as many steps, as long as the noise of a batch exceeds what a
record adds to it, and its sampling error on top. So batches save passes, and nothing else: where all records can be read
at every step, other solvers are better. Labels are fitted as by `whitened_gradient`, numbers and counts in two stages as
by `staged_gradient`, with fewer measurements. With a clip of the user's own it is the algorithm of the lecture notes, in
the coordinates of the public bounds.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tacit.accounting.calibration import calibrate
from tacit.accounting.composition import guarantee_of, mu_squared_of
from tacit.contract.batches import FINEST_RATE, Batches, Sampling
from tacit.contract.plan import Plan, Purpose, Solution, Step
from tacit.contract.query import BatchGradientSum, Gate, QueryKind
from tacit.contract.sensitivity import batch_price_for, events_of
from tacit.design.response import Continuous, Count
from tacit.errors import BudgetError, PassesError, SettingError
from tacit.losses.loss import Code
from tacit.privacy.budget import Budget
from tacit.privacy.event import Event, Gaussian, Repeated
from tacit.privacy.relation import Relation
from tacit.solvers.coordinates import Coordinates, Vector, gradient_bound, response_ends, slope_bound
from tacit.solvers.noisy_steps import Descent, descend
from tacit.solvers.requirements import NO_INTERVALS, Requirement, require
from tacit.solvers.residual_scale import Residuals, loss_in_units, measure, step_unit
from tacit.solvers.response_location import ResponseLocation, ask_mean
from tacit.solvers.rules import DESCENT, LABELS, RESPONSE, STAGED, STOCHASTIC, between
from tacit.solvers.solver import PublicFacts, SolverOptions, assembled, best_time, priced
from tacit.solvers.staged_gradient import first_coefficients, pace_of, whitening_of_numbers
from tacit.solvers.step_size import shortened
from tacit.solvers.whitened_gradient import Whitening, moment_queries, recipe_of, whiten

SAFER = Fraction(1, 10**4)
"""Noise is raised by this share where a price on the lattice rounds above the budget."""

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
            return Solution(descend(gate, plan, self.descent, known, None, clip, plan.loss, BatchGradientSum)[0])
        start = _start(gate, plan) if self.first is not None else None
        coordinates = whiten(gate, plan, self.whitening)
        if self.first is None or start is None:
            clip = (self.descent.clip_factor or 1.0) * math.sqrt(coordinates.dimension)
            descent = shortened(plan, self.descent, coordinates, clip, self.margin_variance)
            theta, _ = descend(gate, plan, descent, coordinates, None, clip, plan.loss, BatchGradientSum)
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
            clip *= known.size if loss.code in {Code.SQUARED, Code.POISSON} else loss.lipschitz
            descent = replace(stage, step_size=stage.step_size * step_unit(loss, known))
            theta, _ = descend(gate, plan, descent, coordinates, theta, clip, loss, BatchGradientSum)
        return theta


def _start(gate: Gate, plan: Plan) -> ResponseLocation:
    """Mean of the response, and an assumed mean size of what lies around it."""
    low, high = response_ends(plan)
    mean = low + (high - low) * float(ask_mean(gate, plan, low, high).value[0]) / plan.count
    if plan.design.response.kind == Count.kind:
        mean = between(mean, (high - low) / RESPONSE.mean_floor, high)
        return ResponseLocation(mean, max(RESPONSE.least_size, STAGED.rate_size * math.sqrt(mean)), mean)
    return ResponseLocation(between(mean, low, high), STOCHASTIC.first_size * (high - low) / 2)


def plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price the steps by a search for the least noise within ε and δ, beside all that is not sampled."""
    require(REQUIRES, facts, options)
    asked = asked_rate(facts, options)
    if options.clip is not None:
        return _own_clip(facts, options, allowed, asked)
    return _whitened(facts, options, allowed, asked)


def asked_rate(facts: PublicFacts, options: SolverOptions) -> Fraction | None:
    """Return the rate of the batches that the user asked for, if any; refuse what has no price."""
    sampling = Sampling(options.sampling or Sampling.POISSON)
    # Which relations a way of sampling is proven for depends on no size.
    Batches(sampling, 1, 1).require(facts.relation)
    if options.batch_size is not None:
        if options.batch_size > facts.records:
            known = "n" if facts.relation.n_is_public else "n_at_least"
            what = f"batch_size={options.batch_size} is more than the table is known to hold ({known}={facts.records})"
            raise SettingError(f"{what}. Choose a smaller one.")
        return Fraction(options.batch_size, facts.records)
    return None if options.sample_rate is None else Fraction(options.sample_rate)


def batches_of(facts: PublicFacts, options: SolverOptions, rate: Fraction) -> Batches:
    """Return the nearest batches of a rate: for Poisson a whole number of 2^-32, for the others of records."""
    sampling = Sampling(options.sampling or Sampling.POISSON)
    if sampling is not Sampling.POISSON:
        return Batches(sampling, max(1, round(rate * facts.records)), facts.records)
    dyadic = Fraction(max(1, round(rate * FINEST_RATE)), FINEST_RATE)
    return Batches(sampling, dyadic.numerator, dyadic.denominator)


def schedule(
    facts: PublicFacts, options: SolverOptions, asked: Fraction | None, passes: Fraction, usual: int
) -> tuple[int, Batches]:
    """Return steps and batches that read the table `passes` times: at the rate or steps asked for, or as usual."""
    if asked is not None:
        most = max(1, math.floor(passes / asked))
        steps = options.iterations or min(most, STOCHASTIC.most_steps)
        if options.max_passes is not None and steps > most:
            raise PassesError(f"max_passes allows {most} steps over batches of this size; ask for fewer iterations.")
        return steps, batches_of(facts, options, asked)
    steps = options.iterations or usual
    rate = min(Fraction(1), passes / steps)
    # So many digits after the first: rates stay readable, and passes within their cap.
    unit = Fraction(1, 2 ** min(32, STOCHASTIC.rate_bits + math.ceil(math.log2(1 / rate))))
    return steps, batches_of(facts, options, max(unit, rate // unit * unit))


def _passes(options: SolverOptions, others: int) -> Fraction:
    """Passes that are left for batches beside the others."""
    total = options.max_passes or max(STOCHASTIC.passes, others + 1)
    if total <= others:
        raise PassesError(f"max_passes must be at least {others + 1} for this plan.")
    return Fraction(total - others)


def _own_clip(facts: PublicFacts, options: SolverOptions, allowed: Fraction, asked: Fraction | None) -> Plan:
    """Descent in prepared coordinates, with the step of the bound R²/(2s) + s·(d σ² + C²/b)/T, s = ηT."""
    design, clip = facts.design, options.clip or 1.0
    passes = _passes(options, 0)
    steps, batches = schedule(facts, options, asked, passes, facts.passes_allowed(options))
    price = _step(facts, batches, steps, (), allowed)
    noise = 2.0**price.price.bits / price.price.bound * clip if price.price is not None else 0.0
    size = float(batches.rate) * facts.records
    spread = math.hypot(noise / size, clip / math.sqrt(size * facts.coordinates))
    smoothness = design.row_norm**2 * design.unit_rows * facts.loss.smoothness
    time = best_time(spread / math.sqrt(steps), facts.coordinates, DESCENT.radius / design.row_norm)
    length = options.step_size or min(time / steps, 1 / smoothness)
    descent = Descent(steps, length, 0.0, None, options.output or "tail")
    return assembled(facts, Stochastic(batches, descent, None, clip), (price,))


def _whitened(facts: PublicFacts, options: SolverOptions, allowed: Fraction, asked: Fraction | None) -> Plan:
    """Descent in privately whitened coordinates."""
    signal = facts.signal(allowed)
    numeric = isinstance(facts.design.response, Continuous | Count)
    counted = 3 if numeric else 0
    total = options.max_passes or STOCHASTIC.passes + counted
    queries, share, ridge = moment_queries(facts, signal)
    if numeric:
        narrow = facts.design.width <= STAGED.narrow and not facts.is_large
        queries, share = STAGED.narrow_queries if narrow else STAGED.wide_queries
    queries = max(1, min(queries, (total - counted) // STOCHASTIC.moments_part))
    capped = replace(options, max_passes=total)
    passes = _passes(capped, queries + counted)
    if numeric:
        pace = pace_of(facts, replace(options, iterations=None), signal)
        clip = (STAGED.slope_clip if math.isfinite(facts.loss.lipschitz) else STAGED.size_clip).at(signal)
        if facts.loss.code is Code.POISSON:
            clip = STAGED.size_clip.at(signal)
        recipe = Descent(sum(pace.steps), pace.length, pace.momentum, clip, "tail", pace.averaged)
    else:
        recipe = recipe_of(facts, signal)
    steps, batches = schedule(facts, options, asked, passes, math.ceil(recipe.iterations * STOCHASTIC.steps))
    if numeric and steps < 2:
        raise SettingError("Numbers and counts are fitted in two stages: iterations must be at least 2.")
    size = float(batches.rate) * facts.records
    length = options.step_size or recipe.step_size * min(
        1.0, size / (STOCHASTIC.records_a_coefficient * facts.design.width)
    )
    early = max(1, round(steps * STOCHASTIC.first_steps)) if numeric else 0
    descent = replace(recipe, iterations=steps - early, step_size=length, output=options.output or "tail")
    others = [priced(facts, QueryKind.SECOND_MOMENTS, allowed * share * queries, queries, Purpose.SECOND_MOMENTS)]
    if numeric:
        others.insert(0, priced(facts, QueryKind.COUNTS, allowed * STOCHASTIC.mean_share, 1, Purpose.RESPONSE_MEAN))
        others += [priced(facts, QueryKind.COUNTS, allowed * STOCHASTIC.size_share, 1, Purpose.RESIDUAL_SIZE)] * 2
    one = _step(facts, batches, steps, tuple(others), allowed)
    if numeric:
        mean, moments, size_one, size_two = others
        planned = (mean, moments, size_one, replace(one, times=early), size_two, replace(one, times=steps - early))
        whitening = replace(whitening_of_numbers(facts, allowed, queries, share), one_in=1)
    else:
        planned = (*others, one)
        whitening = Whitening(queries, ridge, LABELS.row_factor.at(signal))
    limited = facts.loss.code is Code.LOGISTIC and not options.step_size
    solver = Stochastic(
        batches,
        descent,
        whitening,
        first=replace(descent, iterations=early) if numeric else None,
        margin_variance=LABELS.margin_variance if limited else None,
    )
    return assembled(facts, solver, planned)


def _step(facts: PublicFacts, batches: Batches, times: int, others: tuple[Step, ...], allowed: Fraction) -> Step:
    """Price steps over batches with all that the other steps leave of ε and δ.

    Guarantee: all together are within the budget, by the accountant that states the guarantee.
    """
    beside = [
        Repeated(event, step.times)
        for step in others
        if step.price is not None
        for event in events_of(step.kind, step.price, facts.relation, step.size)
    ]
    spent = mu_squared_of(facts.budget) - allowed
    if spent > 0:
        # What other parts of the fit cost, as bounds that are looked for first.
        beside.append(Gaussian(spent, 1))
    epsilon, delta = facts.budget.epsilon or 0.0, facts.budget.delta or 0.0
    noise = least_noise(epsilon, delta, facts.relation, batches, times, tuple(beside))
    while True:
        price = batch_price_for(noise, batches, records=facts.records, width=facts.coordinates)
        (event,) = events_of(QueryKind.BATCH_GRADIENT, price, facts.relation)
        events = (Repeated(event, times), *beside)
        if guarantee_of(events, delta=delta, relation=facts.relation, unit=facts.unit).epsilon <= epsilon:
            return Step(QueryKind.BATCH_GRADIENT, price, times, Purpose.DESCENT)
        noise *= 1 + SAFER


@functools.lru_cache(maxsize=64)
def least_noise(
    epsilon: float, delta: float, relation: Relation, batches: Batches, times: int, beside: tuple[Event, ...]
) -> Fraction:
    """Return the least noise of a sum over a batch, in bounds on a record, within ε and δ beside other events."""
    poisson = batches.sampling is Sampling.POISSON
    run = calibrate(
        Budget(epsilon=epsilon, delta=delta),
        relation=relation,
        steps=times,
        sample_rate=batches.rate,
        sampling=str(batches.sampling),
        population=None if poisson else batches.population,
        beside=beside,
    )
    return Fraction(run.noise)
