"""How reliable intervals are, per coefficient and per combination: a testable word, and why.

- nominal: 95% intervals cover the plain model's population value in 93 to 97% of fits;
- conservative: in at least 94%;
- withheld: neither could be shown, and no interval is given.

Public numbers and released values decide. What was measured, and on which populations:
docs/inference.md. Intervals of fits without noise are nominal, or approximate where columns are
linearly dependent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.contract.plan import Plan
from tacit.contract.release import Release, Sandwich
from tacit.design.response import Binary, Classes
from tacit.inference.kept_release import KeptPlan, KeptRelease
from tacit.inference.step_covariance import StepCovariance
from tacit.solvers.interval_rules import RELIABILITY
from tacit.solvers.rules import WARNINGS, least_signal

ROUNDING = 1e-9
"""A plan loses less than this part of its budget to whole numbers, which is no reason to warn."""


@dataclass(frozen=True)
class ExactJudgement:
    """How reliable the intervals of a fit without noise are; `dependent` columns have many solutions."""

    dependent: bool

    def of(self, names: tuple[str, ...], combinations: NDArray[np.float64]) -> tuple[str, ...]:
        """Statements of combinations, one a row."""
        del names
        return ("approximate" if self.dependent else "nominal",) * len(combinations)

    def why(self, combinations: NDArray[np.float64]) -> str:
        """Why intervals are withheld: none is."""
        del combinations
        return ""

    def notes(self, names: tuple[str, ...]) -> list[str]:
        """Why intervals are not nominal, and what they are."""
        del names
        hc0 = "Robust standard errors (HC0), normal quantiles."
        return [f"Not nominal, because {DEPENDENT}.", hc0] if self.dependent else [hc0]


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
        _, none, less = zip(*self._causes(combinations), strict=True)
        withheld, conservative = np.any(none, axis=0), np.any(less, axis=0)
        words = np.where(withheld, WITHHELD, np.where(conservative, "conservative", "nominal"))
        return tuple(words.tolist())

    def _causes(self, combinations: NDArray[np.float64]) -> list[tuple[str, NDArray[np.bool_], NDArray[np.bool_]]]:
        """Each cause in words, where it withholds an interval, and where it makes one conservative."""
        found, rules = self.covariance.errors(combinations), RELIABILITY
        sandwich, signal = self.covariance.sandwich, self.signal * (1 + ROUNDING)
        small = f"n·μ/d is {_shown(signal)}, below {rules.signal:g}"
        alone = signal < rules.signal and sandwich.lifted
        # What is measured, above which it makes an interval conservative, and above which it withholds it.
        causes: list[tuple[str, NDArray[Any] | float, float, float]] = [
            (HIDDEN, found.hidden, *rules.hidden),
            (CLIPPED, found.bias, *rules.bias),
            (HIDDEN, alone, 0.0, 0.0),
            (UNSEEN, -self._seen, -rules.seen[0], -rules.seen[1]),
            (NOISY, found.curvature, rules.curvature, rules.curvature_most),
            (RARE, found.second_order, rules.second_order, rules.second_order_most),
            (self._faint, found.faint, 0.0, 0.0),
            (FAR, found.far, rules.far, rules.far_most),
            (CUT, sandwich.capped, 0.0, 0.0),
            (FLAT, sandwich.flat, 0.0, 0.0),
            (NOTHING, not self.covariance.any_visible, math.inf, 0.0),
            (small, -signal, -rules.signal, math.inf),
        ]
        everyone = np.ones(len(combinations), dtype=bool)
        return [(text, everyone & (value > most), everyone & (value > least)) for text, value, least, most in causes]

    @property
    def _seen(self) -> float:
        """Released share of the rarest label over the noise of its count; infinite where there are no labels."""
        sandwich = self.covariance.sandwich
        return sandwich.level / sandwich.level_noise if sandwich.level_noise > 0 else math.inf

    @property
    def _faint(self) -> str:
        """What records may tell so little of: labels have cases and controls, numbers have not."""
        labelled = isinstance(self.covariance.plan.design.response, Binary | Classes)
        return FAINT if labelled else FAINT_NUMBERS

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
            # Two causes may be the same in words.
            reasons = list(dict.fromkeys(reasons))
            if HIDDEN in reasons and chosen.sum() > MOST_HIDING:
                reasons[reasons.index(HIDDEN)] += f" (most of it lies along {self._hiding(names)})"
            whom = _listed([name for name, there in zip(names, chosen.tolist(), strict=True) if there])
            notes.append(f"{word.capitalize()} ({whom}): {'; '.join(reasons)}.")
        weighting = self.covariance.plan.design.attached.weighting
        if (words == WITHHELD).any() and weighting is not None:
            notes.append(WEIGHED.format(weighting.maximum))
        return notes

    def _hiding(self, names: tuple[str, ...]) -> str:
        """The coefficients that have most of the hidden directions in them, in standard errors."""
        hidden = self.covariance.errors(np.eye(len(names))).hidden
        first = np.argsort(-hidden, kind="stable")[:MOST_HIDING]
        return _listed([names[place] for place in first.tolist() if hidden[place] >= hidden[first[0]] / 2])


WITHHELD, MOST_HIDING = "withheld", 3
DEPENDENT = "columns are linearly dependent: their coefficients are one choice of many"
HIDDEN = (
    "noise hides a direction of these columns (rare or merged levels, collinear columns); more "
    "records, a larger epsilon or merged levels would show it"
)
CLIPPED = (
    "large residuals had to be cut off, or rows far out are not fitted, and what that changes is not small; narrower "
    "bounds, the logarithm of a skewed column or a larger epsilon would help"
)
UNSEEN = "the rarer label is hardly seen above the noise of its count; more records or a larger epsilon would show it"
NOISY = "the noise of the curvature is not small"
RARE = "the outcome is so rare or the pilot so noisy that a second-order bias remains"
FAINT = (
    "records tell hardly anything of these (a level without a case or without a control?); more records, a larger "
    "epsilon or merged levels would show it"
)
FAINT_NUMBERS = (
    "what records tell of these is hardly above the noise (a level with few records, few events or small amounts?); "
    "more records, a larger epsilon or merged levels would help"
)
FAR = "the last step was so long that what it leaves out may matter"
CUT = "the last step was too long and was cut"
FLAT = (
    "the response or a column hardly varies within its declared range; declare narrower bounds, or take its logarithm"
)
NOTHING = "no direction stands out of the noise"
WEIGHED = (
    "Records are weighted up to {:g}, and noise hides what one of that weight can change: a maximum of k times the "
    "typical weight is as if there were k times fewer records. A smaller maximum cuts the largest weights and may show "
    "more."
)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def judge(release: Release | KeptRelease, sandwich: Sandwich) -> ExactJudgement | StepJudgement:
    """Judge the intervals of a release."""
    if not release.plan.private:
        return ExactJudgement(sandwich.lifted)
    return StepJudgement(StepCovariance(sandwich, release.plan), release.plan.signal)


def overall(words: tuple[str, ...]) -> str:
    """The one word of all intervals that are given, or the weakest where they differ."""
    weakest_first = ("approximate", "conservative", "nominal")
    return next((word for word in weakest_first if word in words), WITHHELD)


def not_offered(plan: Plan | KeptPlan) -> str | None:
    """Why intervals are not offered, or None where they are: n·μ/d, which is public, decides."""
    signal = plan.signal
    least = least_signal(plan.design.identified) if plan.intervals_declined else WARNINGS.intervals
    if signal >= least:
        return None
    return (
        f"n·μ/d is {_shown(signal)}, and below {_shown(least)} they would mean nothing; use "
        "a larger epsilon, more records or fewer columns"
    )


def _shown(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else "infinite"
