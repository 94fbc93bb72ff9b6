"""Descent in whitened coordinates, for labels: private second moments first, then noisy steps.

Where the second moments are the identity, descent needs tens of passes and not hundreds, and its
noise is spread by information, not by the units of the columns. A second query, of rows whitened by
the first, resolves columns that are narrow inside their bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from tacit.contract.plan import Forecast, Penalty, Plan, Solution, Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import Gate, QueryKind, SecondMoments
from tacit.contract.sensitivity import FINEST_BOUND
from tacit.losses.links import unit
from tacit.losses.loss import TWO_LABELS, Code
from tacit.solvers.column_standards import standardised
from tacit.solvers.coordinates import Coordinates, Matrix, Vector, is_lower, times_triangular, triangular
from tacit.solvers.course_correction import Course
from tacit.solvers.label_slope import asks_for_length
from tacit.solvers.label_slope import lengthened as lengthened_margins
from tacit.solvers.label_slope_rules import LABEL_SLOPE
from tacit.solvers.noisy_steps import Descent, descend
from tacit.solvers.response_location import label_start
from tacit.solvers.rules import DESCENT, LABELS, WHITENING, between
from tacit.solvers.solver import (
    CoefficientSolver,
    PublicFacts,
    SolverOptions,
    assembled,
    excess_bound,
    priced,
    require_passes,
)
from tacit.solvers.spectrum import Spectrum, noise_norm
from tacit.solvers.step_correction import counted, label_curvature, lengthened, shortened
from tacit.solvers.wide_rules import COLUMNS

SMALLEST_RIDGE = 1e-7
"""Ridge as a share of the largest eigenvalue there could be: columns without spread grow by it."""
LONGEST_MAP = 1e14
"""Bound on the norm of the map that all queries make: entries of 1e15 would be refused."""


@dataclass(frozen=True)
class Whitening:
    """Second moments: how many queries, the ridge in noise norms, the bound on later rows.

    With `steepest` the ridge is at least what limits a whitened curvature to it. `late_ridge`
    replaces `ridge` from the third query on. Later queries read one record in `one_in`.
    """

    queries: int
    ridge: float
    row_factor: float
    steepest: float | None = None
    late_ridge: float | None = None
    one_in: int = 1

    def ridge_of(self, number: int, noise: float) -> float:
        """Ridge in noise norms; `noise` is the noise norm over the largest eigenvalue.

        An eigenvalue that noise has pushed down by a noise norm would be whitened too much: its
        curvature would be 1 / (1 - noise + ridge), and a step that suits the others too long.
        """
        least = self.ridge
        if number >= WHITENING.late and self.late_ridge is not None:
            least = self.late_ridge
        if self.steepest is None or noise == 0.0:
            return least
        return max(least, (1 / self.steepest - max(0.0, 1.0 - noise)) / noise)


@dataclass(frozen=True)
class StandardisedWhitening(Whitening):
    """The same of a wide table, whose columns are standardised by so many sums before."""

    columns: int = 0


def sums_before(whitening: Whitening) -> int:
    """Return how many sums of columns come before second moments."""
    return whitening.columns if isinstance(whitening, StandardisedWhitening) else 0


def after_sums(whitening: Whitening, columns: int) -> Whitening:
    """Return the same whitening after so many sums of columns."""
    return StandardisedWhitening(**vars(whitening), columns=columns) if columns else whitening


@dataclass(frozen=True)
class WhitenedGradient(CoefficientSolver):
    """Whitening, then descent.

    With `label_start` the share of the second label is asked for first, and the intercept starts
    there; with `uneven` it also makes steps longer. `margin_variance` is the noise variance of the
    margins beyond which steps are shortened. With `follows_count` clip and steps go by the noisy
    count of the records. The length of the margins is asked for in `lengthening` rounds.
    """

    whitening: Whitening
    descent: Descent
    label_start: bool = False
    uneven: bool = False
    margin_variance: float | None = None
    follows_count: bool = False
    lengthening: int = 0
    name: str = "whitened-gradient"

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for the label share, second moments and gradients."""
        start = label_start(gate, plan) if self.label_start else None
        coordinates = whiten(gate, plan, self.whitening)
        descent = self.descent
        if start is not None and self.uneven:
            descent = lengthened(descent, unit(plan.loss.code) * start)
        corrected = bool(sums_before(self.whitening) and self.whitening.queries) and _is_free(plan)
        theta = self.descend_in(gate, plan, coordinates, descent, start, corrected=corrected)
        if self.lengthening:
            theta = lengthened_margins(gate, plan, self.lengthening, coordinates, theta)
        return Solution(coordinates.prepared(theta))

    def descend_in(
        self,
        gate: Gate,
        plan: Plan,
        coordinates: Coordinates,
        descent: Descent,
        start: Vector | None,
        flatness: float = 1.0,
        *,
        corrected: bool = False,
    ) -> Vector:
        """Working coefficients after descent; curvatures are 1 / `flatness` of the usual ones.

        With `corrected` noise and way of every direction are followed, and corrected.
        """
        descent = counted(plan, descent) if self.follows_count else descent
        clip = (descent.clip_factor or 1.0) * math.sqrt(coordinates.dimension)
        clip *= plan.design.unit_rows**-WHITENING.unit_rows
        descent = shortened(plan, descent, coordinates, clip, self.margin_variance, flatness)
        begin = None if start is None else coordinates.working(start)
        # Clips and steps are those of logits.
        logits = unit(plan.loss.code)
        steps = replace(descent, step_size=descent.step_size / logits**2)
        theta, noise = descend(gate, plan, steps, coordinates, begin, clip * logits, plan.loss)
        if not corrected:
            return theta
        course = Course.at_start(coordinates).after(descent, noise / logits**2, label_curvature(descent, flatness))
        start = np.zeros_like(theta) if begin is None else begin
        return start + course.corrected(theta - start, COLUMNS.longest[2])[0]


def _is_free(plan: Plan) -> bool:
    """Whether the result of two labels may be corrected: a penalty has its own say in how far it goes."""
    return plan.loss.code in TWO_LABELS and plan.penalty == Penalty()


def whiten(gate: Gate, plan: Plan, whitening: Whitening, standards: Matrix | None = None) -> Coordinates:
    """Ask for the second moments, each time in the coordinates of the time before.

    With a matrix of `standards` the first time is in standardised coordinates.
    """
    width = plan.design.width
    if columns := sums_before(whitening):
        standards = standardised(gate, plan, columns)
    found = Coordinates(standards, float(width))
    if not whitening.queries:
        return replace(found, directions=(None, np.ones(width)))
    for number in range(whitening.queries):
        first = number == 0 and standards is None
        bound = plan.design.row_norm
        if not first:
            bound = whitening.row_factor * math.sqrt(found.dimension)
        one_in = 1 if first else whitening.one_in
        answer = gate.ask(SecondMoments(bound, found.matrix, every=one_in))
        # Standardised columns are centred and the constant's mean square is known: a ridge would slow the intercept.
        apart = bool(columns) and plan.design.intercept
        spectrum = Spectrum.beside_constant(answer.value, plan.count) if apart else Spectrum.of(answer.value)
        spread = spectrum.denoised(answer.noise_scale)
        norm = noise_norm(answer.noise_scale, width)
        # Whitened rows have mean squares of about 1; those of the first query at most the row norm.
        largest = plan.count * (bound**2 if first else 1.0)
        ridge = norm * whitening.ridge_of(number, norm / largest)
        ridge = max(ridge, SMALLEST_RIDGE * largest)
        if found.matrix is not None:
            # The new map is at most √(count / ridge) times as long as the one before.
            length = float(np.linalg.norm(found.matrix))
            ridge = max(ridge, plan.count * (length / LONGEST_MAP) ** 2)
        whole = spread + ridge
        if apart:
            spread[-1] = whole[-1] = plan.count
        lower, directions = _triangular_map(spectrum, plan.count / whole, found.matrix)
        resolved = spread / whole
        found = Coordinates(
            lower,
            max(1.0, float(np.sum(resolved))),
            (answer.value / plan.count, found.matrix),
            (directions, resolved),
            answer.noise_scale / plan.count,
        )
    return found


def _triangular_map(spectrum: Spectrum, values: Vector, before: Matrix | None) -> tuple[Matrix, Matrix]:
    """Lower triangular form of `before`·U √values U', and the eigenvectors U in its coordinates."""
    if len(values) >= COLUMNS.wide and (before is None or is_lower(before)):
        # Cholesky's factor takes a tenth of the time of a root and its triangular form.
        lower, directions = spectrum.triangular_root(values)
        return times_triangular(before, lower), directions
    root = spectrum.with_values(np.sqrt(values))
    lower, turn = triangular(root if before is None else before @ root)
    return lower, turn.T @ spectrum.vectors


def plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price descent in privately whitened coordinates, for labels, and the length of the margins after it."""
    lengthens = asks_for_length(facts, options) and facts.n_mu(allowed) >= LABEL_SLOPE.least
    return descent_plan(facts, options, allowed, lengthens=lengthens)


def descent_plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction, *, lengthens: bool = False) -> Plan:
    """Price descent in privately whitened coordinates; the length of the margins is asked for if it `lengthens`."""
    signal = facts.signal(allowed)
    queries, share, ridge = moment_queries(facts, signal)
    passes = facts.passes_allowed(options)
    require_passes(options, 1 + facts.counts)
    queries = max(1, min(queries, passes - (options.iterations or 1)))
    spent = queries * share
    columns = column_queries(facts, passes - (options.iterations or 1))
    if columns:
        queries, share = (0, spent / columns) if is_faint(facts, signal) else (1, spent * (1 - columns * COLUMNS.share))
        ridge = COLUMNS.ridge[signal >= LABELS.few_signal]
        if signal < LABELS.few_signal and facts.loss.code in TWO_LABELS:
            ridge = COLUMNS.ridge_of_two
    row_factor = LABELS.row_factor.at(signal)
    one_in = facts.one_in_of_moments(math.sqrt(allowed * share), row_factor)
    recipe = recipe_of(facts, signal)
    iterations = options.iterations or max(1, min(recipe.iterations, passes - queries - columns))
    first = min(max(LABELS.burn_in, iterations // 2), iterations - 1)
    descent = replace(
        recipe,
        iterations=iterations,
        step_size=unit(facts.loss.code) ** 2 * options.step_size if options.step_size else recipe.step_size,
        output=options.output or "tail",
        averaged=(iterations - first) / iterations,
    )
    uneven = signal >= LABELS.uneven_signal and not facts.is_large and options == SolverOptions()
    starts = (
        (signal < LABELS.start_below or uneven)
        and facts.loss.code in TWO_LABELS
        and facts.design.intercept
        and facts.penalty == Penalty()
    )
    label_share = Fraction(0)
    if starts:
        # To a standard error of 1/25: a wrong intercept costs more than wrong slopes, which are short.
        wanted = (LABELS.start_records / facts.records) ** 2 / float(allowed)
        label_share = LABELS.uneven_share if uneven else Fraction(between(wanted, *LABELS.start_share))
    remaining = allowed * (1 - spent - label_share)
    last = remaining * Fraction(LABEL_SLOPE.share.at(facts.n_mu(allowed)) if lengthens else 0)
    remaining -= last
    steps = [
        *moment_steps(facts, allowed * spent, queries, columns),
        priced(facts, QueryKind.GRADIENT, remaining, iterations, Purpose.DESCENT),
    ]
    if starts:
        steps.insert(0, priced(facts, QueryKind.COUNTS, allowed * label_share, 1, Purpose.LABEL_SHARE))
    if lengthens:
        steps.append(priced(facts, QueryKind.COUNTS, last, LABEL_SLOPE.rounds, Purpose.SLOPE))
    limited = facts.loss.code in TWO_LABELS and not options.step_size
    solver = WhitenedGradient(
        after_sums(Whitening(queries, ridge, row_factor, one_in=one_in), columns),
        descent,
        label_start=starts,
        uneven=starts and uneven,
        margin_variance=LABELS.margin_variance if limited else None,
        follows_count=bool(facts.counts) and options.step_size is None,
        lengthening=LABEL_SLOPE.rounds if lengthens else 0,
    )
    return assembled(facts, solver, steps, forecast(facts, descent, math.sqrt(remaining)))


def column_queries(facts: PublicFacts, passes: int) -> int:
    """Number of sums of columns before one query of second moments; none where the table is narrow or passes few."""
    return COLUMNS.queries if facts.design.width >= COLUMNS.wide and passes > COLUMNS.queries else 0


def is_faint(facts: PublicFacts, signal: float) -> bool:
    """Whether a wide table is standardised alone, and never whitened."""
    return facts.design.width >= COLUMNS.alone and signal < COLUMNS.faint


def moment_steps(facts: PublicFacts, allowed: Fraction, queries: int, columns: int) -> list[Step]:
    """Price sums of columns, if there are any, and second moments, if there are any."""
    first = Fraction(0)
    if columns:
        first = allowed * (COLUMNS.share * columns if queries else 1)
    steps = []
    if columns:
        steps.append(priced(facts, QueryKind.COLUMN_MOMENTS, first, columns, Purpose.COLUMN_MOMENTS))
    if queries:
        steps.append(standardised_moments(facts, allowed - first, queries, columns))
    return steps


def standardised_moments(facts: PublicFacts, allowed: Fraction, queries: int, columns: int) -> Step:
    """Price second moments: of standardised columns by short integers, whose products are made faster.

    Rounding displaces a column that is narrower than a step by half a step: less than the noise up to a signal.
    """
    signal = facts.n_mu(allowed) / facts.design.width
    short = columns and facts.design.unit_rows == 1 and signal <= COLUMNS.short
    largest_bound = COLUMNS.steps**2 * facts.design.width if short else FINEST_BOUND
    return priced(
        facts, QueryKind.SECOND_MOMENTS, allowed, queries, Purpose.SECOND_MOMENTS, largest_bound=largest_bound
    )


def moment_queries(facts: PublicFacts, signal: float) -> tuple[int, Fraction, float]:
    """Number of second-moment queries, share of each, ridge in noise norms."""
    width = facts.design.width
    ridge = between(LABELS.ridge * math.sqrt(width), *LABELS.ridge_ends)
    if signal < LABELS.few_signal and width > LABELS.few_columns:
        return 1, LABELS.one_query, LABELS.one_ridge
    if facts.is_large and signal >= LABELS.two_signal:
        return 2, LABELS.two_queries, ridge
    return 3, LABELS.three_queries, ridge


def recipe_of(facts: PublicFacts, signal: float) -> Descent:
    """Clip, steps and momentum of a loss's descent."""
    momentum = LABELS.momentum
    if facts.loss.code in TWO_LABELS:
        clip = LABELS.clip.at(signal)
        eights, root, linear = LABELS.steps
        growth = max(math.sqrt(signal / root), signal / linear)
        iterations = round(eights * between(growth, 1.0, LABELS.most_steps))
        step_size = max(LABELS.step[0], LABELS.step[1] / clip)
    elif facts.loss.code is Code.SOFTMAX:
        # One model of K classes has K times the coordinates, and gradients up to √2 as long.
        spread = signal / math.sqrt(facts.design.outputs)
        clip = LABELS.class_clip.at(spread)
        tens, root = LABELS.class_steps
        iterations = round(tens * between(math.sqrt(spread / root), 1.0, LABELS.most_class_steps))
        step_size = max(LABELS.class_step[0], LABELS.class_step[1] / clip)
        momentum = LABELS.class_momentum if spread >= LABELS.class_signal else momentum
    else:
        clip = LABELS.hinge_clip.at(signal)
        iterations = LABELS.hinge_steps[signal >= LABELS.hinge_signal]
        step_size = 1 / facts.loss.smoothness
    if facts.is_large:
        iterations = min(LABELS.steps_of_large, iterations)
    balanced = facts.loss.code in TWO_LABELS
    return Descent(iterations, step_size, momentum, clip, "tail", balanced=balanced)


def forecast(facts: PublicFacts, descent: Descent, mu: float) -> Forecast | None:
    """The tail bound in whitened coordinates, where ‖θ‖ is the root mean square of the margins."""
    width = facts.design.width
    clip = (descent.clip_factor or 0.0) * math.sqrt(width)
    bound = excess_bound(
        facts.sensitivity * clip / (facts.records * mu),
        width,
        radius=DESCENT.margins,
        time=descent.step_size * descent.iterations / (1 - descent.momentum),
        step_size=descent.step_size,
        smoothness=facts.loss.smoothness,
        output=descent.output,
    )
    if bound is None:
        return None
    return Forecast(
        bound,
        f"the true linear predictor has root mean square at most {DESCENT.margins:g} and few rows "
        "are clipped (expected value)",
    )
