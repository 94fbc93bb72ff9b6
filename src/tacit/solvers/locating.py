"""Private bounds of columns from noisy counts alone: where a column lies and how wide it is.

A column's median is bisected over a public grid of floats in their order: 2^-64 to 2^64 on either
side of zero, 2^32 of them an octave. Then the radius around the median that holds a share L of the
records is bisected over quarter octaves. With noise σ on a share of the records,

    L = clip(1 - 5σ, .6, .98),   scale = radius / Φ⁻¹((1 + L) / 2),   bounds = median ± 32·scale

Where many records share one value the share within a radius is flat, and noise would pick any power
of two. So the records on the median are counted first. With a share p of them elsewhere, a column
with p ≤ 9σ counts as one of a single value and gets median ± 1; else L is at least 1 - p/2.

What it costs: a count for J columns in R rounds has σ = √(2 R J / a) / (n μ) at a share a of μ².
Half of a goes to the location. The share makes σ = .004, but is at most a tenth, or up to a quarter
where σ would exceed 1/16: beyond, more than one decision in 30 000 is wrong, and a plan warns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from tacit.contract.plan import Locating, Plan
from tacit.contract.purpose import Purpose
from tacit.contract.query import ColumnCounts, Gate, QueryKind
from tacit.design.design import Design, numeric_column
from tacit.design.response import Continuous
from tacit.errors import SettingError
from tacit.solvers.coordinates import Vector
from tacit.solvers.quantiles import Places, bisect_places
from tacit.solvers.rules import BOUNDS, WARNINGS, between
from tacit.solvers.solver import PublicFacts, priced

MANTISSA = 52
"""Binary digits of a float after its first."""


def locating_share(records: int, columns: int, mu: float) -> float:
    """Share of μ² that finding the bounds of so many columns gets.

    Examples
    --------
    >>> [round(locating_share(n, 10, 1.0), 4) for n in (100_000, 10_000, 5_000, 500)]
    [0.0014, 0.1, 0.1, 0.2299]
    """

    def needed(noise: float) -> float:
        return 2 * BOUNDS.scale_rounds * columns / (records * mu * noise) ** 2

    noisiest = needed(BOUNDS.margin * WARNINGS.count_noise)
    return min(needed(BOUNDS.smallest_noise), between(noisiest, BOUNDS.share, BOUNDS.largest_share))


def with_locating(facts: PublicFacts, allowed: Fraction, rest: Callable[[Fraction], Plan]) -> Plan:
    """Put the counts before the plan of the rest.

    Guarantee
    ---------
    - The counts cost at most their share of `allowed`, and the plan after them is given the rest.
    """
    places = facts.design.open_places
    share = Fraction(locating_share(facts.records, len(places), math.sqrt(allowed)))
    half = allowed * share / 2
    rounds = BOUNDS.location_rounds, BOUNDS.scale_rounds
    steps = tuple(
        priced(facts, QueryKind.COUNTS, half, times, purpose, len(places))
        for times, purpose in zip(rounds, (Purpose.LOCATION, Purpose.SCALE), strict=True)
    )
    noise = steps[-1].noise_share(facts.records)
    plan = rest(allowed * (1 - share))
    locating = Locating(places, *rounds, noise)
    return replace(plan, steps=(*steps, *plan.steps), locating=locating)


def exact_locating(design: Design) -> Locating | None:
    """Bounds that hold every record, for plans without noise (ε = ∞)."""
    places = design.open_places
    return Locating(places, BOUNDS.location_rounds, BOUNDS.scale_rounds) if places else None


def locate(gate: Gate, plan: Plan) -> Design:
    """Ask for the plan's counts; return its design with the bounds that they show.

    Guarantee
    ---------
    - Nothing but the answers of the gate and the plan enters the bounds.
    - Whatever the answers are, the number of questions is the plan's, and the bounds are finite and apart.
    """
    locating = plan.locating
    if locating is None:
        raise SettingError("The plan finds no bounds.")
    most = float(plan.records) if plan.relation.n_is_public else math.inf
    places = _medians(gate, locating, most)
    median, half = grid_value(places), _half_widths(gate, locating, places, most)
    return with_bounds(plan.design, locating.columns, median - half, median + half)


def grid_value(place: Places) -> Vector:
    """Grid value of a place; places and values have the same order, and place 0 is 0.

    Examples
    --------
    >>> grid_value(np.array([-BOUNDS.farthest, 0, BOUNDS.octaves << BOUNDS.digits])).tolist()
    [-1.8446744073709552e+19, 0.0, 1.0]
    """
    dropped = MANTISSA - BOUNDS.digits
    first = np.float64(2.0**-BOUNDS.octaves).view(np.int64) >> dropped
    size = ((np.abs(place) + first) << dropped).view(np.float64)
    return np.sign(place) * size


def _medians(gate: Gate, locating: Locating, most: float) -> Places:
    """Place of the median of every column."""
    records, _ = _count_records(gate, locating, most)
    columns = locating.columns
    below = np.full(len(columns), -np.inf)

    def enough(place: Places) -> NDArray[np.bool_]:
        answer = gate.ask(ColumnCounts(columns, below, grid_value(place)))
        return np.asarray(answer.value >= records / 2)

    return bisect_places(enough, BOUNDS.farthest, len(columns), locating.location_rounds - 1)


def _half_widths(gate: Gate, locating: Locating, places: Places, most: float) -> Vector:
    """Half the distance of the bounds, around the medians at these places."""
    columns = locating.columns
    records, uncertain = _count_records(gate, locating, most)
    # A place to either side: where noise decided on the value itself, the median stands next to it.
    ends = grid_value(places - 2), grid_value(places + 1)
    answer = gate.ask(ColumnCounts(columns, *ends))
    noise = math.hypot(answer.noise_scale, uncertain) / records
    elsewhere = 1 - answer.value / records
    single = elsewhere <= min(BOUNDS.single * noise, max(1 - BOUNDS.noises * noise, 0.0))
    share = _shares(elsewhere, noise)
    median = grid_value(places)

    def enough(power: Places) -> NDArray[np.bool_]:
        radius = np.exp2(power / BOUNDS.radii)
        found = gate.ask(ColumnCounts(columns, median - radius, median + radius))
        return np.asarray(found.value >= share * records)

    farthest = BOUNDS.octaves * BOUNDS.radii
    power = bisect_places(enough, farthest, len(columns), locating.scale_rounds - 2)
    half = np.where(single, 1.0, np.exp2(power / BOUNDS.radii) * _radii(share))
    return np.maximum(half, np.abs(median) * 2.0 ** (1 - BOUNDS.digits))


def _shares(elsewhere: Vector, noise: float) -> Vector:
    """Share of the records that the radius is to hold, given those that are not on the median."""
    if noise == 0.0:
        return np.ones_like(elsewhere)
    usual = between(1 - BOUNDS.noises * noise, *BOUNDS.held)
    return np.clip(1 - elsewhere / 2, usual, max(1 - BOUNDS.noises * noise, usual))


def _radii(share: Vector) -> Vector:
    """Half width of the bounds in radii; 1 where the radius holds all (ε = ∞)."""
    normal, width = NormalDist(), BOUNDS.half_width
    return np.array([1.0 if one == 1.0 else width / normal.inv_cdf((1 + one) / 2) for one in share])


def _count_records(gate: Gate, locating: Locating, most: float) -> tuple[float, float]:
    """Number of records (the sum of weights), at most `most`, and the noise that is on it."""
    everywhere = np.full(len(locating.columns), np.inf)
    answer = gate.ask(ColumnCounts(locating.columns, -everywhere, everywhere))
    noise = answer.noise_scale / math.sqrt(len(everywhere))
    # Without noise all are the same, and a mean of them might not be, by a last bit.
    records = float(np.mean(answer.value) if noise else np.min(answer.value))
    return min(max(records, noise, 1.0), most), noise


def with_bounds(design: Design, places: Sequence[int], lower: Vector, upper: Vector) -> Design:
    """Return the design with these bounds of the columns at some places, as `open_places` has."""
    columns, response = list(design.columns), design.response
    for place, low, high in zip(places, lower.tolist(), upper.tolist(), strict=True):
        if place < len(columns):
            bounded = numeric_column(columns[place].name, low, high, centred=design.intercept)
            columns[place] = replace(bounded, factors=columns[place].factors)
        elif isinstance(response, Continuous):
            response = Continuous.of(response.column, low, high, centred=design.intercept)
    return replace(design, columns=tuple(columns), response=response)
