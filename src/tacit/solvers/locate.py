"""Bounds of columns from noisy counts alone: where a column lies and how wide it is.

A column's median is bisected over a public grid of floats in their order: 2^-64 to 2^64 on either
side of zero, 2^32 of them an octave. So no bounds need to be known to begin with, and a column as
narrow as 2^-32 of its distance from zero is resolved. Then the radius around the median that holds
a share L of the records is bisected over quarter octaves. With noise of standard deviation σ on a
share of the records,

    L = clip(1 - 5σ, .6, .98),   scale = radius / Φ⁻¹((1 + L) / 2),   bounds = median ± 32·scale:

the share is as large as the noise lets one see, and a radius that holds all records is taken for
one that does not at five deviations only. Bounds four deviations away hold nearly all of a normal
column; the rest is for skewed ones, whose few far records carry much of what there is to know.
Looseness costs next to nothing, since whitening takes it up (docs/private_bounds.md).

Between a value that many records share and the other records the share within a radius is flat.
Where it is flat at about L, noise would pick any power of two. So the records on the median are
counted first. With a share p of the records elsewhere, a column with p ≤ 9σ counts as one of a
single value and gets median ± 1, which holds every 0/1 column; else L is at least 1 - p/2.

Which question comes next is a function of earlier answers and public numbers, and how many are
asked is fixed: everything here is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from tacit.contract.gate import Gate
from tacit.contract.plan import Locating, Plan
from tacit.contract.query import ColumnCounts
from tacit.design.design import Design, numeric_column
from tacit.design.response import Continuous
from tacit.errors import SettingError

DIGITS = 32
"""Binary digits of a grid value behind its first."""
OCTAVES = 64
"""Octaves of the grid above 1, and below."""
FARTHEST = 2 * OCTAVES << DIGITS
"""Place of the largest grid value."""
LOCATION_ROUNDS = 1 + FARTHEST.bit_length()
"""One for the number of records, and one for each halving of the places ±FARTHEST."""
STEPS = 4
"""Radii in an octave."""
SCALE_ROUNDS = 2 + (OCTAVES * STEPS).bit_length()
"""The number of records again, the records on the median, and one for each halving of the radii."""
REACH = 32.0
"""Half width of the bounds, in standard deviations of a normal column."""


Vector = NDArray[np.float64]
Places = NDArray[np.int64]

_FIRST = np.float64(2.0**-OCTAVES).view(np.int64) >> (52 - DIGITS)


def grid_value(place: Places) -> Vector:
    """Grid value of a place; places and values have the same order, and place 0 is 0.

    Examples
    --------
    >>> grid_value(np.array([-FARTHEST, 0, OCTAVES << DIGITS])).tolist()
    [-1.8446744073709552e+19, 0.0, 1.0]
    """
    size = ((np.abs(place) + _FIRST) << (52 - DIGITS)).view(np.float64)
    return np.sign(place) * size


def locate(gate: Gate, plan: Plan) -> Design:
    """Ask for the plan's counts; return its design with the bounds that they show.

    Guarantee
    ---------
    - Nothing but the answers of the gate and the plan enters the bounds.
    - The number of questions is the plan's, whatever the answers are.
    - The bounds are finite and apart, whatever the answers are.
    """
    locating = plan.locating
    if locating is None:
        raise SettingError("The plan finds no bounds.")
    most = float(plan.records) if plan.relation.n_is_public else math.inf
    places = _bisect_medians(gate, locating, most)
    median, half = grid_value(places), _half_widths(gate, locating, places, most)
    return with_bounds(plan.design, locating.columns, median - half, median + half)


def _bisect_medians(gate: Gate, locating: Locating, most: float) -> Places:
    """Place of the median of every column."""
    records, _ = _count_records(gate, locating, most)
    below = np.full(len(locating.columns), -np.inf)
    low, high = _ends(len(below), FARTHEST)
    for _ in range(locating.location_rounds - 1):
        middle = (low + high) >> 1
        answer = gate.ask(ColumnCounts(locating.columns, below, grid_value(middle)))
        enough = answer.value >= records / 2
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


def _half_widths(gate: Gate, locating: Locating, places: Places, most: float) -> Vector:
    """Half the distance of the bounds, around the medians at these places."""
    records, uncertain = _count_records(gate, locating, most)
    # A place to either side: where noise decided on the value itself, the median stands beside it.
    ends = grid_value(places - 2), grid_value(places + 1)
    answer = gate.ask(ColumnCounts(locating.columns, *ends))
    noise = math.hypot(answer.noise_scale, uncertain) / records
    elsewhere = 1 - answer.value / records
    single = elsewhere <= min(9 * noise, max(1 - 5 * noise, 0.0))
    share = _shares(elsewhere, noise)
    median = grid_value(places)
    low, high = _ends(len(median), OCTAVES * STEPS)
    for _ in range(locating.scale_rounds - 2):
        middle = (low + high) >> 1
        radius = np.exp2(middle / STEPS)
        answer = gate.ask(ColumnCounts(locating.columns, median - radius, median + radius))
        enough = answer.value >= share * records
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    half = np.where(single, 1.0, np.exp2(high / STEPS) * _reaches(share))
    return np.maximum(half, np.abs(median) * 2.0 ** (1 - DIGITS))


def _shares(elsewhere: Vector, noise: float) -> Vector:
    """Share of the records that the radius is to hold, given those that are not on the median."""
    if noise == 0.0:
        return np.ones_like(elsewhere)
    usual = min(max(1 - 5 * noise, 0.6), 0.98)
    return np.clip(1 - elsewhere / 2, usual, max(1 - 5 * noise, usual))


def _reaches(share: Vector) -> Vector:
    """Half width of the bounds in radii; 1 where the radius holds all (ε = ∞)."""
    return np.array(
        [1.0 if one == 1.0 else REACH / NormalDist().inv_cdf((1 + one) / 2) for one in share]
    )


def _count_records(gate: Gate, locating: Locating, most: float) -> tuple[float, float]:
    """Number of records (the sum of weights), at most `most`, and the noise that is on it."""
    everywhere = np.full(len(locating.columns), np.inf)
    answer = gate.ask(ColumnCounts(locating.columns, -everywhere, everywhere))
    noise = answer.noise_scale / math.sqrt(len(everywhere))
    # Without noise all are the same, and a mean of them might not be, by a last bit.
    records = float(np.mean(answer.value) if noise else np.min(answer.value))
    return min(max(records, noise, 1.0), most), noise


def _ends(count: int, farthest: int) -> tuple[Places, Places]:
    return np.full(count, -farthest, dtype=np.int64), np.full(count, farthest, dtype=np.int64)


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
