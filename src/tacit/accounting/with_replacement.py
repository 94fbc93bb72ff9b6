r"""The profile of a release on records drawn with replacement, under replace-one.

With weights :math:`w_k` of k copies, :math:`\eta = 1 - w_0`, :math:`x = e^{\varepsilon} \ge 1`,
:math:`x' = 1 + (x - 1)/\eta` and :math:`\beta = x/x'`,

.. math:: \delta(\varepsilon) = (1 - \beta)\, H_x\Bigl(\sum_k w_k P_k \Big\| P_0\Bigr)
    + \beta \min\Bigl(\sum_k w_k H_{x'}(P_k \| P_0),\; \eta\, H_{x'}(U \| V)\Bigr),

where :math:`P_k` is k replaced draws away from :math:`P_0` and, for Gaussian noise,
:math:`P_k = N(k\mu, 1)`, :math:`U = \sum_j v_j N((j + 1)\mu, 1)`,
:math:`V = \sum_j v_j N(-j\mu, 1)`, j the copies among the other draws. The first term does not
reveal the number of copies. Below 0 the neighbours are exchanged; then the greatest convex function
below is taken. Proof: ``proofs/accounting/with_replacement.md``.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial

import numpy as np
from scipy import special

from tacit.accounting.copies import NONE_WIDTH, Copies, copies
from tacit.accounting.exact import float_up, root_up
from tacit.accounting.pld.pairs import Profile
from tacit.accounting.pld.pairs.pair import Floats
from tacit.accounting.tally import pure_epsilon
from tacit.privacy.event import Gaussian, SampledWithReplacement

_SLACK = 2.0**-44
_ROOT_HALF = math.sqrt(0.5)
# Losses at which the bound is computed: as fine everywhere as the loss distributions need it.
_PER_OCTAVE, _SMALLEST, _LARGEST = 128, 2.0**-44, 690.0
_LOWEST = 30.0
_LARGEST_MU = 1e50
_SMALLEST_MU = 1e-50
_NEWTON_STEPS = 24
_ENOUGH = 1e-12


def with_replacement_profile(event: SampledWithReplacement) -> Profile | None:
    """Return the profile of draws with replacement, None if the inner release has none.

    Guarantee
    ---------
    - Never below the exact divergence of any two neighbours, in either order.
    - Convex in exp(epsilon), falling, and at most Theorem 10 of Balle, Barthe and Gaboardi (2018)
      but for one part in a thousand, which the chords of a table cost.
    - Equal events give equal profiles, so that counts add up.

    Examples
    --------
    >>> found = with_replacement_profile(SampledWithReplacement(Gaussian(1, 25), 10, 1000))
    >>> found is not None and bool(found.delta_of_epsilon(np.array([0.01]))[0] < 1e-3)
    True
    """
    if isinstance(event.event, Gaussian):
        mu, epsilon = max(root_up(event.event.mu_squared), _SMALLEST_MU), 0.0
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
    drawn, others = copies(draws, population), copies(draws - 1, population)
    octaves = math.ceil(_PER_OCTAVE * math.log2(_LARGEST / _SMALLEST))
    nodes = np.append(0.0, np.geomspace(_SMALLEST, _LARGEST, octaves))
    if epsilon > 0.0:
        # Where randomised response on so many copies has its largest loss the bound has a corner.
        ends = np.log1p(drawn.drawn * np.expm1(np.minimum(drawn.numbers * epsilon, _LARGEST)))
        nodes = np.union1d(nodes, np.minimum(ends * (1.0 + 2.0**-30), _LARGEST))
    # Beyond the range of floats a split is infinite, which is one of the valid splits.
    with np.errstate(over="ignore", divide="ignore"):
        if mu > 0.0:
            above = _gaussian_bound(nodes, mu, drawn, others)
        else:
            above = _pure_bound(nodes, epsilon, drawn)
    tail = min(max(drawn.tail, others.tail), 1.0)
    above = np.minimum.accumulate(np.minimum(above * (1.0 + _SLACK) + tail, 1.0))
    # Further below 0 the profile is 1 - exp(epsilon) up to rounding, which the last chord is too.
    near = nodes[(nodes > 0.0) & (nodes < _LOWEST)][::-1]
    below = -np.expm1(-near) + np.exp(-near) * above[near.size : 0 : -1]
    powers = np.concatenate([[-1.0], np.expm1(-near), np.expm1(nodes)])
    corners = _convex(powers, np.concatenate([[1.0], np.minimum(below, 1.0), above]))
    return Profile(partial(_polygon, corners=corners), limit=tail)


def _polygon(points: Floats, corners: tuple[Floats, Floats]) -> Floats:
    """Chords through corners at exp(epsilon) - 1, so that small losses keep their digits."""
    return np.interp(np.expm1(np.minimum(points, _LARGEST)), *corners) * (1.0 + _SLACK)


def _convex(powers: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Leave out points above the chord of others, until none is."""
    while True:
        slopes = np.diff(values) / np.diff(powers)
        kept = np.concatenate([[True], slopes[:-1] < slopes[1:], [True]])
        if kept.all():
            return powers, values
        powers, values = powers[kept], values[kept]


def _shares(epsilon: Floats, drawn: Copies) -> tuple[Floats, Floats, Floats, Floats]:
    """Weight and logarithmic level of the two terms; any split is valid, this one is good."""
    gap = np.expm1(epsilon) * (1.0 - _SLACK)
    level = gap + drawn.drawn
    first = drawn.none * gap / level * (1.0 - _SLACK)
    second = (1.0 - first) * (1.0 + _SLACK)
    ratio = (epsilon - np.log1p(-first)) * (1.0 - _SLACK)
    return first, np.log(level) - _SLACK, second, ratio


def _gaussian_bound(epsilon: Floats, mu: float, drawn: Copies, others: Copies) -> Floats:
    first, level, second, ratio = _shares(epsilon, drawn)
    revealed = np.zeros_like(epsilon)
    for number, weight in zip(drawn.numbers, drawn.upper, strict=True):
        revealed += weight * _gaussian_delta(ratio, float(number) * mu)
    hidden = drawn.drawn * _two_mixtures(ratio, mu, others)
    total = second * np.minimum(revealed, hidden)
    if drawn.none > 0.0:
        total = total + first * _one_mixture(level, mu, drawn)
    return total


def _one_mixture(level: Floats, mu: float, drawn: Copies) -> Floats:
    """H of the mixture over copies against none, at the split that a common threshold gives."""
    shifts, logs = drawn.numbers * mu, np.log(np.maximum(drawn.upper, 1e-300))
    edge = np.min((level[:, None] - logs + 0.5 * shifts**2) / shifts, axis=1)
    for _ in range(_NEWTON_STEPS):
        value, slope = _log_sum(edge, logs, shifts)
        step = (value - level) / slope
        edge = np.maximum(edge - step, 0.0)
        if np.all(np.abs(step) * slope < _ENOUGH):
            break
    left = level - _log_sum(edge, logs, shifts)[0] - _SLACK * (1.0 + np.abs(level))
    total = np.zeros_like(level)
    for shift, weight in zip(shifts, drawn.upper, strict=True):
        total += weight * _gaussian_delta(shift * (edge - 0.5 * shift) + left, float(shift))
    return total


def _two_mixtures(ratio: Floats, mu: float, others: Copies) -> Floats:
    """H of U against V, at the split that a common threshold gives."""
    if not others.none > 0.0:
        return np.ones_like(ratio)
    numbers = np.append(0.0, others.numbers) * mu
    lower = np.append(others.none, others.lower)
    weights = np.append(min(others.none * (1.0 + NONE_WIDTH), 1.0), others.upper)
    logs, lower_logs = np.log(weights), np.log(np.maximum(lower, 1e-300))
    low, high = np.zeros_like(ratio), (ratio - lower_logs[0]) / mu + mu
    edge = high
    for _ in range(_NEWTON_STEPS):
        above, rise = _log_sum(edge, logs, numbers + mu)
        below, fall = _log_sum(-edge, lower_logs, numbers)
        excess = above - below - ratio
        high, low = np.where(excess > 0.0, edge, high), np.where(excess > 0.0, low, edge)
        edge = edge - excess / (rise + fall)
        edge = np.where((edge >= low) & (edge <= high), edge, 0.5 * (low + high))
        if np.all(np.abs(excess) < _ENOUGH):
            break
    above = _log_sum(edge, logs, numbers + mu)[0]
    below = _log_sum(-edge, lower_logs, numbers)[0]
    left = ratio + below - above
    left -= _SLACK * (1.0 + np.abs(ratio) + np.abs(above) + np.abs(below))
    total = np.zeros_like(ratio)
    for number, weight in zip(numbers, weights, strict=True):
        shift = float(number + mu)
        total += weight * _gaussian_delta(shift * (edge - 0.5 * shift) + left, shift)
        if number > 0.0:
            reverse = float(number) * (edge + 0.5 * float(number))
            ratios = np.exp(np.minimum(ratio - reverse, 600.0))
            total += weight * ratios * _gaussian_delta(reverse, float(number))
    return np.minimum(total, 1.0)


def _log_sum(edge: Floats, logs: Floats, shifts: Floats) -> tuple[Floats, Floats]:
    """Logarithm of the weighted sum of exp(shift edge - shift^2 / 2), and its slope."""
    exponents = np.multiply.outer(edge, shifts) + (logs - 0.5 * shifts**2)
    top = exponents.max(axis=1)
    parts = np.exp(exponents - top[:, None])
    total = parts.sum(axis=1)
    return top + np.log(total), parts @ shifts / total


def _pure_bound(epsilon: Floats, largest: float, drawn: Copies) -> Floats:
    first, level, second, ratio = _shares(epsilon, drawn)
    revealed = np.zeros_like(epsilon)
    sizes = drawn.numbers * largest * (1.0 + _SLACK)
    for size, weight in zip(sizes, drawn.upper, strict=True):
        revealed += weight * _response_delta(ratio, float(size))
    total = second * revealed
    if drawn.none > 0.0:
        total = total + first * _one_staircase(level, sizes, drawn.upper)
    return total


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


def _response_delta(epsilon: Floats, largest: float) -> Floats:
    """The curve of randomised response at its own epsilon, rounded up."""
    return np.maximum(-np.expm1(epsilon - largest), 0.0) / (1.0 + math.exp(-largest))
