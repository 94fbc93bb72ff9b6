"""What may be said of intervals: nominal, conservative or approximate, and why.

Everything is judged by public numbers and released values, e = n·μ/d above all. Where it was
measured, and on what: docs/inference.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tacit.contract.plan import Plan
from tacit.contract.release import Release, Sandwich
from tacit.design.design import INTERCEPT
from tacit.errors import SettingError
from tacit.inference.covariance import relative_noise
from tacit.losses.loss import Code
from tacit.solvers.interval_rules import RELIABILITY
from tacit.solvers.rules import WARNINGS

ONE_STEP = "one-step"
"""The route whose coverage was measured in all cells."""
Statement = Literal["nominal", "conservative", "approximate"]

ROUNDING = 1e-9
"""A plan loses less than this part of its budget to whole numbers: no reason for a doubt."""

FEW_CASES = 'this solver\'s intervals were measured in few cases; those of solver="auto" in many'


@dataclass(frozen=True)
class Judgement:
    """What may be said of a fit's intervals, of those of its intercept, and why.

    `safe` says that the noise of the curvature is in the degrees of freedom.
    """

    statement: Statement
    intercept: Statement
    reasons: tuple[str, ...]
    intercept_reasons: tuple[str, ...]
    safe: bool

    def of(self, names: tuple[str, ...], combinations: NDArray[np.float64]) -> tuple[str, ...]:
        """Statements of combinations of named coefficients, one a row."""
        if INTERCEPT not in names:
            return (self.statement,) * len(combinations)
        touched = combinations[:, names.index(INTERCEPT)] != 0
        return tuple(self.intercept if touch else self.statement for touch in touched.tolist())


def judge(release: Release, sandwich: Sandwich) -> Judgement:
    """Say what may be said.

    Guarantee
    ---------
    - Nominal is said only where n·μ ≥ 100 d, and n·μ ≥ 30 d^1.5 beyond ten coefficients, the
      relative noise of the curvature is at most 1, no eigenvalue was lifted, no step was cut and
      no column has one value but for a few records, and of the one-step route alone: other
      solvers' intervals are called approximate.
    - Whatever else is said, the noise of the curvature is then in the degrees of freedom.
    - Nor is it said where weights come to less than a tenth of the records as they were planned
      for, nor behind a step that may have left an error as large as the standard errors.
    - Public facts and released values alone decide.
    """
    plan = release.plan
    if not plan.private:
        if not sandwich.lifted:
            return Judgement("nominal", "nominal", (), (), safe=False)
        reason = "columns are linearly dependent: their coefficients are one choice of many"
        return Judgement("approximate", "approximate", (reason,), (), safe=False)
    noise = relative_noise(sandwich)
    doubts = [*_public_doubts(plan), *_counted_doubts(plan), *_released_doubts(sandwich, noise)]
    statement: Statement = "conservative" if doubts else "nominal"
    if plan.solver.name != ONE_STEP:
        statement, doubts = "approximate", [FEW_CASES, *doubts]
    rare = _intercept_doubts(plan, sandwich)
    intercept: Statement = "approximate" if rare else statement
    safe = bool(doubts) or noise > RELIABILITY.small_noise
    return Judgement(statement, intercept, tuple(doubts), tuple(rare), safe)


def require_offered(plan: Plan) -> None:
    """Refuse intervals where the signal is too low for them to mean anything: a public fact."""
    reason = not_offered(plan)
    if reason is not None:
        raise SettingError(f"Intervals are not offered: {reason}.")


def not_offered(plan: Plan) -> str | None:
    """Why intervals are not offered, or None where they are."""
    signal = plan.signal
    if signal >= WARNINGS.intervals:
        return None
    return (
        f"n·μ/d is {_shown(signal)}, and below {WARNINGS.intervals:g} they would mean nothing; use "
        "a larger epsilon, more records or fewer columns"
    )


def _public_doubts(plan: Plan) -> list[str]:
    width, signal = plan.design.width, plan.signal * (1 + ROUNDING)
    if signal < RELIABILITY.signal:
        return [f"n·μ/d is {_shown(signal)}, below {RELIABILITY.signal:g}"]
    least = RELIABILITY.wide * width**1.5
    if width > RELIABILITY.width and signal * width < least:
        return [f"n·μ is {_shown(signal * width)}, below 30·d^1.5 = {_shown(least)}"]
    return []


def _counted_doubts(plan: Plan) -> list[str]:
    if plan.total is None or plan.count >= RELIABILITY.counted * plan.records:
        return []
    return ["records came to less than a tenth of what was planned for: max_weight may be loose"]


def _released_doubts(sandwich: Sandwich, noise: float) -> list[str]:
    doubts = []
    if noise > RELIABILITY.noise:
        doubts.append(f"the relative noise of the curvature is {_shown(noise)}, above 1")
    if sandwich.lifted:
        doubts.append("a direction of the curvature drowned in noise and was lifted out of it")
    if sandwich.rare:
        doubts.append("a column has one value but for a few records, too few to be measured on")
    if sandwich.capped:
        doubts.append("the last step was too long and was cut")
    elif sandwich.far:
        doubts.append("the last step was so long that what it leaves out may matter")
    return doubts


def _intercept_doubts(plan: Plan, sandwich: Sandwich) -> list[str]:
    if not plan.design.reports_intercept:
        return []
    signal = plan.signal
    doubts = []
    if plan.loss.code is Code.LOGISTIC and signal * sandwich.level < RELIABILITY.rare_class:
        heard = _shown(signal * sandwich.level)
        doubts.append(
            f"n·μ/d times the share of the rarer class is {heard}, below {RELIABILITY.rare_class:g}"
        )
    if plan.loss.code is Code.POISSON:
        if signal * min(sandwich.level, 1.0) < RELIABILITY.rare_count:
            doubts.append(f"n·μ/d times the mean count is below {RELIABILITY.rare_count:g}")
        if sandwich.dispersion > RELIABILITY.dispersion and signal < RELIABILITY.dispersed:
            doubts.append(f"counts are overdispersed and n·μ/d is below {RELIABILITY.dispersed:g}")
    return doubts


def _shown(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else "infinite"
