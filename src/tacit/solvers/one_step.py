"""The ordinary fit as a pilot, then one Newton step with the matrices of its variance.

    M = mean w h z z',   Q = mean w² a² z z',   θ = pilot - M⁻¹(g(pilot) + noise)

with row weights w, clipped slopes a and curvatures h. From a pilot with error e the step leaves an
error of order e², and its own noise enters linearly, so that intervals stay centred. Directions
of M that its noise may explain are hidden: there the step is damped, and the pilot stays. So what
intervals cost the coefficients is their share of the budget. How coverage was measured:
docs/inference.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tacit.contract.plan import Forecast, Plan, Solution, Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import ColumnCounts, Gate, QueryKind
from tacit.contract.sensitivity import event_of
from tacit.losses import links, log_link, poisson
from tacit.losses.loss import LOG_LINKED, Code, Loss
from tacit.solvers import staged_gradient, whitened_gradient
from tacit.solvers.coordinates import Coordinates, Matrix, Vector, response_ends
from tacit.solvers.interval_rules import LEVEL, ONE_STEP, START, TAIL, Shares
from tacit.solvers.last_step import LABELS, Pilot, take_step
from tacit.solvers.nuisance import top_rate
from tacit.solvers.plenty_rules import PLENTY, grown, plenty_of
from tacit.solvers.requirements import Requirement, has_intervals, require
from tacit.solvers.response_location import ResponseLocation, locate_response
from tacit.solvers.row_norms import measures_rows
from tacit.solvers.rules import RESPONSE, between
from tacit.solvers.solver import PublicFacts, SolverOptions, assembled, priced, require_passes
from tacit.solvers.staged_gradient import Staged
from tacit.solvers.standardised_start import StandardisedStart, linear_map, standardise, standardised_columns
from tacit.solvers.whitened_gradient import WhitenedGradient, Whitening, moment_steps, sums_before, whiten


def pairs_fit(facts: PublicFacts, _: SolverOptions) -> bool:
    """Whether the factors of all pairs of classes fit into memory: a public number, so that no record decides."""
    return facts.design.outputs**2 * max(32, facts.design.unit_rows) <= 2**19


REQUIRES = (
    Requirement(lambda facts, _: has_intervals(facts.loss), "There are no intervals for the {loss} loss."),
    Requirement(
        pairs_fit, "Intervals for so many classes, or records of a unit, need too much memory: inference=False."
    ),
)


def shares_of(loss: Loss, signal: float) -> Shares:
    """Parts of μ² of a loss's fit with intervals."""
    labels = ONE_STEP.logistic, ONE_STEP.clear_logistic
    rows = {
        **dict.fromkeys(LABELS, labels),
        Code.HUBER: (ONE_STEP.robust, ONE_STEP.robust),
        **dict.fromkeys(LOG_LINKED, (ONE_STEP.counts, ONE_STEP.clear_numbers)),
    }
    return rows.get(loss.code, (ONE_STEP.numbers, ONE_STEP.clear_numbers))[signal >= ONE_STEP.clear]


@dataclass(frozen=True)
class OneStep:
    """Standardised columns, second moments, a pilot, one step.

    Without a `start`, where rows are short by public facts (many indicators), columns are not
    standardised and second moments are those of the pilot. Rows weigh less beyond norm
    `clip_factor`·√(effective dimension).
    """

    start: StandardisedStart | None
    pilot: WhitenedGradient | Staged
    clip_factor: float
    name: str = "one-step"

    intervals: ClassVar[bool] = True
    maps_rows: ClassVar[bool] = True

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for scales, second moments, the pilot's gradients, the step and its matrices."""
        standards = standardise(gate, plan, self.start)
        known = self._ask_response(gate, plan)
        if self.start is None:
            coordinates = whiten(gate, plan, self.pilot.whitening)
        else:
            matrix: Matrix | None = linear_map(plan, standards.centers, standards.scales)
            for ridge in (self.start.ridge, ONE_STEP.second_ridge):
                settings = Whitening(1, ridge, self.start.row_factor, one_in=self.start.one_in)
                coordinates = whiten(gate, plan, settings, matrix)
                matrix = coordinates.matrix
        row = np.append(standards.centers[:-2], 1.0) if plan.design.intercept else None
        pilot = self._descend(gate, plan, coordinates, known)
        pilot = replace(pilot, flat=pilot.flat or hardly_varies(plan, coordinates))
        theta, sandwich = take_step(gate, plan, coordinates, pilot, self.clip_factor, row)
        return Solution(coordinates.prepared(theta), sandwich)

    def _ask_response(self, gate: Gate, plan: Plan) -> ResponseLocation | Vector:
        """Location of a response, the share of the second label, or those of several."""
        if isinstance(self.pilot, Staged):
            return locate_response(gate, plan, self.pilot.locating_response)
        count = plan.design.outputs
        codes = np.arange(count, dtype=np.float64) if count > 1 else np.ones(1)
        answer = gate.ask(ColumnCounts((plan.design.width,) * count, codes - 0.5, codes + 0.5))
        least = min(LEVEL.least_ones / plan.count, LEVEL.least_share)
        least = between(answer.noise_scale / plan.count, least, LEVEL.least_share)
        return np.clip(answer.value / plan.count, least, 1 - least)

    def _descend(self, gate: Gate, plan: Plan, coordinates: Coordinates, known: ResponseLocation | Vector) -> Pilot:
        if isinstance(known, ResponseLocation):
            assert isinstance(self.pilot, Staged)  # noqa: S101 - for the type checker
            theta, residuals = self.pilot.descend_in(gate, plan, coordinates, known)
            start = coordinates.working(staged_gradient.first_coefficients(plan, known))
            if plan.loss.code is Code.POISSON:
                mean = known.mean or 1.0
                loss = poisson.weighted(mean, top_rate(plan, mean), response_ends(plan)[1])
                return Pilot(theta, start, loss, 1.0, mean, 1.0, residuals.size)
            if plan.loss.code in LOG_LINKED:
                mean = known.mean or 1.0
                own = log_link.expected_curvature(plan.loss, mean)
                largest, ends = (
                    response_ends(plan)[1],
                    {"top": top_rate(plan, own), "ratio": LEVEL.ratio.at(plan.signal)},
                )
                loss = log_link.weighted(plan.loss, mean, residuals.size, largest, **ends)
                return Pilot(theta, start, loss, 1.0, mean, 1.0, residuals.size, curvature=own)
            spread = RESPONSE.normal * known.size
            low, high = response_ends(plan)
            flat = known.size < ONE_STEP.flat * (high - low)
            return Pilot(theta, start, plan.loss, spread, size=residuals.size, flat=flat)
        assert isinstance(self.pilot, WhitenedGradient)  # noqa: S101 - for the type checker
        if plan.design.outputs > 1:
            return self._descend_classes(gate, plan, coordinates, known / known.sum())
        share, code = float(known[0]), plan.loss.code
        start = np.zeros(plan.design.width)
        if plan.design.intercept:
            start[-1] = links.margin_of(code, share)
        rare = min(share, 1 - share)
        steepest, own = links.level_parts(code, share)
        loss = plan.loss
        if code is not Code.LOGISTIC:
            logits = own / links.unit(code) ** 2
            top = LEVEL.flattest * own * max(1.0, plan.signal * 4 * logits / 100) ** 0.25
            loss = links.weighted(loss, LEVEL.steepest.at(plan.signal) * steepest, top)
        # Rare labels lie far out, where the curvature is above its mean.
        noise = 2 * plan.step(Purpose.LABEL_SHARE).noise_share(plan.count)
        level = rare if code is Code.LOGISTIC else own / links.unit(code) ** 2
        curvature = min(0.25, LEVEL.rare_curvature * (level + noise))
        flatness = 0.25 / curvature
        descent = self.pilot.descent
        descent = replace(descent, step_size=descent.step_size * flatness)
        theta = self.pilot.descend_in(gate, plan, coordinates, descent, start, flatness)
        asymmetry = max(1 - 2 * rare, ONE_STEP.least_asymmetry)
        working = coordinates.working(start)
        return Pilot(theta, working, loss, 1.0, rare, asymmetry, curvature=own)

    def _descend_classes(self, gate: Gate, plan: Plan, coordinates: Coordinates, shares: Vector) -> Pilot:
        """Descent of all classes from their shares; the rarest decides how asymmetric they are."""
        assert isinstance(self.pilot, WhitenedGradient)  # noqa: S101 - for the type checker
        start = np.zeros((plan.design.width, len(shares)))
        if plan.design.intercept:
            start[-1] = np.log(shares) - np.log(shares).mean()
        theta = self.pilot.descend_in(gate, plan, coordinates, self.pilot.descent, start)
        rare = float(shares.min())
        asymmetry = max(1 - 2 * rare, ONE_STEP.least_asymmetry)
        return Pilot(theta, coordinates.working(start), plan.loss, 1.0, rare, asymmetry)


def hardly_varies(plan: Plan, coordinates: Coordinates) -> bool:
    """Whether the released deviation of a column, other than an indicator, is a tiny part of its declared range.

    With whitening S, z = S'u, the second moments of the prepared row u are (S S')⁻¹. Rows may then lie hundreds of
    deviations out, where weights hide them.
    """
    if coordinates.matrix is None or not plan.design.intercept or not plan.private:
        return False
    root = np.linalg.pinv(coordinates.matrix)
    moments = root.T @ root
    variance = np.diagonal(moments) - np.square(moments[-1]) / max(float(moments[-1, -1]), np.finfo(float).tiny)
    places = [place for place in standardised_columns(plan.design) if place < plan.design.width - 1]
    return bool((variance[places] < ONE_STEP.narrow**-2).any())


BENT = frozenset({Code.LOGISTIC, Code.SOFTMAX, Code.POISSON})
"""Losses that step twice where the signal is large, since their curvature changes on the way."""
ROUNDED = 1e-6
"""A plan loses no more than this part of its budget to whole numbers."""


def plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price a fit with intervals."""
    require(REQUIRES, facts, options)
    signal = facts.interval_signal(allowed)
    plenty = plenty_of(facts.n_mu(allowed), signal, facts.records * facts.design.width)
    shares = _shares(facts, signal, plenty)
    residuals = ONE_STEP.residuals if facts.loss.relative else 0
    near, nearer = near_steps(facts.loss, plenty) if signal >= ONE_STEP.near_signal else ((0, 0), 0)
    norms, beyond = _norm_parts(facts)
    part = _pilot_part(facts, signal, plenty)
    medians = START.medians if facts.design.intercept else 0
    others = residuals + nearer * sum(near) + norms + beyond
    left = allowed * (1 - part)
    spent = left * Fraction(shares.scales, shares.whole + others)
    columns, short = _counted_columns(facts, spent / (medians + START.radii))
    whole = (shares if columns else replace(shares, scales=0)).whole + others

    def cost(hundredths: int) -> Fraction:
        return left * Fraction(hundredths, whole)

    rounds = (TAIL.rounds + 2) * bool(shares.tail) + ONE_STEP.residual_rounds * bool(residuals)
    rounds += 2 * nearer + (ONE_STEP.row_rounds + 1) * bool(norms)
    standardising = medians + START.radii if columns else 0
    inner = _pilot(facts, options, allowed * part, standardising + 2 + 2 + facts.counts + rounds)
    steps: list[Step] = []
    if columns:
        steps.append(priced(facts, QueryKind.COUNTS, spent, standardising, Purpose.STANDARDISING, len(columns)))
    before = {Purpose.RESPONSE_LOCATION, Purpose.RESPONSE_MEAN}
    steps += [step for step in inner.steps if step.purpose in before]
    if shares.level:
        count = facts.design.outputs
        steps.append(priced(facts, QueryKind.COUNTS, cost(shares.level), 1, Purpose.LABEL_SHARE, count))
    moments, asked = cost(shares.moments), (2, 0)
    if short:
        asked = inner.solver.whitening.queries, sums_before(inner.solver.whitening)  # type: ignore[attr-defined]
    steps += moment_steps(facts, moments, *asked)
    steps += [step for step in inner.steps if step.purpose not in before]
    for hundredths, times, purpose, kind in (
        (residuals, ONE_STEP.residual_rounds, Purpose.RESIDUALS, QueryKind.COUNTS),
        (norms, ONE_STEP.row_rounds, Purpose.ROW_NORMS, QueryKind.COUNTS),
        (beyond, 1, Purpose.ROW_TAIL, QueryKind.COUNTS),
        (shares.norms, TAIL.rounds, Purpose.GRADIENT_NORMS, QueryKind.COUNTS),
        (shares.tail, 1, Purpose.GRADIENT_TAIL, QueryKind.COUNTS),
        *_near_pairs(near, nearer),
        (shares.step, 1, Purpose.LAST_STEP, QueryKind.GRADIENT),
        (shares.sandwich, 1, Purpose.CURVATURE_AND_SCORE, QueryKind.SANDWICH),
        (shares.fit, 1, Purpose.NOT_FITTED, QueryKind.COUNTS),
    ):
        if hundredths:
            steps.append(priced(facts, kind, cost(hundredths), times, purpose))
    clip = _row_clip(facts, signal)
    row_factor = ONE_STEP.row_factor.at(signal) if facts.loss.code in BENT else START.row_factor
    one_in = facts.one_in_of_moments(math.sqrt(moments / 2), row_factor)
    start = StandardisedStart(columns, medians, START.radii, START.ridge, row_factor, clip, one_in)
    solver = OneStep(None if short else start, inner.solver, clip)  # type: ignore[arg-type]
    return assembled(facts, solver, steps, _forecast(facts, clip, math.sqrt(cost(shares.step))))


def _shares(facts: PublicFacts, signal: float, plenty: float) -> Shares:
    """Parts of the budget; the curvature of many columns is hard to see."""
    shares = shares_of(facts.loss, signal)
    if signal < ONE_STEP.wide * math.sqrt(facts.design.identified):
        return replace(shares, sandwich=ONE_STEP.wide_sandwich * shares.sandwich)
    return replace(
        shares,
        tail=round(shares.tail * grown(PLENTY.tail, plenty)),
        sandwich=round(shares.sandwich * grown(PLENTY.sandwich, plenty)),
        step=round(shares.step * grown(PLENTY.step, plenty)),
    )


def near_steps(loss: Loss, plenty: float) -> tuple[tuple[int, int], int]:
    """Parts for gradient and curvature of a step before the last, and how many of these there are."""
    most = PLENTY.steps if loss.code in BENT else PLENTY.straight * (loss.code is Code.SQUARED)
    least = int(loss.code in BENT)
    count = round(least + plenty * (most - least))
    return ONE_STEP.near if count == 1 and least else PLENTY.near, count


def _near_pairs(parts: tuple[int, int], count: int) -> list[tuple[int, int, Purpose, QueryKind]]:
    """Gradient and curvature of each step before the last, as they are priced."""
    kinds = QueryKind.GRADIENT, QueryKind.SANDWICH
    return [(part, 1, Purpose.NEAR_STEP, kind) for part, kind in zip(parts, kinds, strict=True)] * count


def _norm_parts(facts: PublicFacts) -> tuple[int, int]:
    """Parts for the norms of rows, where they are asked for."""
    if not measures_rows(facts.loss, facts.design):
        return 0, 0
    return ONE_STEP.label_row_norms if facts.loss.code in LABELS else ONE_STEP.row_norms


def _pilot_part(facts: PublicFacts, signal: float, plenty: float) -> Fraction:
    """Part of μ² of the pilot."""
    growth = ONE_STEP.labels_pilot if facts.loss.code in LABELS else ONE_STEP.numbers_pilot
    usual = growth.at(signal)
    return Fraction(usual * grown(min(1.0, PLENTY.pilot / usual), plenty)).limit_denominator(1000)


def _row_clip(facts: PublicFacts, signal: float) -> float:
    """Norm of rows over √d beyond which they weigh less."""
    by_code = {**dict.fromkeys(LABELS, ONE_STEP.clip), **dict.fromkeys(LOG_LINKED, ONE_STEP.counts_clip)}
    square = by_code.get(facts.loss.code, ONE_STEP.numbers_clip).at(signal)
    if facts.loss.code is Code.SQUARED:
        # No noise but that of the curvature grows with the clip of rows: gradients have one of their own.
        square = max(square, ONE_STEP.seen_rows.at(signal / math.sqrt(facts.design.identified)))
    return math.sqrt(square)


def _counted_columns(facts: PublicFacts, cost: Fraction) -> tuple[tuple[int, ...], bool]:
    """Columns that are standardised by counts of this μ² each, and whether none can be.

    So it is where rows are short by public facts, and where counts would be too noisy.
    """
    columns = tuple(j for j in standardised_columns(facts.design) if j < facts.design.width)
    scale_noise = math.sqrt(len(columns) / cost) / facts.records
    short = facts.design.row_norm**2 <= ONE_STEP.short_rows * facts.design.width
    short = short or scale_noise > ONE_STEP.scale_noise
    return (() if short else columns), short


def _pilot(facts: PublicFacts, options: SolverOptions, allowed: Fraction, others: int) -> Plan:
    """The ordinary fit's plan, without what its second moments and label share would cost.

    These are asked for and paid elsewhere.
    """
    require_passes(options, others)
    most = None if options.max_passes is None else max(1, options.max_passes - others)
    usual = replace(options, solver="auto", inference=False, max_passes=most)
    labels = facts.loss.code in LABELS
    if labels and facts.is_large and options.iterations is None and most is None:
        usual = replace(usual, iterations=ONE_STEP.steps_of_large)
    price = whitened_gradient.descent_plan if labels else staged_gradient.pilot_plan
    # The larger budget is what all steps would cost if those asked for elsewhere were paid too.
    spent = _cost(facts, _own_steps(price(facts, usual, allowed)))
    larger = price(facts, usual, allowed * allowed / spent)
    steps = _own_steps(larger)
    # Shares are not all in proportion to the budget, and what is left must be neither too much
    # nor too little.
    factor = allowed / _cost(facts, steps)
    if not 1 <= factor <= 1 + ROUNDED:
        steps = [priced(facts, it.kind, factor * _cost(facts, [it]), it.times, it.purpose, it.size) for it in steps]
    return replace(larger, steps=tuple(steps))


def _own_steps(planned: Plan) -> list[Step]:
    """What is asked for in the pilot itself."""
    elsewhere = {Purpose.COLUMN_MOMENTS, Purpose.SECOND_MOMENTS, Purpose.LABEL_SHARE}
    return [step for step in planned.steps if step.purpose not in elsewhere]


def _cost(facts: PublicFacts, steps: list[Step]) -> Fraction:
    """μ² of steps together."""
    costs = (
        step.times * event_of(step.kind, step.price, facts.relation, step.size).mu_squared
        for step in steps
        if step.price
    )
    return sum(costs, Fraction(0))


def _forecast(facts: PublicFacts, clip_factor: float, mu: float) -> Forecast | None:
    """Twice ½ tr(M Cov) for the last step's noise σ: d σ² / h, with curvature h in whitened space.

    The second half is for what the pilot leaves.
    """
    if facts.loss.code not in LABELS:
        return None
    width, clip = facts.design.identified, clip_factor * math.sqrt(facts.design.width)
    noise = facts.sensitivity * clip / (facts.records * mu)
    return Forecast(
        width * noise**2 / ONE_STEP.curvature,
        f"the loss has curvature at least {ONE_STEP.curvature:g} in every whitened direction (no "
        "very rare outcome) and few rows are downweighted (expected value)",
    )
