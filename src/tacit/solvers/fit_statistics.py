"""Statistics of a finished fit that are paid for: the mean deviance of the released coefficients.

One query is asked after the fit, at a share of μ² that the plan sets aside: the sum of the deviances and the count of
the records that have one, which invalid records have not. It is the only thing that is told of how
well a model fits: without it there is none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from tacit.contract.deviance_query import DEVIANCE_SUMS, DevianceSum
from tacit.contract.plan import Plan, Solution
from tacit.contract.purpose import Purpose
from tacit.contract.query import Gate, QueryKind
from tacit.contract.released_statistic import DEVIANCE, ReleasedStatistic
from tacit.design.response import Continuous
from tacit.errors import PassesError, SettingError
from tacit.losses.deviances import KNOWN
from tacit.losses.loss import Code, Loss
from tacit.solvers.fit_statistic_rules import FIT_STATISTICS
from tacit.solvers.rules import between
from tacit.solvers.solver import PublicFacts, SolverOptions, priced

Planner = Callable[[PublicFacts, SolverOptions, Fraction], Plan]


def cap_of(loss: Loss) -> float:
    """The public bound at which a record's deviance is clipped, in prepared units."""
    return FIT_STATISTICS.squared if loss.code is Code.SQUARED else FIT_STATISTICS.cap


def require_deviance(facts: PublicFacts, options: SolverOptions) -> None:
    """Refuse a deviance of a loss that is none, without Gaussian noise, or where the whole price is set by hand."""
    if options.noise_multiplier is not None:
        raise SettingError("noise_multiplier sets the price of the whole fit: leave it out, or leave out statistics.")
    if facts.loss.code not in KNOWN:
        families = '"gaussian", "binomial", "probit", "cloglog", "poisson", "negative-binomial" and "gamma"'
        raise SettingError(f'statistics=["deviance"] is for the families {families}.')
    if facts.budget.is_pure:
        raise SettingError('statistics=["deviance"] needs Gaussian noise: use a delta above 0, for example delta=1e-6.')
    from tacit.solvers.interval_rules import EXPONENTIAL

    chooses = options.solver == "exponential" and facts.design.width <= EXPONENTIAL.grid
    if chooses and facts.budget.epsilon is not None and not facts.budget.is_infinite:
        raise SettingError(
            'statistics=["deviance"] is not for solver="exponential", which spends all of epsilon on one choice from a '
            "grid. Choose another solver, or leave out statistics."
        )


def with_statistics(facts: PublicFacts, options: SolverOptions, allowed: Fraction, plan: Planner) -> Plan:
    """Put the statistics after the plan of the rest.

    Guarantee
    ---------
    - They cost at most their share of `allowed`, and the plan before them is given the rest.
    """
    wanted = DEVIANCE_SUMS * (cap_of(facts.loss) / (FIT_STATISTICS.noise * facts.n_mu(allowed))) ** 2
    if facts.loss.code is Code.SQUARED:
        wanted /= FIT_STATISTICS.unexplained**2
    share = Fraction(between(wanted, *FIT_STATISTICS.share))
    most = options.max_passes
    if most is not None and most < 2:
        raise PassesError("max_passes must be at least 2 for a fit with a deviance.")
    rest = replace(options, statistics=(), max_passes=None if most is None else most - 1)
    found = plan(facts, rest, allowed * (1 - share))
    step = priced(facts, QueryKind.COUNTS, allowed * share, 1, Purpose.DEVIANCE, DEVIANCE_SUMS)
    return replace(found, steps=(*found.steps, step), statistics=options.statistics)


def ask_statistics(gate: Gate, plan: Plan, found: Solution) -> tuple[ReleasedStatistic, ...]:
    """Ask for what was planned beside the fit, at the coefficients that are released."""
    if not plan.statistics:
        return ()
    cap = cap_of(plan.loss)
    answer = gate.ask(DevianceSum(np.asarray(found.theta), cap, plan.loss))
    total, counted = (float(entry) for entry in answer.value)
    # A count within its noise, or of less than one record, is none to divide by.
    divisor = max(counted, answer.noise_scale, 1.0)
    share = between(total / divisor, 0.0, 1.0)
    # Of a ratio of two noised sums, to first order.
    noise = answer.noise_scale * math.hypot(1.0, share) / divisor
    if isinstance(plan.design.response, Continuous):
        # Squares of prepared residuals, in units of the response.
        cap *= plan.design.response.scale**2
    return (ReleasedStatistic(DEVIANCE, cap * share, cap * noise, cap),)
