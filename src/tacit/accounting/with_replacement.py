r"""Draws with replacement: copies of one record, and the profile of a release under replace-one.

The weight of k copies is :math:`w_k = \binom{m}{k} n^{-k} (1 - 1/n)^{m - k}`. Numbers of copies whose weights vanish
are not listed: their total weight `tail` goes to delta. Where too many are left, neighbouring numbers are read as the
largest of them, because more copies dominate fewer. Proof: ``proofs/accounting/with_replacement.md``.
"""

import math
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from scipy import special

from tacit.accounting.composition import pure_epsilon
from tacit.accounting.pld.pairs.pair import Profile
from tacit.accounting.rounding import Floats, float_up, root_up
from tacit.privacy.event import Gaussian, SampledWithReplacement

# Weight of all numbers that are not listed: no delta in use comes near it.
_NEGLIGIBLE = 1e-40
# So many different numbers are listed one by one.
_MOST_NUMBERS = 400
_TINY_SLACK = 2.0**-46
# Relative distance of the lower bound of the weight of no copy from that weight, at most.
NONE_WIDTH = 2.0**-38
_SLACK = 2.0**-42
_ROOT_HALF = math.sqrt(0.5)
# Losses at which the bound is computed: as fine everywhere as the loss distributions need it.
_PER_OCTAVE, _SMALLEST, _LARGEST = 128, 2.0**-44, 690.0
_LARGEST_MU = 1e50
_NEWTON_STEPS, _ENOUGH = 24, 1e-12
# Averages that rise by less could be equal; numbers of copies this rare are revealed.
_MARGIN, _RARE = 1e-12, 1e-6


@dataclass(frozen=True)
class Copies:
    """The distribution of the number of copies of one record, numbers of at least 1 listed.

    `none` bounds the probability of no copy from below, `drawn` that of at least one from above, and `tail` that of
    everything not listed from above.

    Guarantee: every number is listed as itself or as a larger one, but for a total weight of `tail`; `upper` and
    `lower` are on the two sides of the exact weights of what is listed.
    """

    numbers: Floats
    upper: Floats
    lower: Floats
    none: float
    drawn: float
    tail: float


def copies(draws: int, population: int) -> Copies:
    """Return the distribution of the number of copies of one record, in a time that does not grow with the draws."""
    if draws == 0:
        return Copies(np.empty(0), np.empty(0), np.empty(0), 1.0, 0.0, 0.0)
    if population == 1:
        one = np.ones(1)
        return Copies(float(draws) * (1.0 + _TINY_SLACK) * one, one, one, 0.0, 1.0, 0.0)
    exponent = draws * math.log1p(-1.0 / population)
    none = math.exp(exponent * (1.0 + 2.0**-50)) * (1.0 - _TINY_SLACK)
    drawn = min(-math.expm1(exponent) * (1.0 + _TINY_SLACK), 1.0)
    # By Bernstein's inequality the most probability to exceed the last number.
    mean, level = draws / population, -math.log(_NEGLIGIBLE)
    excess = level / 3.0 + math.sqrt(level * level / 9.0 + 2.0 * level * mean)
    last = math.ceil((mean + excess) * (1.0 + _TINY_SLACK)) + 1
    last, tail = (draws, 0.0) if draws <= last else (last, _NEGLIGIBLE)
    # Beyond this many the largest stands for all: it is then within 1.5% of the mean.
    if last > 10**6:
        return Copies(np.array([float(last)]), np.ones(1), np.zeros(1), none, drawn, tail)
    before = np.arange(0.0, float(last))
    steps = np.log((draws - before) / ((before + 1.0) * (population - 1.0)))
    logs = exponent + np.cumsum(steps)
    largest = np.maximum.accumulate(np.abs(logs) + np.abs(steps)) + abs(exponent) + 2.0
    slack = 2.0**-50 * (before + 4.0) * largest
    upper = np.exp(np.minimum(logs + slack, 0.0))
    lower = np.exp(logs - slack)
    above = np.cumsum(upper[::-1])[::-1] * (1.0 + _TINY_SLACK)
    listed = above > _NEGLIGIBLE
    listed[0] = True
    tail += float(above[~listed].max(initial=0.0))
    numbers, upper, lower = before[listed] + 1.0, upper[listed], lower[listed]
    return Copies(*_merged(numbers, upper, lower), none, drawn, tail)


def _merged(numbers: Floats, upper: Floats, lower: Floats) -> tuple[Floats, Floats, Floats]:
    """Read numbers as the next larger one of at most `_MOST_NUMBERS`."""
    if numbers.size <= _MOST_NUMBERS:
        return numbers, upper, lower
    # Smaller numbers than the first cell are so rare that reading them as its end costs nothing.
    first = numbers[np.searchsorted(np.cumsum(upper), 1e-20)]
    edges = np.unique(np.ceil(np.linspace(first, numbers[-1], _MOST_NUMBERS)))
    cells = np.searchsorted(edges, numbers)
    size = edges.size
    above = np.minimum(np.bincount(cells, upper, size) * (1.0 + _TINY_SLACK), 1.0)
    below: Floats = np.bincount(cells, lower, size).astype(np.float64) * (1.0 - _TINY_SLACK)
    return edges, above, below


def with_replacement_profile(event: SampledWithReplacement) -> Profile | None:
    """Return the profile of draws with replacement, None if the inner release has none.

    Guarantee: never below the exact divergence of any two neighbours, in either order. Convex in exp(epsilon), falling,
    and at most Theorem 10 of Balle, Barthe and Gaboardi (2018) but for one part in a thousand, which the chords of a
    table cost. Equal events give equal profiles, so that counts add up.
    """
    if isinstance(event.event, Gaussian):
        mu, epsilon = max(root_up(event.event.mu_squared), 1e-50), 0.0
    else:
        pure = pure_epsilon(event.event)
        if pure is None:
            return None
        mu, epsilon = 0.0, float_up(pure)
    if mu > _LARGEST_MU or epsilon > _LARGEST_MU:
        return None
    return _profile(mu, epsilon, event.draws, event.population)


@lru_cache(maxsize=256)
def _profile(mu: float, epsilon: float, draws: int, population: int) -> Profile:
    drawn = copies(draws, population)
    octaves = math.ceil(_PER_OCTAVE * math.log2(_LARGEST / _SMALLEST))
    nodes = np.append(0.0, np.geomspace(_SMALLEST, _LARGEST, octaves))
    # Beyond the range of floats a split is infinite, which is one of the valid splits.
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        if mu > 0.0:
            nodes, above = _gaussian_bound(nodes, mu, drawn)
        else:
            nodes, above = _pure_bound(nodes, epsilon, drawn)
    tail = min(drawn.tail, 1.0)
    above = np.minimum.accumulate(np.minimum(above * (1.0 + _SLACK) + tail, 1.0))
    # Further below 0 the profile is 1 - exp(epsilon) up to rounding, which the last chord is too.
    near = np.flatnonzero((nodes > 0.0) & (nodes < 30.0))[::-1]
    below = -np.expm1(-nodes[near]) + np.exp(-nodes[near]) * above[near]
    powers = np.concatenate([[-1.0], np.expm1(-nodes[near]), np.expm1(nodes)])
    corners = _convex(powers, np.concatenate([[1.0], np.minimum(below, 1.0), above]))
    return Profile(partial(_polygon, corners=corners), limit=tail)


def _polygon(points: Floats, corners: tuple[Floats, Floats]) -> Floats:
    """Chords through corners at exp(epsilon) - 1, so that small losses keep their digits."""
    powers, values = corners
    here = np.expm1(np.minimum(points, _LARGEST))
    right = np.clip(np.searchsorted(powers, here), 1, powers.size - 1)
    left = right - 1
    # From the right end both terms are positive: near 0 a long chord keeps its digits too.
    part = np.clip((powers[right] - here) / (powers[right] - powers[left]), 0.0, 1.0)
    chords = values[right] + (values[left] - values[right]) * part
    return np.minimum(chords * (1.0 + _SLACK), 1.0)


def _convex(powers: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Leave out points above the chord of others, until none is."""
    # Nodes whose powers are one float: the first has the largest bound.
    apart = np.append(True, np.diff(powers) > 0.0)
    powers, values = powers[apart], values[apart]
    while True:
        slopes = np.diff(values) / np.diff(powers)
        used = np.concatenate([[True], slopes[:-1] < slopes[1:], [True]])
        if used.all():
            return powers, values
        powers, values = powers[used], values[used]


def _gaussian_bound(nodes: Floats, mu: float, drawn: Copies) -> tuple[Floats, Floats]:
    """Bound delta near each node, at the epsilon to which the threshold there belongs."""
    numbers, weights, rare, width = _levels(drawn)
    shifts = numbers * mu
    threshold = _thresholds(nodes, weights, shifts)
    losses = np.multiply.outer(threshold, shifts) - 0.5 * shifts**2
    averages = _sums_above(weights * np.exp(losses)) / _sums_above(weights)
    rising = averages[:, 1:] > averages[:, :-1] * (1.0 + _MARGIN)
    if numbers[-1] - numbers[0] >= numbers.size:
        # Numbers that were read as larger ones are not known one by one.
        rising[:, int(numbers[0] == 0.0) :] = False
    depth = np.argmin(np.append(rising, np.zeros((nodes.size, 1), dtype=np.bool_), axis=1), axis=1)
    level = np.log(averages[np.arange(nodes.size), depth])
    share = np.minimum(averages[:, 0] * np.exp(-level), 1.0)
    level = level - _SLACK * (1.0 + np.abs(level))
    start = np.log(averages[:, 0]) * (1.0 - _SLACK)
    total = rare * _gaussian_delta(start, float(shifts[0])) if rare > 0.0 else np.zeros_like(nodes)
    for index in np.flatnonzero(shifts > 0.0):
        hidden = _gaussian_delta(losses[:, index], float(shifts[index]))
        known = _gaussian_delta(level, float(shifts[index]))
        mixed = (1.0 - share + _SLACK) * hidden + (share + _SLACK) * known
        total += weights[index] * np.where(index < depth, hidden, mixed)
    epsilon = np.log(averages[:, 0]) + _SLACK * (1.0 + nodes) + 2.0 * width
    used = np.isfinite(epsilon) & np.isfinite(total) & (epsilon >= 0.0)
    epsilon, first = np.unique(epsilon[used], return_index=True)
    return epsilon, total[used][first] * (1.0 + 2.0 * width)


def _levels(drawn: Copies) -> tuple[Floats, Floats, float, float]:
    """Numbers of copies that are hidden, their weights, that of fewer copies, and its precision."""
    numbers = np.append(0.0, drawn.numbers)
    weights = np.append(drawn.none * (1.0 + NONE_WIDTH), drawn.upper)
    lower = np.append(drawn.none, drawn.lower)
    known = lower > 0.0
    width = float(np.max(1.0 - lower[known] / weights[known], initial=0.0))
    least = int(np.searchsorted(np.cumsum(weights), _RARE))
    rare = float(weights[:least].sum()) * (1.0 + _SLACK)
    return numbers[least:], weights[least:], rare, width + _SLACK


def _sums_above(values: Floats) -> Floats:
    """Sum over this index of the last axis and all above it."""
    return np.asarray(np.cumsum(values[..., ::-1], axis=-1)[..., ::-1])


def _thresholds(nodes: Floats, weights: Floats, shifts: Floats) -> Floats:
    """Thresholds at which the average ratio is about the exponential of each node."""
    whole = float(weights.sum())
    moved = shifts > 0.0
    logs, shifts = np.log(np.maximum(weights[moved], 1e-300)), shifts[moved]
    # The sum of what is moved, with no difference of nearly equal numbers.
    level = np.log(whole * np.expm1(nodes) + float(weights[moved].sum()))
    threshold: Floats = np.min((level[:, None] - logs + 0.5 * shifts**2) / shifts, axis=1)
    for _ in range(_NEWTON_STEPS):
        exponents = np.multiply.outer(threshold, shifts) + (logs - 0.5 * shifts**2)
        top = exponents.max(axis=1)
        parts = np.exp(exponents - top[:, None])
        total = parts.sum(axis=1)
        excess = top + np.log(total) - level
        threshold = np.maximum(threshold - excess * total / (parts @ shifts), 0.0)
        if np.all(np.abs(excess) < _ENOUGH):
            break
    return threshold


def _pure_bound(nodes: Floats, epsilon: float, drawn: Copies) -> tuple[Floats, Floats]:
    """Bound delta at the nodes and where the bound has a corner."""
    # Randomised response on so many copies has its largest loss there.
    ends = np.log1p(drawn.drawn * np.expm1(np.minimum(drawn.numbers * epsilon, _LARGEST)))
    nodes = np.union1d(nodes, np.minimum(ends * (1.0 + 2.0**-30), _LARGEST))
    gap = np.expm1(nodes) * (1.0 - _SLACK)
    level = gap + drawn.drawn
    first = drawn.none * gap / level * (1.0 - _SLACK)
    ratio = (nodes - np.log1p(-first)) * (1.0 - _SLACK)
    sizes = drawn.numbers * epsilon * (1.0 + _SLACK)
    revealed = np.zeros_like(nodes)
    for size, weight in zip(sizes.tolist(), drawn.upper, strict=True):
        # The curve of randomised response at its own epsilon, rounded up.
        response = np.maximum(-np.expm1(ratio - size), 0.0) / (1.0 + math.exp(-size))
        revealed += weight * response
    hidden = _one_staircase(np.log(level) - _SLACK, sizes, drawn.upper)
    return nodes, first * hidden + (1.0 - first) * (1.0 + _SLACK) * revealed


def _one_staircase(level: Floats, sizes: Floats, weights: Floats) -> Floats:
    """H of the mixture of randomised responses against none, at the split of one threshold."""
    highs = np.minimum(weights * np.exp(np.minimum(sizes, 700.0)), 1e300)
    lows = weights * np.exp(-sizes)
    # Numbers before the critical one are split at their largest ratio, those after at the least.
    before = np.append(0.0, np.cumsum(highs)) * (1.0 + _SLACK)
    after = np.append(np.cumsum(lows[::-1])[::-1], 0.0) * (1.0 + _SLACK)
    reached = before[1:] + after[1:]
    gains = weights * -np.expm1(-sizes)
    later = np.append(np.cumsum(gains[::-1])[::-1], 0.0)
    target = np.exp(np.minimum(level, 690.0))
    critical = np.searchsorted(np.maximum.accumulate(reached), target)
    inside = critical < sizes.size
    index = np.minimum(critical, sizes.size - 1)
    rest = np.maximum(target - before[index] - after[index + 1], 0.0) / weights[index]
    rest *= 1.0 - _SLACK
    split = np.maximum(np.log(rest), -sizes[index])
    own = weights[index] * np.maximum(-np.expm1(split - sizes[index]), 0.0)
    own = own / (1.0 + np.exp(-sizes[index]))
    return np.where(inside, later[index + 1] + own, 0.0)


def _gaussian_delta(epsilon: Floats, mu: float) -> Floats:
    """The Gaussian curve, rounded up; the forms are those of `tacit.accounting.gaussian`."""
    u = epsilon / mu - 0.5 * mu
    u = u - 2.0**-50 * (np.abs(u) + mu)
    safe = np.clip(u, -38.0, 38.0)
    density = np.exp(-0.5 * safe * safe) / math.sqrt(2.0 * math.pi)
    here = math.sqrt(0.5 * math.pi) * special.erfcx(_ROOT_HALF * np.maximum(safe, 0.0))
    beyond = math.sqrt(0.5 * math.pi) * special.erfcx(_ROOT_HALF * np.maximum(safe + mu, -36.0))
    right = density * (here - beyond + 2.0**-46 * (here + beyond))
    left = special.ndtr(-safe) * (1.0 + 2.0**-46) - density * beyond * (1.0 - 2.0**-46)
    value = np.where(u >= 0.0, right, left) * (1.0 + _SLACK)
    return np.where(u > 38.0, 1e-300, np.where(u < -38.0, 1.0, np.clip(value, 0.0, 1.0)))
