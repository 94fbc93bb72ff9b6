"""Evaluations: how good a released model is on private records, by a few noised sums. The model is public by then.

Two labels: the number of wrong ones, the log loss, and a histogram of linear predictors by label, of which the area
under the ROC curve and the calibration are functions. Numbers: sums of squared errors, each at most the square of the
public range. Where a standard error needs second moments of a loss, they are asked for with a part of the budget.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tacit.accounting.composition import mu_squared_of
from tacit.contract.plan import Plan, Solution, Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import Gate, Measure, QueryKind, ResidualSize
from tacit.contract.score_query import ScoreHistogram
from tacit.design.design import Column, Design
from tacit.design.response import Absent, Binary, Continuous
from tacit.errors import SettingError
from tacit.losses.loss import Code
from tacit.solvers.counting import count_records, with_counting
from tacit.solvers.rules import EVALUATION
from tacit.solvers.score_statistics import Scored, area_under_curve, calibration
from tacit.solvers.solver import PublicFacts, assembled, priced

WRONG, ACCURACY, AUC, LOG_LOSS, CALIBRATION = "zero_one_loss", "accuracy", "auc", "log_loss", "calibration"
SQUARED, R2 = "mean_squared_error", "r2"
OF_LABELS, OF_NUMBERS = (WRONG, ACCURACY, AUC, LOG_LOSS, CALIBRATION), (SQUARED, R2)
RESOLVED = 60
"""Coefficients are scaled so that the largest is near 2^60: no margin but 0 is then taken for 0."""
ROUNDED = 2.0**-53
TIMES = {Purpose.SQUARED_RESIDUALS: {R2: 2}, Purpose.LOSS_SPREAD: {R2: 3}}
"""Sums of one purpose, where a score asks for more than one."""


@dataclass(frozen=True)
class Evaluation:
    """Scores of prepared coefficients; `ends` are those of a number, None for two labels, `scale` its unit."""

    theta: tuple[float, ...]
    scores: tuple[str, ...]
    ends: tuple[float, float] | None = None
    scale: float = 1.0
    spread: bool = True
    """Whether the spread of squared errors is asked for; else it is the largest that their range allows."""
    counted: Design | None = None
    """The design of the records, where they are counted first; that of the plan is of the scores."""
    odds: float = 0.0
    """The largest log odds, beyond which they are cut where log losses are summed."""
    edges: tuple[float, ...] = ()
    """Ends of the intervals of a histogram of log odds."""
    groups: int = 1
    known: float = 0.0
    """Deviations of its noise below which a total of the histogram tells nothing."""
    name: str = "evaluation"
    intervals: ClassVar[bool] = False
    maps_rows: ClassVar[bool] = False

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for the sums of every score; the answer are the scores, and their noises and standard errors."""
        n = plan.count if self.counted is None else count_records(gate, replace(plan, design=self.counted)).count
        found = [scored for name in asked_once(self.scores) for scored in self._score(name, gate, n)]
        by_name = {scored.name: scored for scored in found}
        if ACCURACY in self.scores:
            wrong = by_name[WRONG]
            by_name[ACCURACY] = replace(wrong, name=ACCURACY, value=1.0 - wrong.value)
        kept = [by_name[name] for name in self.names]
        return Solution(
            np.array([scored.value for scored in kept]),
            decrements=(*(scored.noise for scored in kept), *(scored.error for scored in kept)),
        )

    @property
    def names(self) -> list[str]:
        """Names of what is released."""
        counts = np.ones((2, len(self.edges) + 1))
        groups = [scored.name for scored in calibration(counts, np.array(self.edges), 0.0, self.groups, self.known)]
        return [name for score in self.scores for name in (groups if score == CALIBRATION else [score])]

    def _score(self, name: str, gate: Gate, n: float) -> list[Scored]:
        if name == AUC:
            return self._histogram(gate)
        return [{WRONG: self._wrong, LOG_LOSS: self._log_loss, SQUARED: self._squared, R2: self._r2}[name](gate, n)]

    def _wrong(self, gate: Gate, n: float) -> Scored:
        """The share of wrong labels."""
        theta = np.array(self.theta)
        largest = float(np.abs(theta).max(initial=0.0))
        exponent = RESOLVED - math.frexp(largest)[1] if largest > 0.0 else 0
        # 1/2 above a margin of 0: labels less predictions are 0 or in [1/2, 1) where they are right.
        right = ResidualSize(
            np.ldexp(theta, exponent), 1.0 - ROUNDED, None, 0.0, 0.5, Measure.WITHIN, start=-(ROUNDED**2)
        )
        answer = gate.ask(right)
        share = min(max(1.0 - float(answer.value[0]) / n, 0.0), 1.0)
        # Two more records of each kind: a share of 0 is not certain.
        pulled = (share * n + 2) / (n + 4)
        return Scored.of(WRONG, share, answer.noise_scale / n, pulled * (1 - pulled) / n)

    def _log_loss(self, gate: Gate, n: float) -> Scored:
        """The mean log loss of log odds that are kept within their ends."""
        theta, cap = np.array(self.theta), math.log1p(math.exp(self.odds))

        def mean(measure: Measure) -> tuple[float, float]:
            query = ResidualSize(theta, cap, None, -self.odds, self.odds, measure)
            answer = gate.ask(query)
            return float(answer.value[0]) / n, answer.noise_scale / n

        (share, noise), square = mean(Measure.LOG_LOSS), mean(Measure.SQUARED_LOG_LOSS)
        return Scored.of(LOG_LOSS, cap * share, cap * noise, cap**2 * variance(share, square) / n, (0.0, cap))

    def _histogram(self, gate: Gate) -> list[Scored]:
        """The area under the curve and the shares of labels, of one histogram."""
        edges = np.array(self.edges)
        answer = gate.ask(ScoreHistogram(np.array(self.theta), edges))
        found = [area_under_curve(answer.value, answer.noise_scale, self.known)]
        return found + calibration(answer.value, edges, answer.noise_scale, self.groups, self.known)

    def _squared(self, gate: Gate, n: float) -> Scored:
        """The mean squared error."""
        unit = (self.scale * self._range) ** 2
        share, noise = self._residuals(gate, n, Measure.SQUARE)
        square = self._residuals(gate, n, Measure.FOURTH) if self.spread else None
        return Scored.of(SQUARED, unit * share, unit * noise, unit**2 * variance(share, square) / n, (0.0, unit))

    def _r2(self, gate: Gate, n: float) -> Scored:
        """1 - A / B with A the mean squared residual and B the variance of the response, in units of the range.

        The sampling variance is that of e² - (A/B)·(y - mean)², over n B².
        """
        low = self._ends[0]
        level = low + self._range * self._residuals(gate, n, Measure.SHARE, about=0.0, start=low)[0]
        level = min(max(level, low), self._ends[1])
        A, noise_a = self._residuals(gate, n, Measure.SQUARE)
        B, noise_b = self._residuals(gate, n, Measure.SQUARE, about=level)
        fourth, unsure = self._residuals(gate, n, Measure.FOURTH)
        spread, _ = self._residuals(gate, n, Measure.FOURTH, about=level)
        cross, _ = self._residuals(gate, n, Measure.CROSS, start=level)
        B = max(B, 2 * noise_b, 1e-12)
        ratio = max(A / B, 0.0)
        sampling = fourth - A**2 + ratio**2 * (spread - B**2) - 2 * ratio * (cross - A * B)
        sampling = max(sampling, 0.0) + unsure * math.hypot(1.0, 2 * ratio, ratio**2)
        noise = math.hypot(noise_a, ratio * noise_b) / B
        return Scored.of(R2, 1.0 - ratio, noise, sampling / (n * B**2), (-math.inf, 1.0))

    def _residuals(
        self, gate: Gate, n: float, measure: Measure, about: float | None = None, start: float = 0.0
    ) -> tuple[float, float]:
        """Mean of a measure of y less the prediction, or less a public number, and its noise."""
        theta, ends = np.array(self.theta), self._ends
        if about is not None:
            theta, ends = np.zeros_like(theta), (about, about)
        answer = gate.ask(ResidualSize(theta, self._range, None, *ends, measure, start=start))
        return float(answer.value[0]) / n, answer.noise_scale / n

    @property
    def _ends(self) -> tuple[float, float]:
        if self.ends is None:
            raise SettingError("Labels have no ends.")
        return self.ends

    @property
    def _range(self) -> float:
        return self._ends[1] - self._ends[0]


def variance(mean: float, square: tuple[float, float] | None) -> float:
    """Variance of a loss within 0 and 1, by its mean square and the noise of that: one deviation is added to it.

    It is at most m(1 - m) (Bhatia and Davis 2000), which is taken where no mean square was asked for.
    """
    kept = min(max(mean, 0.0), 1.0)
    if square is None:
        return kept * (1.0 - kept)
    return min(max(square[0] - kept**2, 0.0) + square[1], kept * (1.0 - kept))


def shares_of(score: str, *, spread: bool) -> dict[Purpose, Fraction]:
    """What a score asks for, and the parts of its budget; without its `spread` the first alone, as in a search."""
    rest, level = EVALUATION.spread_share, EVALUATION.level_share
    moments = EVALUATION.moments_share
    shares: dict[Purpose, Fraction] = {
        WRONG: {Purpose.WRONG_LABELS: Fraction(1)},
        AUC: {Purpose.SCORES: Fraction(1)},
        LOG_LOSS: {Purpose.LOG_LOSS: 1 - rest, Purpose.LOSS_SPREAD: rest},
        SQUARED: {Purpose.SQUARED_RESIDUALS: 1 - rest, Purpose.LOSS_SPREAD: rest},
        R2: {
            Purpose.RESPONSE_MEAN: level,
            Purpose.SQUARED_RESIDUALS: 1 - level - moments,
            Purpose.LOSS_SPREAD: moments,
        },
    }[score]
    return shares if spread else {next(iter(shares)): Fraction(1)}


def asked_once(scores: Sequence[str]) -> list[str]:
    """Scores that are paid for, in order: accuracy is one less the wrong labels, calibration is of the histogram."""
    same = {ACCURACY: WRONG, CALIBRATION: AUC}
    return list(dict.fromkeys(same.get(name, name) for name in scores))


def require_scores(facts: PublicFacts, scores: Sequence[str] | None) -> tuple[str, ...]:
    """The scores asked for, by default the one that a search goes by; refuse what this response does not have."""
    response = facts.design.response
    known: tuple[str, ...] = OF_NUMBERS
    if isinstance(response, Binary):
        known = OF_LABELS if facts.loss.code is Code.LOGISTIC else (WRONG, ACCURACY, AUC)
    elif not isinstance(response, Continuous) or response.is_open:
        raise SettingError(
            "Evaluations on private rows are for two classes and for numbers with declared bounds. Others are free on "
            "public rows: evaluate(tacit.public(X, y))."
        )
    chosen = known[:1] if scores is None else ((scores,) if isinstance(scores, str) else tuple(scores))
    unknown = [name for name in chosen if name not in known]
    if unknown or not chosen or len(set(chosen)) < len(chosen):
        raise SettingError(
            f"scores are one or more of {', '.join(known)}, each once; got {', '.join(map(str, chosen))}."
        )
    return chosen


def plan_evaluation(facts: PublicFacts, theta: tuple[float, ...], scores: Sequence[str] | None = None) -> Plan:
    """Price an evaluation of prepared coefficients; its release are the scores alone, in a design of their own.

    Guarantee: the sums cost at most the budget, the count of the records included where n is private.
    """
    chosen, response = require_scores(facts, scores), facts.design.response
    counted = facts.design if facts.counts else None
    inner = np.linspace(-EVALUATION.odds, EVALUATION.odds, EVALUATION.intervals + 1)[1:-1]
    solver = Evaluation(
        theta,
        chosen,
        spread=scores is not None,
        counted=counted,
        odds=EVALUATION.odds,
        edges=tuple(inner.tolist()),
        groups=EVALUATION.groups,
        known=EVALUATION.known,
    )
    if isinstance(response, Continuous):
        low, high = ((end - response.center) / response.scale for end in (response.lower, response.upper))
        solver = replace(solver, ends=(low, high), scale=response.scale)
    wanted = [
        (purpose, part, TIMES.get(purpose, {}).get(name, 1))
        for name in asked_once(chosen)
        for purpose, part in shares_of(name, spread=solver.spread).items()
    ]
    each = Fraction(1, len(asked_once(chosen)))

    def kind(purpose: Purpose) -> QueryKind:
        return QueryKind.GROUP_MEANS if purpose is Purpose.SCORES else QueryKind.COUNTS

    def rest(allowed: Fraction) -> Plan:
        steps = [priced(facts, kind(it), allowed * each * part, times, it) for it, part, times in wanted]
        return assembled(facts, solver, steps)

    if facts.budget.is_infinite:
        plan = assembled(facts, solver, [Step(kind(it), None, times, it) for it, _, times in wanted])
    else:
        plan = with_counting(facts, mu_squared_of(facts.budget), rest)
    columns = tuple(Column(name, (), -math.inf, math.inf, 0.0, 1.0) for name in solver.names)
    design = Design(columns, Absent(), math.sqrt(len(columns)), intercept=False)
    return replace(plan, design=design, counting=False)
