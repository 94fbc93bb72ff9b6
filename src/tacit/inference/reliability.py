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

from tacit.contract.plan import LEAST_EVIDENCE, Plan
from tacit.contract.release import Release, Sandwich
from tacit.design.design import INTERCEPT
from tacit.errors import SettingError
from tacit.inference.covariance import SMALL_NOISE, relative_noise
from tacit.losses.loss import Code

ONE_STEP = "one-step"
"""The route whose coverage was measured in all cells."""
Statement = Literal["nominal", "conservative", "approximate"]

ENOUGH_EVIDENCE = 100.0
"""e from which coverage was measured to be nominal."""
MEASURED_WIDTH, WIDE_EVIDENCE = 10, 30.0
"""Beyond so many coefficients n·μ must also be this times d^1.5."""
LARGE_NOISE = 1.0
"""Relative noise of the curvature beyond which intervals are no longer called nominal."""
RARE_CLASS, RARE_COUNT = 25.0, 100.0
"""e times the smaller share, or times the mean count, below which an intercept is approximate."""
LEAST_COUNTED = 0.1
"""Share of the declared records that weights must come to, as counted."""
ROUNDING = 1e-9
"""A plan loses less than this part of its budget to whole numbers: no reason for a doubt."""
DISPERSED, DISPERSED_EVIDENCE = 0.2, 200.0
"""Overdispersion beyond the first needs evidence beyond the second."""

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
    if plan.solver != ONE_STEP:
        statement, doubts = "approximate", [FEW_CASES, *doubts]
    rare = _intercept_doubts(plan, sandwich)
    intercept: Statement = "approximate" if rare else statement
    safe = bool(doubts) or noise > SMALL_NOISE
    return Judgement(statement, intercept, tuple(doubts), tuple(rare), safe)


def require_offered(plan: Plan) -> None:
    """Refuse intervals where the evidence is too low for them to mean anything: a public fact."""
    reason = not_offered(plan)
    if reason is not None:
        raise SettingError(f"Intervals are not offered: {reason}.")


def not_offered(plan: Plan) -> str | None:
    """Why intervals are not offered, or None where they are."""
    evidence = plan.evidence
    if evidence >= LEAST_EVIDENCE:
        return None
    return (
        f"n·μ/d is {_shown(evidence)}, and below {LEAST_EVIDENCE:g} they would mean nothing; use a "
        "larger epsilon, more records or fewer columns"
    )


def _public_doubts(plan: Plan) -> list[str]:
    width, evidence = plan.design.width, plan.evidence * (1 + ROUNDING)
    if evidence < ENOUGH_EVIDENCE:
        return [f"n·μ/d is {_shown(evidence)}, below {ENOUGH_EVIDENCE:g}"]
    least = WIDE_EVIDENCE * width**1.5
    if width > MEASURED_WIDTH and evidence * width < least:
        return [f"n·μ is {_shown(evidence * width)}, below 30·d^1.5 = {_shown(least)}"]
    return []


def _counted_doubts(plan: Plan) -> list[str]:
    if plan.total is None or plan.count >= LEAST_COUNTED * plan.records:
        return []
    return ["records came to less than a tenth of what was planned for: max_weight may be loose"]


def _released_doubts(sandwich: Sandwich, noise: float) -> list[str]:
    doubts = []
    if noise > LARGE_NOISE:
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
    evidence = plan.evidence
    doubts = []
    if plan.loss.code is Code.LOGISTIC and evidence * sandwich.level < RARE_CLASS:
        heard = _shown(evidence * sandwich.level)
        doubts.append(f"n·μ/d times the share of the rarer class is {heard}, below {RARE_CLASS:g}")
    if plan.loss.code is Code.POISSON:
        if evidence * min(sandwich.level, 1.0) < RARE_COUNT:
            doubts.append(f"n·μ/d times the mean count is below {RARE_COUNT:g}")
        if sandwich.dispersion > DISPERSED and evidence < DISPERSED_EVIDENCE:
            doubts.append(f"counts are overdispersed and n·μ/d is below {DISPERSED_EVIDENCE:g}")
    return doubts


def _shown(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else "infinite"
