"""The planner: budget and public facts in, a priced plan out.

Rules of the whitened route, with q = n μ / d. They are functions of public numbers alone, found on
real tables (docs/solvers.md has the measurements), never on the table at hand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Integral, Real

from tacit.accounting.composition import compose, mu_squared_of
from tacit.errors import SettingError
from tacit.losses import logistic
from tacit.planning.bounds import Noise, best_time, excess_bound
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.problem.design import Design
from tacit.problem.plan import Descent, Forecast, OneStep, Penalty, Plan, Step, Whitening
from tacit.problem.query import Kind
from tacit.problem.sensitivity import price_for

SOLVERS = ("auto", "gradient", "whitened-gradient")
OUTPUTS = ("average", "tail", "last")
LARGE_TABLE = 10**7
"""n·d from which passes over the data are capped by default."""
PASSES_OF_LARGE_TABLE = 30
PASSES = 1000
UNIT_RADIUS = 10.0
"""Assumed ‖θ*‖ for rows of norm 1, where the plain planner needs one."""
LEAST_CURVATURE = 0.05
"""Assumed curvature in whitened directions, for the forecast of the one-step route."""
MARGIN_RADIUS = 3.0
"""Assumed root mean square of the true margins, for the forecast of the whitened route."""


@dataclass(frozen=True)
class Wishes:
    """What the user fixed of the plan; None leaves it to the planner."""

    solver: str = "auto"
    output: str | None = None
    iterations: int | None = None
    step_size: float | None = None
    max_passes: int | None = None
    inference: bool = False

    def __post_init__(self) -> None:
        """Refuse what no plan can honour."""
        if self.solver not in SOLVERS:
            raise SettingError(f"solver must be one of {_listed(SOLVERS)}; got {self.solver!r}.")
        if self.output is not None and self.output not in OUTPUTS:
            raise SettingError(f"output must be one of {_listed(OUTPUTS)}; got {self.output!r}.")
        for name in ("iterations", "max_passes"):
            value = getattr(self, name)
            if value is not None and not (_is_whole(value) and value >= 1):
                raise SettingError(f"{name} must be a whole number of at least 1; got {value!r}.")
            object.__setattr__(self, name, None if value is None else int(value))
        if self.step_size is not None and not (
            _is_number(self.step_size) and 0 < self.step_size < math.inf
        ):
            raise SettingError(f"step_size must be positive and finite; got {self.step_size!r}.")
        if self.step_size is not None and not 1e-30 <= self.step_size <= 1e30:
            raise SettingError("step_size must lie between 1e-30 and 1e30.")


@dataclass(frozen=True)
class Facts:
    """The public facts a plan is made from. `records` is n, or n_at_least where n is private."""

    design: Design
    records: int
    relation: Relation
    unit: str
    budget: Budget
    penalty: Penalty


def make_plan(facts: Facts, wishes: Wishes) -> Plan:
    """Choose route, steps and prices for a logistic fit.

    Guarantee
    ---------
    - The plan's events cost at most the budget, in exact rationals.
    - Nothing but the arguments, which are public, enters the plan.
    """
    if wishes.inference and facts.penalty != Penalty():
        raise SettingError("Intervals are for fits without l2, prior_mean and radius.")
    if facts.budget.is_infinite:
        plan = _assemble(facts, "newton", (), None, None, None)
        return replace(plan, inference=OneStep(math.inf)) if wishes.inference else plan
    allowed = mu_squared_of(facts.budget)
    if wishes.inference:
        plan = _inferential(facts, wishes, allowed)
    elif wishes.solver == "gradient" or (wishes.solver == "auto" and wishes.max_passes == 1):
        plan = _plain(facts, wishes, allowed)
    else:
        plan = _whitened(facts, wishes, allowed)
    if (
        compose(plan.events()).mu_squared > allowed
    ):  # a theorem; checked because everything rests on it
        raise AssertionError("A plan would cost more than its budget.")
    return plan


def _plain(facts: Facts, wishes: Wishes, allowed: Fraction) -> Plan:
    """Noisy gradient descent of the lecture notes, smooth planner."""
    if not facts.relation.n_is_public:
        # The steps would be too long by the unknown factor n / n_at_least; whitening removes it.
        raise SettingError('solver="gradient" needs a public n; use solver="auto" with add-remove.')
    _require_passes(wishes, 0)
    design, row_norm = facts.design, facts.design.row_norm
    radius = UNIT_RADIUS / row_norm
    if facts.penalty.radius is not None:
        largest = max((column.scale for column in design.columns), default=1.0)
        radius = math.hypot(facts.penalty.radius * largest, radius)
    sensitivity = _sensitivity(facts.relation) * row_norm * logistic.LIPSCHITZ
    noise = Noise(sensitivity / (facts.records * math.sqrt(allowed)), design.width)
    smoothness = row_norm**2 * logistic.SMOOTHNESS
    time = best_time(noise, radius)
    iterations = wishes.iterations or max(
        1, min(_passes(facts, wishes), math.ceil(smoothness * time))
    )
    step_size = wishes.step_size or min(time / iterations, 1 / smoothness)
    output = wishes.output or "average"
    bound = excess_bound(
        noise,
        radius=radius,
        time=step_size * iterations,
        step_size=step_size,
        smoothness=smoothness,
        output=output,
    )
    forecast = None
    if bound is not None and step_size <= 1 / smoothness:
        forecast = Forecast(
            bound, f"the best prepared coefficients have norm at most {radius:.3g} (expected value)"
        )
    steps = (_step(facts, Kind.GRADIENT, allowed, iterations, "gradient descent"),)
    descent = Descent(iterations, step_size, 0.0, None, output)
    return _assemble(facts, "gradient", steps, descent, None, forecast)


def _whitened(facts: Facts, wishes: Wishes, allowed: Fraction) -> Plan:
    """Descent in privately whitened coordinates."""
    width = facts.design.width
    mu = math.sqrt(allowed)
    quality = facts.records * mu / width
    if quality < 60 and width <= 64:
        rounds, share = 3, Fraction(8, 100)
    elif quality < 20 and width > 256:
        rounds, share = 1, Fraction(20, 100)
    else:
        rounds, share = 2, Fraction(10, 100)
    passes = _passes(facts, wishes)
    _require_passes(wishes, 1)
    rounds = max(1, min(rounds, passes - (wishes.iterations or 1)))
    whitening = Whitening(
        rounds=rounds,
        ridge=0.15 if rounds == 1 else _between(0.08 * math.sqrt(width), 0.3, 1.5),
        row_factor=_between(0.25 * quality ** (1 / 3), 1.0, 2.0),
    )
    # On large tables 16 steps arrive where 64 do (docs/solvers.md), at a quarter of the passes.
    longest = 1.0 if _is_large(facts) else 4.0
    wanted = round(16 * _between(quality / 100, 1.0, longest))
    iterations = wishes.iterations or max(1, min(wanted, passes - rounds))
    descent = Descent(
        iterations=iterations,
        step_size=wishes.step_size or 3.0,
        momentum=0.5,
        clip_factor=_between(0.22 * quality**0.3, 0.35, 2.0),
        output=wishes.output or "tail",
    )
    remaining = allowed * (1 - rounds * share)
    steps = (
        _step(facts, Kind.SECOND_MOMENTS, allowed * share * rounds, rounds, "second moments"),
        _step(facts, Kind.GRADIENT, remaining, iterations, "gradient descent"),
    )
    return _assemble(
        facts,
        "whitened-gradient",
        steps,
        descent,
        whitening,
        _whitened_forecast(facts, descent, math.sqrt(remaining)),
    )


def _inferential(facts: Facts, wishes: Wishes, allowed: Fraction) -> Plan:
    """Whiten, descend with downweighted rows, then one Newton step with what its variance needs.

    Exactly one step is taken from the descent's result: its noise enters linearly, so that the
    intervals stay centred. The shares are of μ².
    """
    width = facts.design.width
    evidence = facts.records * math.sqrt(allowed) / width
    looks = 2
    _require_passes(wishes, looks + 3)
    pilot = math.ceil(10 * math.log10(max(evidence, 1.0)) - 10)
    pilot = wishes.iterations or int(
        _between(pilot, 8, min(30, _passes(facts, wishes) - looks - 3))
    )
    whitening = Whitening(
        rounds=looks,
        ridge=_between(0.08 * math.sqrt(width), 0.3, 1.5),
        row_factor=_between(0.25 * evidence ** (1 / 3), 1.0, 2.0),
    )
    clip = math.sqrt(_between(1.5 * (evidence / 100) ** 0.25, 1.5, 4.0))
    descent = Descent(pilot, wishes.step_size or 3.0, 0.5, clip, wishes.output or "tail")
    moments, gradient = Kind.SECOND_MOMENTS, Kind.GRADIENT
    shares = (Fraction(17, 100), Fraction(20, 100), Fraction(30, 100), Fraction(33, 100))
    steps = (
        _step(facts, moments, allowed * shares[0], looks, "second moments"),
        _step(facts, gradient, allowed * shares[1], pilot, "gradient descent"),
        _step(facts, moments, allowed * shares[2], 2, "curvature and score"),
        _step(facts, gradient, allowed * shares[3], 1, "last step"),
    )
    forecast = _one_step_forecast(facts, clip, math.sqrt(allowed * shares[3]))
    plan = _assemble(facts, "one-step", steps, descent, whitening, forecast)
    return replace(plan, inference=OneStep(clip))


def _one_step_forecast(facts: Facts, clip_factor: float, mu: float) -> Forecast:
    """Twice ½ tr(M Cov) for the last step's noise σ: d σ² / h, with curvature h in whitened space.

    The second half is for what the pilot leaves behind.
    """
    width = facts.design.width
    clip = clip_factor * math.sqrt(width)
    noise = _sensitivity(facts.relation) * clip / (facts.records * mu)
    return Forecast(
        width * noise**2 / LEAST_CURVATURE,
        f"the loss has curvature at least {LEAST_CURVATURE:g} in every whitened direction (no very "
        "rare outcome) and few rows are downweighted (expected value)",
    )


def _whitened_forecast(facts: Facts, descent: Descent, mu: float) -> Forecast | None:
    """The tail bound in whitened coordinates, where ‖θ‖ is the root mean square of the margins."""
    width = facts.design.width
    clip = (descent.clip_factor or 0.0) * math.sqrt(width)
    noise = Noise(_sensitivity(facts.relation) * clip / (facts.records * mu), width)
    bound = excess_bound(
        noise,
        radius=MARGIN_RADIUS,
        time=descent.step_size * descent.iterations / (1 - descent.momentum),
        step_size=descent.step_size,
        smoothness=logistic.SMOOTHNESS,
        output=descent.output,
    )
    if bound is None:
        return None
    return Forecast(
        bound,
        f"the true linear predictor has root mean square at most {MARGIN_RADIUS:g} and few rows "
        "are clipped (expected value)",
    )


def _step(facts: Facts, kind: Kind, mu_squared: Fraction, times: int, label: str) -> Step:
    price = price_for(
        kind, mu_squared / times, facts.relation, records=facts.records, width=facts.design.width
    )
    return Step(kind, price, times, label)


def _assemble(
    facts: Facts,
    solver: str,
    steps: tuple[Step, ...],
    descent: Descent | None,
    whitening: Whitening | None,
    forecast: Forecast | None,
) -> Plan:
    return Plan(
        solver=solver,
        loss=logistic.LOSS,
        design=facts.design,
        records=facts.records,
        relation=facts.relation,
        unit=facts.unit,
        budget=facts.budget,
        steps=steps,
        descent=descent,
        whitening=whitening,
        penalty=facts.penalty,
        forecast=forecast,
    )


def _require_passes(wishes: Wishes, besides: int) -> None:
    """Refuse a cap that leaves no step of descent besides the other answers."""
    least = besides + (wishes.iterations or 1)
    if wishes.max_passes is not None and wishes.max_passes < least:
        raise SettingError(f"max_passes must be at least {least} for this plan.")


def _passes(facts: Facts, wishes: Wishes) -> int:
    if wishes.max_passes is not None:
        return wishes.max_passes
    return PASSES_OF_LARGE_TABLE if _is_large(facts) else PASSES


def _is_large(facts: Facts) -> bool:
    return facts.records * facts.design.width >= LARGE_TABLE


def _sensitivity(relation: Relation) -> float:
    return 2.0 if relation is Relation.REPLACE_ONE else 1.0


def _between(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(repr(name) for name in names)
