"""How reliable intervals are, per coefficient and per combination: a testable word, and why.

- nominal: 95% intervals cover the plain model's population value in 93 to 97% of fits;
- conservative: in at least 94%;
- withheld: neither could be shown, and no interval is given.

Public numbers and released values decide. What was measured, and on which populations:
docs/inference.md. Fits of 0.1, and fits without noise, keep the words they had.
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
from tacit.inference.covariance import relative_noise
from tacit.inference.step_covariance import StepCovariance
from tacit.losses.loss import Code
from tacit.solvers.interval_rules import RELIABILITY
from tacit.solvers.rules import WARNINGS

ONE_STEP = "one-step"
"""The solver whose coverage was measured in all cells."""
Statement = Literal["nominal", "conservative", "approximate", "withheld"]
ROUNDING = 1e-9
"""A plan loses less than this part of its budget to whole numbers, which is no reason to warn."""
FEW_CASES = 'coverage was not shown for this solver; solver="auto" has intervals'


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

    def why(self, combinations: NDArray[np.float64]) -> str:
        """Why intervals of combinations are withheld."""
        del combinations
        return "; ".join(self.reasons)


@dataclass(frozen=True)
class StepJudgement:
    """How reliable the intervals of a one-step fit are.

    Guarantee
    ---------
    - A word is a function of public facts and released values, and asks for nothing.
    - No interval is given where hidden directions, clipped gradients, the noise of the curvature
      or the length of the step may move it by more than the rules allow.
    """

    covariance: StepCovariance
    signal: float

    def of(self, names: tuple[str, ...], combinations: NDArray[np.float64]) -> tuple[str, ...]:
        """Statements of combinations of coefficients, one a row."""
        del names
        causes = self._causes(combinations)
        withheld = np.zeros(len(combinations), dtype=bool)
        doubtful = np.zeros(len(combinations), dtype=bool)
        for _, none, less in causes:
            withheld |= none
            doubtful |= less
        words = np.where(withheld, WITHHELD, np.where(doubtful, "conservative", "nominal"))
        return tuple(words.tolist())

    def _causes(self, combinations: NDArray[np.float64]) -> list[tuple[str, NDArray[np.bool_], NDArray[np.bool_]]]:
        """Each cause in words, where it withholds an interval, and where it makes one doubtful."""
        found, rules = self.covariance.errors(combinations), RELIABILITY
        everyone = np.ones(len(combinations), dtype=bool)
        sandwich = self.covariance.sandwich
        signal = self.signal * (1 + ROUNDING)
        return [
            (HIDDEN, found.hidden > rules.hidden[1], found.hidden > rules.hidden[0]),
            (CLIPPED, found.bias > rules.bias[1], found.bias > rules.bias[0]),
            (NOISY, found.curvature > rules.curvature_most, found.curvature > rules.curvature),
            (
                RARE,
                everyone & (found.second_order > rules.second_order_most),
                everyone & (found.second_order > rules.second_order),
            ),
            (FAINT, found.faint, found.faint),
            (FAR, everyone & (found.far > rules.far_most), everyone & (found.far > rules.far)),
            (CUT, everyone & sandwich.capped, everyone & sandwich.capped),
            (FLAT, everyone & sandwich.flat, everyone & sandwich.flat),
            (NOTHING, everyone & (not self.covariance.any_visible), ~everyone),
            (f"n·μ/d is {_shown(signal)}, below {rules.signal:g}", ~everyone, everyone & (signal < rules.signal)),
        ]

    def why(self, combinations: NDArray[np.float64]) -> str:
        """Why intervals of some combinations are withheld."""
        return "; ".join(text for text, none, _ in self._causes(combinations) if none.any())

    def notes(self, names: tuple[str, ...]) -> list[str]:
        """Why intervals are withheld or conservative, cause by cause."""
        everyone = np.eye(len(names))
        words = np.array(self.of(names, everyone))
        notes = []
        for word, kind in ((WITHHELD, 1), ("conservative", 2)):
            chosen = words == word
            if not chosen.any():
                continue
            reasons = [cause[0] for cause in self._causes(everyone) if (cause[kind] & chosen).any()]
            whom = _listed([name for name, there in zip(names, chosen.tolist(), strict=True) if there])
            notes.append(f"{word.capitalize()} ({whom}): {'; '.join(reasons)}.")
        return notes


WITHHELD = "withheld"
HIDDEN = (
    "noise hides a direction of these columns (rare or merged levels, collinear columns); more "
    "records, a larger epsilon or merged levels would show it"
)
CLIPPED = "large residuals had to be cut off, and what that changes is not small"
NOISY = "the noise of the curvature is not small"
RARE = "the outcome is so rare or the pilot so noisy that a second-order bias remains"
FAINT = (
    "records tell hardly anything of these (a level without a case or without a control?); more records, a larger "
    "epsilon or merged levels would"
)
FAR = "the last step was so long that what it leaves out may matter"
CUT = "the last step was too long and was cut"
FLAT = "the response hardly varies within its declared range; declare narrower bounds"
NOTHING = "no direction stands out of the noise"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def judge(release: Release, sandwich: Sandwich) -> Judgement | StepJudgement:
    """Judge the intervals of a release."""
    plan = release.plan
    if not plan.private:
        if not sandwich.lifted:
            return Judgement("nominal", "nominal", (), (), safe=False)
        reason = "columns are linearly dependent: their coefficients are one choice of many"
        return Judgement("approximate", "approximate", (reason,), (), safe=False)
    if sandwich.step is not None:
        return StepJudgement(StepCovariance(sandwich, plan), plan.signal)
    return _judge_before(plan, sandwich)


def overall(words: tuple[str, ...]) -> str:
    """The one word of all intervals that are given, or the weakest where they differ."""
    weakest_first = ("approximate", "conservative", "nominal")
    return next((word for word in weakest_first if word in words), WITHHELD)


def _judge_before(plan: Plan, sandwich: Sandwich) -> Judgement:
    """Words of a fit of 0.1; intervals of solvers whose coverage was not shown are withheld."""
    noise = relative_noise(sandwich)
    reasons = _reasons(plan, sandwich, noise)
    statement: Statement = "conservative" if reasons else "nominal"
    if plan.solver.name != ONE_STEP:
        statement, reasons = "withheld", [FEW_CASES, *reasons]
    rare = _intercept_reasons(plan, sandwich)
    intercept: Statement = "approximate" if rare and statement != "withheld" else statement
    safe = bool(reasons) or noise > RELIABILITY.small_noise
    return Judgement(statement, intercept, tuple(reasons), tuple(rare), safe)


def not_offered(plan: Plan) -> str | None:
    """Why intervals are not offered, or None where they are: n·μ/d, which is public, decides."""
    signal = plan.signal
    if signal >= WARNINGS.intervals:
        return None
    return (
        f"n·μ/d is {_shown(signal)}, and below {WARNINGS.intervals:g} they would mean nothing; use "
        "a larger epsilon, more records or fewer columns"
    )


def _reasons(plan: Plan, sandwich: Sandwich, noise: float) -> list[str]:
    reasons = []
    width, signal = plan.design.width, plan.signal * (1 + ROUNDING)
    least = RELIABILITY.wide * width**1.5
    if signal < RELIABILITY.signal:
        reasons.append(f"n·μ/d is {_shown(signal)}, below {RELIABILITY.signal:g}")
    elif signal * width < least:
        reasons.append(f"n·μ is {_shown(signal * width)}, below 30·d^1.5 = {_shown(least)}")
    if plan.total is not None and plan.count < RELIABILITY.counted * plan.records:
        reasons.append("records came to less than a tenth of what was planned for: max_weight may be loose")
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
        reasons.append(f"n·μ/d times the share of the rarer class is {heard}, below {RELIABILITY.rare_class:g}")
    if plan.loss.code is Code.POISSON:
        if signal * min(sandwich.level, 1.0) < RELIABILITY.rare_count:
            reasons.append(f"n·μ/d times the mean count is below {RELIABILITY.rare_count:g}")
        if sandwich.dispersion > RELIABILITY.dispersion and signal < RELIABILITY.dispersed:
            reasons.append(f"counts are overdispersed and n·μ/d is below {RELIABILITY.dispersed:g}")
    return reasons


def _shown(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else "infinite"
