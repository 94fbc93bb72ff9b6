"""Which solver a fit takes: the only place that chooses.

To add a solver, write its file and enter its `plan` under its name in `SOLVERS`. What plans it under a pure budget
(delta = 0), if it can, is entered under the same name in `PURE_SOLVERS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType

from tacit.accounting.composition import compose, mu_squared_of
from tacit.contract.plan import LEVEL_ONLY, Penalty, Plan
from tacit.contract.purpose import Purpose
from tacit.deferred import deferred
from tacit.design.response import Absent, Continuous, Count, Positive
from tacit.errors import InputError, PassesError, SettingError
from tacit.losses import regression
from tacit.losses.loss import TWO_LABELS, Code
from tacit.solvers.counting import with_counting
from tacit.solvers.fit_statistics import require_deviance, with_statistics
from tacit.solvers.label_direction_rules import LABEL_DIRECTION
from tacit.solvers.locating import exact_locating, with_locating
from tacit.solvers.own_solver import is_own_solver, open_plan, own_plan
from tacit.solvers.requirements import NO_INTERVALS, is_for_gradient, require, require_gradient
from tacit.solvers.rules import INTERCEPT_ONLY, NEWTON_POLISH, STOCHASTIC, WARNINGS, least_signal
from tacit.solvers.solver import PublicFacts, SolverOptions, require_moderate_scales
from tacit.validate import one_of

PlanSolver = Callable[[PublicFacts, SolverOptions, Fraction], Plan]
"""Prices a fit within the third argument: a μ² in `SOLVERS`, an ε in `PURE_SOLVERS`."""


def _solver(place: str) -> Callable[..., Plan]:
    """A function of a solver's file, "file.function"; the file is read when the solver is first used."""
    return deferred("tacit.solvers", place)


def make_plan(facts: PublicFacts, options: SolverOptions) -> Plan:
    """Choose solver, steps and prices.

    Guarantee
    ---------
    - The plan's events cost at most the budget, in exact rationals.
    - Nothing but the arguments, which are public, enters the plan.
    """
    require_solver(options.solver)
    require_gradient(facts, options)
    if options.asks_for_batches:
        if options.solver != "stochastic":
            raise SettingError('sampling, batch_size and sample_rate are for solver="stochastic".')
        _solver("batch_schedule.asked_rate")(facts, options)
    if options.inference and facts.penalty != Penalty():
        raise SettingError("Intervals are for fits without l2, prior_mean, radius and constraint.")
    if options.statistics:
        require_deviance(facts, options)
    if facts.budget.is_infinite:
        return replace(_noiseless(facts, options), statistics=options.statistics)
    require_moderate_scales(facts)
    pure = facts.budget.is_pure
    allowed = Fraction(facts.budget.epsilon or 0) if pure else mu_squared_of(facts.budget)
    try:
        plan = (_pure if pure else _approximate)(facts, options, allowed)
        require_cap(plan, options)
    except PassesError as excluded:
        # Which kind of refusal it is matters to the choice alone.
        raise SettingError(str(excluded)) from None
    if not _is_within(plan, allowed):
        # A theorem; checked because everything rests on it.
        raise AssertionError("A plan would cost more than its budget.")
    return plan


def _noiseless(facts: PublicFacts, options: SolverOptions) -> Plan:
    """Plan without noise (ε = ∞)."""
    own = not isinstance(options.solver, str)
    if not own and options.solver in PENALISED and facts.penalty.l2:
        return PENALISED[options.solver](facts, options)
    walks = not own and not options.inference and options.solver in NOISELESS
    noiseless = NOISELESS[options.solver](facts, options) if walks else None
    if noiseless is not None:
        return replace(noiseless, counting=bool(facts.counts))
    plan = open_plan(facts, options) if own else _solver("exact.plan")(facts, options)
    return replace(plan, locating=exact_locating(facts.design), counting=bool(facts.counts))


def require_solver(solver: object) -> None:
    """Refuse a solver that there is not, and an object that is none."""
    if not is_own_solver(solver):
        one_of("solver", solver, {**SOLVERS, **PURE_SOLVERS})


def require_cap(plan: Plan, options: SolverOptions) -> None:
    """Refuse a plan that reads the records more often than the public cap allows."""
    if options.max_passes is not None and plan.passes > options.max_passes:
        raise PassesError(f"max_passes must be at least {math.ceil(plan.passes)} for this plan.")


def _approximate(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Plan within a μ²."""
    if options.statistics:
        return with_statistics(facts, options, allowed, _approximate)
    if isinstance(options.solver, str) and options.solver not in SOLVERS:
        raise SettingError(f'solver="{options.solver}" is for delta=0 alone. Pass delta=0, or choose another solver.')
    if facts.design.open_places:
        return with_locating(facts, allowed, lambda rest: _chosen(facts, options, rest))
    return _chosen(facts, options, allowed)


def _pure(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Plan within an ε, where delta is 0."""
    absent = isinstance(facts.design.response, Absent)
    named = options.solver if isinstance(options.solver, str) else "one of your own"
    solver = _solver("mean.pure_plan") if absent else PURE_SOLVERS.get(named)
    if facts.loss == regression.SCATTER:
        solver, named = None, "covariance"
    if solver is None or facts.design.open_places:
        what = f'solver="{named}"'
        ways = [] if named == "covariance" else [f'solver="{name}"' for name in PURE_SOLVERS]
        if solver is not None:
            what, ways = "The search for bounds", ["declared bounds"]
        expected = " or ".join([*ways, "a delta above 0, for example delta=1e-6"])
        raise SettingError(f"{what} needs Gaussian noise, which delta=0 does not allow. Use {expected}.")
    return solver(facts, options, allowed)


def _is_within(plan: Plan, allowed: Fraction) -> bool:
    """Whether the events cost at most the budget; a perturbed objective has no μ, but an ε."""
    total = compose(plan.events(), plan.relation)
    if plan.budget.is_pure:
        return (pure := total.pure_epsilon) is not None and pure <= allowed
    if total.square is not None:
        return total.square <= allowed
    return plan.guarantee().epsilon <= (plan.budget.epsilon or 0.0)


def _chosen(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Plan what comes after the bounds are known."""
    if isinstance(facts.design.response, Absent):
        scatter = facts.loss == regression.SCATTER
        return (counted(_solver("covariance.plan")) if scatter else _solver("mean.plan"))(facts, options, allowed)
    if not isinstance(options.solver, str):
        return counted(own_plan)(facts, options, allowed)
    return SOLVERS[options.solver](facts, options, allowed)


def counted(plan: PlanSolver) -> PlanSolver:
    """Return a solver that counts the records first, where their number is private."""

    def planned(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
        return with_counting(facts, allowed, lambda rest: plan(facts, options, rest))

    return planned


def _auto(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Steps that read all records, or batches where `max_passes` excludes these and batches have a price."""
    refusal: InputError | None = None
    plan: Plan | None = None
    try:
        plan = _full_batch(facts, options, allowed)
        require_cap(plan, options)
    except PassesError as excluded:
        plan, refusal = None, excluded
    if plan is not None and not _is_cut_short(plan, facts, options, allowed):
        return plan
    try:
        require_gradient(facts, replace(options, solver="stochastic"))
        return _solver("stochastic.plan")(facts, options, allowed)
    except PassesError as excluded:
        # Batches need fewer passes than what was refused before.
        refusal = excluded
    except InputError as unpriced:
        refusal = refusal or unpriced
    if plan is None:
        raise refusal from None
    return plan


def _is_cut_short(plan: Plan, facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> bool:
    """Whether `max_passes` takes steps from a descent and leaves too few of them."""
    last = plan.steps[-1]
    if options.max_passes is None or last.purpose is not Purpose.DESCENT or last.times >= STOCHASTIC.full_steps:
        return False
    return _full_batch(facts, replace(options, max_passes=None), allowed).queries > plan.queries


def _full_batch(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Choose by intervals, by the response and by the signal."""
    if is_for_gradient(facts, options):
        return _solver("gradient.plan")(facts, options, allowed)
    if options.inference and facts.interval_signal(allowed) >= least_signal(facts.design.identified):
        return counted(_solver("one_step.plan"))(facts, options, allowed)
    if options.inference:
        # Intervals would mean nothing: the coefficients get all of the budget.
        usual = replace(options, inference=False)
        return replace(_full_batch(facts, usual, allowed), intervals_declined=True)
    if options.max_passes == 1:
        return _solver("gradient.plan")(facts, options, allowed)
    numeric = isinstance(facts.design.response, Continuous | Count | Positive)
    return counted(_numeric if numeric else _labels)(facts, options, allowed)


def _labels(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Their share alone, one direction, a descent that Newton steps end, or a descent.

    A penalty says how to hold slopes short, and an option what the user wants: both mean a descent.
    """
    free = options == SolverOptions() and facts.penalty == Penalty()
    if free and facts.loss.code in TWO_LABELS:
        signal = facts.signal(allowed)
        if signal < LABEL_DIRECTION.signal and deferred("tacit.solvers", "label_direction.suits")(facts):
            return _solver("label_direction.plan")(facts, options, allowed)
        if signal < INTERCEPT_ONLY.labels and facts.design.intercept:
            return _solver("intercept_only.plan")(facts, options, allowed)
        if deferred("tacit.solvers", "public_descent.suits")(facts, options, allowed):
            return _solver("public_descent.plan")(facts, options, allowed)
        if facts.is_large and signal >= NEWTON_POLISH.signal and facts.loss.code is Code.LOGISTIC:
            return _solver("newton_polish.plan")(facts, options, allowed)
    return _solver("whitened_gradient.plan")(facts, options, allowed)


def _numeric(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """The level alone, moments where they are predicted to be better, or two stages."""
    least = max(INTERCEPT_ONLY.n_mu, INTERCEPT_ONLY.signal * facts.design.width)
    if facts.n_mu(allowed) < least and facts.design.intercept:
        return _solver("intercept_only.plan")(facts, options, allowed)
    stages = _solver("staged_gradient.plan")(facts, options, allowed)
    if facts.loss.code is not Code.SQUARED or options.iterations or options.step_size:
        return stages
    once, most = _solver("moments.plan")(facts, options, allowed), options.max_passes
    if most is not None and stages.queries > most >= once.queries:
        return once
    errors = [deferred("tacit.solvers", "moments.predicted_error")(facts, planned) for planned in (once, stages)]
    return once if errors[0] < errors[1] else stages


def _whitened(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    require((NO_INTERVALS,), facts, options)
    if isinstance(facts.design.response, Continuous | Count | Positive):
        return _solver("staged_gradient.plan")(facts, options, allowed)
    return _solver("whitened_gradient.plan")(facts, options, allowed)


SOLVERS: Mapping[str, PlanSolver] = MappingProxyType(
    {
        "auto": _auto,
        "gradient": _solver("gradient.plan"),
        "whitened-gradient": counted(_whitened),
        "moments": counted(_solver("moments.plan")),
        "adassp": counted(_solver("adassp.plan")),
        "newton": counted(_solver("newton.plan")),
        "majorised-newton": counted(_solver("newton.plan")),
        "objective-perturbation": counted(_solver("objective_perturbation.plan")),
        "objective-perturbation-kst": counted(_solver("objective_perturbation.classical_plan")),
        "double-noise-newton": _solver("double_noise.plan"),
        "output-perturbation": _solver("output_perturbation.plan"),
        "stochastic": _solver("stochastic.plan"),
        "frank-wolfe": _solver("frank_wolfe.plan"),
        "exponential": _solver("exponential.plan"),
        "zeroth-order": _solver("zeroth_order.plan"),
        "aggregate": _solver("aggregate.plan"),
    }
)
"""By the name that a user gives: what plans the fit within a μ²."""
PURE_SOLVERS: Mapping[str, PlanSolver] = MappingProxyType(
    {
        "output-perturbation": _solver("output_perturbation.pure_plan"),
        "objective-perturbation": _solver("objective_perturbation.pure_plan"),
        "frank-wolfe": _solver("frank_wolfe.pure_plan"),
        "exponential": _solver("exponential.pure_plan"),
    }
)
"""By the name that a user gives: what plans the fit where delta is 0, within an ε.

Every event of such a plan is pure (`Laplace`, `Pure`, `BoundedRange`); the sum of their epsilons is at most the third
argument, in exact rationals. `counted` and `with_counting` count with Gaussian noise: a pure solver requires a public
number of records, or counts by itself.
"""
PENALISED: Mapping[str, Callable[[PublicFacts, SolverOptions], Plan]] = MappingProxyType(
    {
        "output-perturbation": _solver("output_perturbation.exact_plan"),
        "objective-perturbation": _solver("objective_perturbation.exact_plan"),
        "objective-perturbation-kst": _solver("objective_perturbation.exact_plan"),
    }
)
"""Solvers whose l2 is on every coordinate: what plans a fit without noise."""
NOISELESS: Mapping[str, Callable[[PublicFacts, SolverOptions], Plan | None]] = MappingProxyType(
    {
        "frank-wolfe": _solver("frank_wolfe.exact_plan"),
        "exponential": _solver("exponential.exact_plan"),
        "zeroth-order": _solver("zeroth_order.exact_plan"),
        "aggregate": _solver("aggregate.exact_plan"),
    }
)
"""Solvers with a way of their own at ε = ∞: what plans it. None, or intervals, mean the exact minimiser."""
INTERVALS_BY_DEFAULT = frozenset({"auto"})
"""Solvers that pay for intervals unless they are declined: those whose coverage was shown."""


def plan_warnings(plan: Plan) -> tuple[str, ...]:
    """Return what a user should know before spending, from public facts alone."""
    mu = plan.strength
    if mu is None:
        return ()
    texts = []
    if plan.level_only:
        texts.append(
            f"{LEVEL_ONLY} n·μ is {plan.records * mu:.3g} for {plan.design.width} coefficients. Use a larger epsilon, "
            "more records or fewer columns."
        )
    strength = plan.records * mu / math.sqrt(plan.design.width)
    if strength < WARNINGS.smallest:
        texts.append(
            f"The budget is small for this table: n·μ/√d is {strength:.2g}, and below "
            f"{WARNINGS.smallest:g} a fit is mostly noise. Use a larger epsilon, more records or "
            "fewer columns."
        )
    if plan.solver.name == "gradient" and plan.loss.code is Code.GAMMA:
        texts.append(
            'The steps of solver="gradient" are as short as the largest curvature of the gamma loss asks for, which is '
            f"{plan.loss.smoothness:.3g} within the declared bounds: they may end far from the minimum. Leave solver "
            'out, or use "whitened-gradient".'
        )
    if plan.solver.name == "output-perturbation" and deferred("tacit.solvers", "output_perturbation.too_noisy")(plan):
        texts.append(
            "l2 is small for this budget: the noise is expected to cost as much as coefficients of 0 would. Use a "
            "larger l2, or leave it out: it is then chosen from public numbers."
        )
    least = least_signal(plan.design.identified) if plan.intervals_declined else WARNINGS.intervals
    if plan.intervals_declined or (plan.solver.intervals and plan.signal < least):
        texts.append(
            f"Intervals will not be offered: n·μ/d is {plan.signal:.2g}, and below {least:.3g} they would mean "
            "nothing. All is spent on the coefficients. Use a larger epsilon, more records or fewer columns."
        )
    if plan.locating is not None and plan.locating.noise > WARNINGS.count_noise:
        texts.append(
            "The budget is too small to find bounds reliably: a count of records has noise of "
            f"{plan.locating.noise:.0%} of them. Declare bounds, or use a larger epsilon, more "
            "records or fewer columns."
        )
    return tuple(texts)
