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

from tacit.contract.plan import LEAST_EVIDENCE, Plan
from tacit.contract.release import Release, Sandwich
from tacit.design.design import INTERCEPT
from tacit.errors import SettingError
from tacit.inference.covariance import SMALL_NOISE, relative_noise
from tacit.losses.loss import Code

ONE_STEP = "one-step"
"""The solver whose coverage was measured in all cells."""
Statement = Literal["nominal", "conservative", "approximate"]

NOMINAL_SIGNAL = 100.0
"""n·μ/d from which coverage was measured to be nominal."""
MEASURED_WIDTH, WIDE_SIGNAL = 10, 30.0
"""Beyond so many coefficients n·μ must also be this times d^1.5."""
LARGE_NOISE = 1.0
"""Relative noise of the curvature beyond which intervals are no longer called nominal."""
RARE_CLASS, RARE_COUNT = 25.0, 100.0
"""n·μ/d times the smaller share, or the mean count, below which an intercept is approximate."""
LEAST_COUNTED = 0.1
"""Share of the declared records that weights must come to, as counted."""
ROUNDING = 1e-9
"""A plan loses less than this part of its budget to whole numbers, which is no reason to warn."""
DISPERSED, DISPERSED_SIGNAL = 0.2, 200.0
"""Overdispersion beyond the first needs n·μ/d beyond the second."""

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
    - Nominal is said only where n·μ ≥ 100 d, and n·μ ≥ 30 d^1.5 beyond ten coefficients, the
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
    if plan.solver != ONE_STEP:
        statement, reasons = "approximate", [FEW_CASES, *reasons]
    rare = _intercept_reasons(plan, sandwich)
    intercept: Statement = "approximate" if rare else statement
    safe = bool(reasons) or noise > SMALL_NOISE
    return Judgement(statement, intercept, tuple(reasons), tuple(rare), safe)


def require_offered(plan: Plan) -> None:
    """Refuse intervals where n·μ/d, a public number, is too small for them to mean anything."""
    reason = not_offered(plan)
    if reason is not None:
        raise SettingError(f"Intervals are not offered: {reason}.")


def not_offered(plan: Plan) -> str | None:
    """Why intervals are not offered, or None where they are."""
    signal = plan.evidence
    if signal >= LEAST_EVIDENCE:
        return None
    return (
        f"n·μ/d is {_shown(signal)}, and below {LEAST_EVIDENCE:g} they would mean nothing; use a "
        "larger epsilon, more records or fewer columns"
    )


def _public_reasons(plan: Plan) -> list[str]:
    width, signal = plan.design.width, plan.evidence * (1 + ROUNDING)
    if signal < NOMINAL_SIGNAL:
        return [f"n·μ/d is {_shown(signal)}, below {NOMINAL_SIGNAL:g}"]
    least = WIDE_SIGNAL * width**1.5
    if width > MEASURED_WIDTH and signal * width < least:
        return [f"n·μ is {_shown(signal * width)}, below 30·d^1.5 = {_shown(least)}"]
    return []


def _counted_reasons(plan: Plan) -> list[str]:
    if plan.total is None or plan.count >= LEAST_COUNTED * plan.records:
        return []
    return ["records came to less than a tenth of what was planned for: max_weight may be loose"]


def _released_reasons(sandwich: Sandwich, noise: float) -> list[str]:
    reasons = []
    if noise > LARGE_NOISE:
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
    signal = plan.evidence
    reasons = []
    if plan.loss.code is Code.LOGISTIC and signal * sandwich.level < RARE_CLASS:
        heard = _shown(signal * sandwich.level)
        reasons.append(f"n·μ/d times the share of the rarer class is {heard}, below {RARE_CLASS:g}")
    if plan.loss.code is Code.POISSON:
        if signal * min(sandwich.level, 1.0) < RARE_COUNT:
            reasons.append(f"n·μ/d times the mean count is below {RARE_COUNT:g}")
        if sandwich.dispersion > DISPERSED and signal < DISPERSED_SIGNAL:
            reasons.append(f"counts are overdispersed and n·μ/d is below {DISPERSED_SIGNAL:g}")
    return reasons


def _shown(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else "infinite"
