"""Least squares from sufficient statistics: a single step from noised moments.

In whitened coordinates the normal equations are S θ = c, S the last second moments and
c = Σ z (y - start): one gradient, at the start. So this is the staged solver with a single step,
and the errors of both can be predicted, as shares of the response's variance. With a clip κ, its
unit s the mean size of what is clipped, and prices μ_g for gradients and μ_S for second moments,

    noise:   d·(Δ κ s √d / (n μ_g))²
    matrix:  R²·(2 b² d^1.5 / (n μ_S))²        (noise norm; b√d is the bound on rows)

The single step clips responses (s = 0.8 deviations) and pays the second term, since S is never
corrected. Two stages clip residuals (s = 0.8·√(1 - R²)) and correct S, but leave (1 - step)^T of
the way. R² = ½ is assumed.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tacit.accounting.composition import compose
from tacit.contract.plan import Plan
from tacit.contract.query import QueryKind
from tacit.contract.sensitivity import event_of
from tacit.errors import SettingError
from tacit.losses.loss import Code
from tacit.solvers import staged_gradient as staged
from tacit.solvers.noisy_steps import Descent
from tacit.solvers.requirements import Requirement, loss_is, no_intervals, require
from tacit.solvers.rules import STAGED
from tacit.solvers.shrinkage import unclipped_share
from tacit.solvers.solver import PublicFacts, SolverOptions, require_passes
from tacit.solvers.whitened_gradient import column_queries

REQUIRES = (
    Requirement(loss_is(Code.SQUARED), 'solver="moments" is for LinearRegression and Ridge.'),
    Requirement(no_intervals, 'There are no intervals for solver="moments".'),
    Requirement(
        lambda _, options: options.iterations in {None, 1} and options.step_size is None,
        'solver="moments" takes no steps: leave iterations and step_size out.',
    ),
)


def plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price least squares from noised moments."""
    require(REQUIRES, facts, options)
    require_passes(options, 2 + facts.counts)
    clip = STAGED.size_clip.at(facts.signal(allowed))
    length = 1.0 / unclipped_share(clip)
    stage = staged.Stage(Descent(1, length, 0.0, clip, options.output or "tail", 1.0), 1)
    moments = STAGED.moments_queries, STAGED.moments_share
    columns = column_queries(facts, facts.passes_allowed(options) - 1)
    return staged.seeking_tail(
        staged.priced_stages(facts, allowed, (stage,), (Fraction(1),), moments, "moments", columns)
    )


def predicted_error(facts: PublicFacts, planned: Plan) -> float:
    """Expected excess error of a plan for a continuous response, as a share of its variance."""
    solver, width = planned.solver, facts.design.width
    if not isinstance(solver, staged.Staged):
        raise SettingError("Errors are predicted for stages and for moments.")
    descent = solver.stages[-1].descent
    corrected = len(solver.stages) > 1
    size = STAGED.mean_size * math.sqrt(1 - STAGED.explained if corrected else 1.0)
    clip = (descent.clip_factor or 1.0) * size * math.sqrt(width)
    gradients = _last_price(planned, QueryKind.GRADIENT)
    averaged = max(1.0, descent.averaged * descent.iterations) if corrected else 1.0
    noise = width * (facts.sensitivity * clip / (facts.records * gradients)) ** 2 / averaged
    price = _last_price(planned, QueryKind.SECOND_MOMENTS)
    rows = solver.whitening.row_factor**2
    norm = 2 * rows * width * math.sqrt(width) / (facts.records * price)
    rest = (1 - min(descent.step_size, STAGED.longest)) ** descent.iterations
    return noise + STAGED.explained * (rest if corrected else min(1.0, norm)) ** 2


def _last_price(planned: Plan, kind: QueryKind) -> float:
    """μ of one answer of the last step of a kind."""
    step = [step for step in planned.steps if step.kind is kind][-1]
    if step.price is None:
        raise SettingError("Errors are predicted for private plans.")
    event = event_of(step.kind, step.price, planned.relation, step.size)
    return math.sqrt(compose([event]).mu_squared)
