"""How reliable intervals are: nominal, conservative or approximate, and why.

Public numbers and released values decide, above all the signal n·μ/d. What was measured, and on
which tables: docs/inference.md.
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
"""The solver whose coverage was measured in all cells."""
Statement = Literal["nominal", "conservative", "approximate"]

ROUNDING = 1e-9
"""A plan loses less than this part of its budget to whole numbers, which is no reason to warn."""

FEW_CASES = 'this solver\'s intervals were measured in few cases; those of solver="auto" in many'


@dataclass(frozen=True)
class Judgement:
    """How reliable a fit's intervals are, those of its intercept too, and why.

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
    """Judge the intervals of a release.

    Guarantee
    ---------
    - Nominal is said only where n·μ ≥ 100 d and n·μ ≥ 30 d^1.5, the
      relative noise of the curvature is at most 1, no eigenvalue was lifted, no step was cut and
      no column has one value but for a few records, and of the one-step solver alone: other
      solvers' intervals are called approximate.
    - Whatever else is said, the noise of the curvature is then in the degrees of freedom.
    - Nor is it said where weights come to less than a tenth of the records as they were planned
      for, nor after a step that may have left an error as large as the standard errors.
    - Public facts and released values alone decide.
    """
    plan = release.plan
    if not plan.private:
        if not sandwich.lifted:
            return Judgement("nominal", "nominal", (), (), safe=False)
        reason = "columns are linearly dependent: their coefficients are one choice of many"
        return Judgement("approximate", "approximate", (reason,), (), safe=False)
    noise = relative_noise(sandwich)
    reasons = [*_public_reasons(plan), *_counted_reasons(plan), *_released_reasons(sandwich, noise)]
    statement: Statement = "conservative" if reasons else "nominal"
    if plan.solver.name != ONE_STEP:
        statement, reasons = "approximate", [FEW_CASES, *reasons]
    rare = _intercept_reasons(plan, sandwich)
    intercept: Statement = "approximate" if rare else statement
    safe = bool(reasons) or noise > RELIABILITY.small_noise
    return Judgement(statement, intercept, tuple(reasons), tuple(rare), safe)


def require_offered(plan: Plan) -> None:
    """Refuse intervals where n·μ/d, a public number, is too small for them to mean anything."""
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


def _public_reasons(plan: Plan) -> list[str]:
    width, signal = plan.design.width, plan.signal * (1 + ROUNDING)
    if signal < RELIABILITY.signal:
        return [f"n·μ/d is {_shown(signal)}, below {RELIABILITY.signal:g}"]
    least = RELIABILITY.wide * width**1.5
    if signal * width < least:
        return [f"n·μ is {_shown(signal * width)}, below 30·d^1.5 = {_shown(least)}"]
    return []


def _counted_reasons(plan: Plan) -> list[str]:
    if plan.total is None or plan.count >= RELIABILITY.counted * plan.records:
        return []
    return ["records came to less than a tenth of what was planned for: max_weight may be loose"]


def _released_reasons(sandwich: Sandwich, noise: float) -> list[str]:
    reasons = []
    if noise > RELIABILITY.noise:
        reasons.append(f"the relative noise of the curvature is {_shown(noise)}, above 1")
    if sandwich.lifted:
        reasons.append("a direction of the curvature drowned in noise and was lifted out of it")
    if sandwich.rare:
        reasons.append("a column has one value but for a few records, too few to be measured on")
    if sandwich.capped:
        reasons.append("the last step was too long and was cut")
    elif sandwich.far:
        reasons.append("the last step was so long that what it leaves out may matter")
    return reasons


def _intercept_reasons(plan: Plan, sandwich: Sandwich) -> list[str]:
    if not plan.design.reports_intercept:
        return []
    signal = plan.signal
    reasons = []
    if plan.loss.code is Code.LOGISTIC and signal * sandwich.level < RELIABILITY.rare_class:
        heard = _shown(signal * sandwich.level)
        reasons.append(
            f"n·μ/d times the share of the rarer class is {heard}, below {RELIABILITY.rare_class:g}"
        )
    if plan.loss.code is Code.POISSON:
        if signal * min(sandwich.level, 1.0) < RELIABILITY.rare_count:
            reasons.append(f"n·μ/d times the mean count is below {RELIABILITY.rare_count:g}")
        if sandwich.dispersion > RELIABILITY.dispersion and signal < RELIABILITY.dispersed:
            reasons.append(f"counts are overdispersed and n·μ/d is below {RELIABILITY.dispersed:g}")
    return reasons


def _shown(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else "infinite"
