"""Own solvers: an object with `plan` and `run` in the place of a solver's name.

Of the plan that it proposes only steps and settings are taken: model, relation, records and budget stay those of the
request. The gate answers these steps and nothing else, so an own solver is post-processing like any other.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from tacit.accounting.composition import compose
from tacit.contract.plan import Plan, Solution, Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import Answer, Gate, GradientSum, Query, QueryKind
from tacit.contract.sensitivity import FINEST_BOUND, LARGEST_BITS, Price
from tacit.errors import SettingError
from tacit.solvers.coordinates import public_clip
from tacit.solvers.requirements import NO_INTERVALS, require
from tacit.solvers.solver import PublicFacts, SolverOptions, assembled
from tacit.validate import is_whole

SUMS = frozenset(
    {QueryKind.GRADIENT, QueryKind.SECOND_MOMENTS, QueryKind.COLUMN_MOMENTS, QueryKind.COUNTS, QueryKind.SANDWICH}
)
"""Kinds whose price is a bound and noise; those of the others rest on further proofs."""
_FIELDS = ("kind", "price", "times", "purpose", "size")
WIDE_CLIP = 4.0
"""A clip so many times `public_clip` has that many times the noise, and cuts hardly anything less."""
WITHOUT_NOISE = Fraction(2**20)
"""The μ² that a solver plans with where no noise is added."""


@dataclass(frozen=True)
class OwnSolver:
    """Settings of somebody's own solver, whose answers the gate has counted."""

    inner: Any
    name: str
    maps_rows: bool
    intervals: ClassVar[bool] = False
    is_own: ClassVar[bool] = True

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Run it, and refuse coefficients that are none."""
        found = self.inner.run(_CountedGate(gate, plan) if plan.private else gate, plan)
        design = plan.design
        shape = (design.width,) if design.outputs == 1 else (design.width, design.outputs)
        theta = np.array(getattr(found, "theta", None), dtype=np.float64)
        if not isinstance(found, Solution) or theta.shape != shape or not np.isfinite(theta).all():
            raise SettingError(f"An own solver returns a Solution with finite coefficients of shape {shape}.")
        iterates = found.iterates
        if iterates is not None and (np.shape(iterates)[1:] != shape or not 0 < len(iterates) <= plan.queries):
            raise SettingError(f"iterates are coefficients of shape {shape} after each of the last answers.")
        return Solution(theta, iterates=None if iterates is None else np.array(iterates, dtype=np.float64))


@dataclass
class _CountedGate:
    """A gate that warns, once, of gradients whose public clip is so wide that noise swamps them."""

    gate: Gate
    plan: Plan
    warned: bool = False

    def ask(self, query: Query) -> Answer:
        """Pass the query on. What is looked at is its clip, which is public."""
        if not self.warned and isinstance(query, GradientSum) and query.matrix is None:
            usual = public_clip(self.plan)
            if query.clip > WIDE_CLIP * usual:
                self.warned = True
                warnings.warn(
                    f"Noise swamps this solver's gradients: it asked for a clip of {query.clip:.3g}, and noise grows "
                    f"with it. The {self.plan.loss.name} loss has no bounded slope, so that gradient_bound(plan) grows "
                    f"with √n. Ask with a clip of your own, such as public_clip(plan) = {usual:.3g} of "
                    "tacit.solvers.coordinates.",
                    UserWarning,
                    stacklevel=2,
                )
        return self.gate.ask(query)


def is_own_solver(solver: object) -> bool:
    """Whether an object can stand for a solver's name."""
    has = all(callable(getattr(solver, name, None)) for name in ("plan", "run"))
    return has and not isinstance(solver, str | type)


def own_plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Return the plan of an own solver; a proposal that costs too much, or cannot be priced, is refused.

    Guarantee: the steps cost at most `allowed`, in exact rationals, and are prices of sums.
    """
    require((NO_INTERVALS,), facts, replace(options, solver=type(options.solver).__name__))
    own: Any = options.solver
    proposed = own.plan(facts, options, allowed)
    rebuilt = list(map(_rebuilt, proposed.steps)) if isinstance(proposed, Plan) else []
    steps = tuple(step for step in rebuilt if step is not None and _is_priced(step))
    if not steps or len(steps) < len(rebuilt):
        how = "assembled(facts, self, steps) of steps that priced(…) made"
        raise SettingError(
            f"plan of an own solver must return {how}; a step is a sum with a price, asked once or more."
        )
    solver = proposed.solver
    name = str(getattr(solver, "name", type(solver).__name__))
    if not callable(getattr(solver, "run", None)) or not name.isprintable() or len(name) > 60:
        raise SettingError("An own solver needs a method run(gate, plan), and a short printable name.")
    settings = OwnSolver(solver, f"own: {name}", bool(getattr(solver, "maps_rows", True)))
    plan = assembled(facts, settings, steps)
    cost = compose(plan.events(), plan.relation).square
    if cost is None or cost > allowed:
        spent = math.inf if cost is None else math.sqrt(cost)
        limit = f"μ = {spent:.6g}, and {math.sqrt(allowed):.6g} are allowed"
        raise SettingError(
            f"The steps of solver {name!r} cost {limit}. Price them with priced(facts, kind, allowed, …)."
        )
    return plan


def open_plan(facts: PublicFacts, options: SolverOptions) -> Plan:
    """Return the plan of an own solver at ε = ∞: the same steps, without noise."""
    plan = own_plan(facts, options, WITHOUT_NOISE)
    return replace(plan, steps=tuple(replace(step, price=None) for step in plan.steps))


def _rebuilt(step: object) -> Step | None:
    """Return a step of plain numbers, read once: what is priced is then what the gate goes by; None for no step."""
    try:
        kind, price, times, purpose, size = (getattr(step, name) for name in _FIELDS)
        paid = Price(int(price.bound), int(price.bits))
        return Step(QueryKind(kind), paid, int(times), Purpose(purpose), int(size))
    except (AttributeError, TypeError, ValueError):
        return None


def _is_priced(step: object) -> bool:
    if not isinstance(step, Step) or step.kind not in SUMS or not isinstance(step.price, Price):
        return False
    sizes = is_whole(step.times, 1) and is_whole(step.size, 1) and (step.size == 1 or step.kind is QueryKind.COUNTS)
    bound, bits = step.price.bound, step.price.bits
    fits = is_whole(bound, 1) and bound <= FINEST_BOUND and is_whole(bits, 0) and bits <= LARGEST_BITS
    return bool(sizes and fits)
