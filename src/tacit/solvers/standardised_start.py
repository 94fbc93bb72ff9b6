"""The start of Newton and of fits with intervals: columns standardised by counts, then whitened.

Twelve bisections for a column's median, then six, over thirteen octaves, for the radius around it
that holds a share of the records as large as the noise lets one see. One answer counts all columns
at once. Values are not clipped: a map to (x - m) / s moves no record and changes no model, and
public bounds enter through the logarithm of their width only. Columns of zeros and ones are not
scaled. Then the level of the response is asked for, and one second-moment query whitens.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from tacit.contract.plan import Plan, Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import ColumnCounts, Gate, QueryKind, SecondMoments
from tacit.design.design import Design
from tacit.design.factor import Indicator
from tacit.design.response import Continuous
from tacit.solvers.coordinates import Coordinates, Matrix, Vector, triangular
from tacit.solvers.interval_rules import START, RoundShares
from tacit.solvers.nuisance import Level, first_level
from tacit.solvers.quantiles import around, bisect_noisy, considered_noise
from tacit.solvers.rules import between
from tacit.solvers.solver import PublicFacts, priced
from tacit.solvers.spectrum import Spectrum, noise_norm

SMALLEST = 1e-12
"""Floor of eigenvalues, over the largest: without noise nothing else makes a root finite."""


@dataclass(frozen=True)
class StandardisedStart:
    """Settings: which columns are counted, how often, and the one second-moment query.

    `columns` are places in the stored record, the response's is the width of the design. `ridge`
    is in noise norms, `row_factor` the norm of rows over √d. The query reads one record in
    `one_in`, if columns were standardised. Rows weigh less beyond norm `clip_factor`·√d.
    """

    columns: tuple[int, ...]
    medians: int
    radii: int
    ridge: float
    row_factor: float
    clip_factor: float
    one_in: int = 1


@dataclass(frozen=True)
class Known:
    """What is known before the first step.

    `clip` is the norm beyond which rows weigh less, `spread` that of the response, in whose units
    steps are long or short.
    """

    coordinates: Coordinates
    start: Vector
    level: Level
    clip: float
    spread: float


@dataclass(frozen=True)
class Standards:
    """Centre and scale of every stored column, response last; 0 and 1 where not asked.

    `rare` are the columns of one value but for a few records; their scale is not changed.
    """

    centers: Vector
    scales: Vector
    rare: tuple[int, ...] = ()


def first_steps(
    facts: PublicFacts, allowed: Fraction, shares: RoundShares, clip_factor: float
) -> tuple[list[Step], StandardisedStart]:
    """Price the counts that standardise, the level of the response, one second-moment query."""
    columns = standardised_columns(facts.design)
    medians = START.medians if facts.design.intercept else 0

    def cost(hundredths: int) -> Fraction:
        return allowed * Fraction(hundredths, 100)

    steps: list[Step] = []
    if columns:
        rounds, size = medians + START.radii, len(columns)
        counts = cost(shares.scales)
        steps.append(priced(facts, QueryKind.COUNTS, counts, rounds, Purpose.STANDARDISING, size))
    if shares.level:
        steps.append(priced(facts, QueryKind.COUNTS, cost(shares.level), 1, Purpose.RESPONSE_LEVEL))
    # What standardising does not need goes to the second moments.
    moments = cost(shares.moments + (0 if columns else shares.scales))
    steps.append(priced(facts, QueryKind.SECOND_MOMENTS, moments, 1, Purpose.SECOND_MOMENTS))
    settings = StandardisedStart(columns, medians, START.radii, START.ridge, START.row_factor, clip_factor)
    return steps, settings


def standardised_columns(design: Design) -> tuple[int, ...]:
    """Places of the columns whose centre and scale are asked for: not those of zeros and ones."""
    places = [
        place
        for place, column in enumerate(design.columns)
        if not column.factors or not all(isinstance(part, Indicator) for part in column.factors)
    ]
    if isinstance(design.response, Continuous):
        places.append(design.width)
    return tuple(places)


def clip_factor_of(signal: float) -> float:
    """Norm over √d beyond which whitened rows weigh less."""
    return math.sqrt(START.clip.at(signal))


def counted_clip(plan: Plan, planned: float) -> float:
    """Clip factor for the records that were counted; never above the planned one."""
    fewer = plan.private and plan.total is not None and plan.count < plan.records
    return min(planned, clip_factor_of(plan.signal)) if fewer else planned


def begin(gate: Gate, plan: Plan, asked: StandardisedStart, clip_factor: float) -> Known:
    """Standardise by counts, ask for the level of the response, whiten once."""
    width = plan.design.width
    found = standardise(gate, plan, asked)
    centers, scales = found.centers, found.scales
    level = first_level(gate, plan, centers, scales)
    clip = clip_factor * math.sqrt(width)
    if plan.private:
        scales[list(found.rare)] /= START.rare_length * clip
    coordinates = whiten_once(gate, plan, asked, linear_map(plan, centers, scales), found.rare)
    start = np.zeros(width)
    if plan.design.intercept:
        start[-1] = level.start
    return Known(coordinates, coordinates.working(start), level, clip, float(scales[-1]))


def standardise(gate: Gate, plan: Plan, asked: StandardisedStart | None) -> Standards:
    """Ask for the counts of all columns, if there are any."""
    if asked is None or not asked.columns:
        return Standards(np.zeros(plan.design.width + 1), np.ones(plan.design.width + 1))
    places = np.array(asked.columns, dtype=np.int64)
    below, noise = np.full(len(places), -math.inf), 0.0
    seen: list[Vector] = []

    def up_to(end: Vector) -> tuple[Vector, float]:
        nonlocal noise
        answer = gate.ask(ColumnCounts(asked.columns, below, end))
        noise = answer.noise_scale / plan.count
        return answer.value / plan.count, considered_noise(noise)

    median = np.zeros(len(places))
    if asked.medians:
        median = bisect_noisy(up_to, median - 1.0, median + 1.0, asked.medians, 0.5)
    share = between(1 - START.noises * noise, *START.held)
    # A scale that is too small does more harm than one that is too large.
    margin = min(START.margin * noise, (1 - share) / 2)

    def within(power: Vector) -> tuple[Vector, float]:
        nonlocal noise
        answer = gate.ask(ColumnCounts(asked.columns, *around(median, np.exp2(power))))
        noise = answer.noise_scale / plan.count
        seen.append(answer.value / plan.count)
        return seen[-1] - margin, considered_noise(noise)

    small, large = np.full(len(places), -float(START.octaves)), np.full(len(places), 1.0)
    power = bisect_noisy(within, small, large, asked.radii, share)
    lowest = -START.octaves + (START.octaves + 1) / 2.0**asked.radii
    scale = np.exp2(power) / NormalDist().inv_cdf((1 + share + margin) / 2)
    # A column of one value but for a few records shows no scale; its own is not changed.
    elsewhere = 1 - np.mean(seen, axis=0)
    constant = (power < lowest) | (np.ptp(seen, axis=0) <= START.constant * noise)
    threshold = START.alone * noise / math.sqrt(asked.radii)
    threshold += START.counted if plan.counting else 0.0
    alone = constant & ((elsewhere > threshold) | _at_zero(plan, places, median))
    scale = np.where(alone, 1.0, scale)
    centers, scales = np.zeros(plan.design.width + 1), np.ones(plan.design.width + 1)
    centers[places], scales[places] = median, scale
    rare = places[alone & (elsewhere <= START.rare) & (places < plan.design.width)]
    return Standards(centers, scales, tuple(rare.tolist()))


def _at_zero(plan: Plan, places: NDArray[np.int64], median: Vector) -> NDArray[np.bool_]:
    """Whether medians lie where the user's zero does, which all but a few records may share."""
    columns = plan.design.columns
    zero = [-columns[j].center / columns[j].scale if j < len(columns) else math.nan for j in places]
    return np.asarray(np.abs(median - np.array(zero)) <= 2.0**-START.near_zero)


def linear_map(plan: Plan, centers: Vector, scales: Vector) -> Matrix:
    """Matrix T with T'(u, 1) = ((u - center) / scale, 1); without an intercept nothing moves."""
    width = plan.design.width
    matrix = np.diag(1.0 / scales[:width])
    if plan.design.intercept:
        matrix[-1, :-1] = -centers[: width - 1] / scales[: width - 1]
        matrix[-1, -1] = 1.0
    return matrix


def whiten_once(
    gate: Gate, plan: Plan, asked: StandardisedStart, matrix: Matrix, rare: tuple[int, ...] = ()
) -> Coordinates:
    """Whiten by one second-moment query of the standardised rows, but for rare columns.

    Whitening would give the few records of a rare column very long rows, and the row weights would
    then remove most of their information.
    """
    width = plan.design.width
    bound = asked.row_factor * math.sqrt(width)
    answer = gate.ask(SecondMoments(bound, matrix))
    extra = np.zeros(width)
    extra[list(rare)] = plan.count
    spectrum = Spectrum.of(answer.value + np.diag(extra))
    floor = SMALLEST * max(float(spectrum.values.max()), 1.0)
    ridge = noise_norm(answer.noise_scale, width, asked.ridge)
    spread = np.maximum(spectrum.values, floor) + ridge
    root = spectrum.with_values(np.sqrt(plan.count / spread))
    return Coordinates(triangular(matrix @ root)[0], float(width))
