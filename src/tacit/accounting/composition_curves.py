r"""A composition as arrays: its privacy-loss distribution, profile, trade-off function and Rényi curve.

With losses :math:`y_k`, masses :math:`m_k` and the mass :math:`m_\infty` of an infinite loss,

.. math:: \delta(\varepsilon) = m_\infty + \sum_{y_k > \varepsilon} m_k (1 - e^{\varepsilon - y_k}).

Every error of the transform is put into the arrays, so that this sum of an upper distribution is never below the exact
profile of its direction. Proofs: ``proofs/accounting/composition_curves.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import ArrayLike

from tacit.accounting import classical, gaussian, pld
from tacit.accounting.dominating_pairs import pairs_of
from tacit.accounting.event_curves import total_curve
from tacit.accounting.pld.distribution import Bound, dyadic, from_pair
from tacit.accounting.pld.grid_choice import coarse_pass, on_lattice, resolve, with_atoms
from tacit.accounting.pld.pairs.pair import DIRECTIONS, UNIT, Direction, Pair
from tacit.accounting.pld.transform import Transform, transform
from tacit.accounting.rounding import Floats
from tacit.errors import AccountingError, SettingError
from tacit.validate import one_of

if TYPE_CHECKING:
    from tacit.accounting.composition import Composition

SMALLEST_DELTA = 1e-9
_LEAST = 1e-11  # An untilted transform is exact to about 1e-15.
_FINEST = 20_000
# A lower bound is second order only where the grid resolves the bulk of every loss.
_ACCURACY = {"upper": 1e-3, "lower": 1e-5}
_SUMMING = 2.0**-40  # Covers the rounding of whoever adds up a million masses.
_NOISE = 2.0**-50  # Masses below this part of the largest one are mostly round-off.
_FEW = 12  # So many points of a profile are computed one by one.
_RELIABLE = 10.0  # Below so many times the smallest delta, one by one as well.
_EPSILONS = 121


@dataclass(frozen=True, eq=False)
class LossArrays:
    """The privacy loss of a composition in one direction: increasing `losses`, their `masses`, and that of `infinite`.

    Guarantee: with ``bound="upper"``, `delta` is never below the exact profile of this direction; with "lower" never
    above that of some releases on some neighbours. `slack` is what "lower" takes off; at "upper" it is 0, and `delta`
    is the plain sum over the arrays.
    """

    direction: Direction
    bound: Bound
    losses: Floats
    masses: Floats
    infinite: float
    slack: float

    def delta(self, epsilons: ArrayLike) -> Floats:
        """Return the profile at each epsilon."""
        return np.array([self.delta_at(float(epsilon)) for epsilon in _array("epsilons", epsilons)])

    def delta_at(self, epsilon: float) -> float:
        """Return the profile at one epsilon."""
        above = np.searchsorted(self.losses, epsilon, side="right")
        gaps = self.losses[above:] - epsilon
        total = self.infinite - float((self.masses[above:] * np.expm1(-gaps)).sum()) - self.slack
        return min(max(total, 0.0), 1.0)


def loss_distribution(
    composition: Composition, direction: str = "remove", *, bound: str = "upper", smallest_delta: float = SMALLEST_DELTA
) -> LossArrays:
    """Return the privacy-loss distribution of a composition as arrays.

    `direction` is "remove" (the loss under the first of two neighbours) or "add"; a guarantee holds for both. Tails of
    less than about `smallest_delta` are infinite losses in an upper distribution, and left out of a lower one.
    """
    way = cast("Direction", one_of("direction", direction, DIRECTIONS))
    side = cast("Bound", one_of("bound", bound, ("upper", "lower")))
    if not _LEAST <= smallest_delta < 1.0:
        raise SettingError(f"smallest_delta is {smallest_delta!r}; expected a number from {_LEAST:g} to below 1")
    counts, relation = composition.releases, composition.relation
    if not counts:
        return LossArrays(way, side, np.zeros(1), np.ones(1), 0.0, 0.0)
    items = pairs_of(counts, relation, attained=side == "lower")
    if items is None:
        what = "no pair is known that they attain" if side == "lower" else "they have no dominating pair"
        raise AccountingError(
            f"these events have no {side} privacy-loss distribution: {what}; read renyi_curve instead"
        )
    try:
        return _arrays(composed_loss(items, way, smallest_delta, side), way)
    except (pld.GridTooLong, pld.BelowRoundOff) as error:
        use = "read epsilon(delta), delta(epsilon) or renyi_curve(orders) instead"
        raise AccountingError(
            f"the privacy-loss distribution is out of its numerical range ({error}); {use}"
        ) from error


def composed_loss(
    items: Sequence[tuple[Pair, int]], direction: Direction, delta: float, bound: Bound = "upper"
) -> Transform:
    """Return the composed loss of pairs in one direction, not tilted, for deltas down to about the given one."""
    coarse = coarse_pass(items, direction)
    aim = coarse.aim_at_delta(delta)
    window, width = coarse.window(0.0, aim)
    chosen = resolve(items, direction, coarse, aim, _ACCURACY[bound])
    grids = list(chosen.grids)
    if width < _FINEST * chosen.step:
        # Enough for the price of few steps, but too coarse to be looked at.
        step = on_lattice(items, width / _FINEST, width)
        ranges = zip(items, *coarse.ranges(aim), strict=True)
        grids = [
            with_atoms(dyadic(step, center=0, low=low, high=high + step, per_octave=_FINEST), pair, direction)
            for (pair, _), low, high in ranges
        ]
    pairs = zip(items, grids, strict=True)
    return transform([(from_pair(pair, direction, grid, bound), n) for (pair, n), grid in pairs], window, bound)


def _arrays(law: Transform, direction: Direction) -> LossArrays:
    """Put the errors of a transform without tilt into its arrays."""
    sign = 1.0 if law.bound == "upper" else -1.0
    size = law.masses.size
    scale = math.exp(law.log_scale + sign * (law.mass_error + 8.0 * UNIT * (abs(law.log_scale) + size)))
    # What is below 0 is round-off; to leave it out adds as much again.
    unknown = scale * (law.outside + (1.0 + (sign < 0.0)) * math.sqrt(size) * law.round_off)
    masses = np.maximum(law.masses, 0.0) * (scale * (1.0 + sign * _SUMMING))
    losses = (law.first + np.arange(size)) * law.step + sign * law.loss_error
    infinite, used = law.infinite * (1.0 + sign * law.mass_error), masses > _NOISE * masses.max()
    if law.bound == "upper":
        infinite, unknown = min(infinite + unknown + float(masses[~used].sum()), 1.0), 0.0
    return LossArrays(direction, law.bound, losses[used], masses[used], abs(infinite), unknown)


def delta_curve(composition: Composition, epsilons: ArrayLike) -> Floats:
    """Return delta at each epsilon, never below the exact one."""
    at = _array("epsilons", epsilons)
    if not np.all(at >= 0.0):
        raise SettingError("an epsilon is negative; expected numbers of at least 0")
    if composition.square is not None:
        mu = composition.mu or 0.0
        return np.array([gaussian.delta(float(epsilon), mu) for epsilon in at])
    return np.array([_profile(composition, len(at))(float(epsilon)) for epsilon in at])


def _profile(composition: Composition, points: int) -> Callable[[float], float]:
    """One distribution for many points; what is small, and what has none, is computed one by one."""
    laws = _both(composition) if points > _FEW else ()

    def delta(epsilon: float) -> float:
        quick = max((law.delta_at(epsilon) for law in laws), default=0.0) if math.isfinite(epsilon) else 0.0
        return quick if quick >= _RELIABLE * SMALLEST_DELTA else composition.delta(epsilon)

    return delta


@lru_cache(maxsize=16)
def _both(composition: Composition) -> tuple[LossArrays, ...]:
    try:
        return tuple(loss_distribution(composition, direction) for direction in DIRECTIONS)
    except AccountingError:
        return ()


def epsilon_curve(composition: Composition, deltas: ArrayLike) -> Floats:
    """Return the smallest safe epsilon at each delta; infinite where nothing is promised."""
    return np.array([composition.epsilon(float(delta)) for delta in _array("deltas", deltas)])


def trade_off_curve(composition: Composition, false_alarms: ArrayLike) -> Floats:
    """Return the least rate of misses at each rate of false alarms, never above the exact one.

    Exact for Gaussian releases; otherwise from many points of the profile.
    """
    alarms = _array("false_alarms", false_alarms)
    law: classical.TradeOff
    if composition.square is not None:
        law = classical.Gaussian(composition.mu or 0.0)
    else:
        largest = composition.epsilon(SMALLEST_DELTA)
        epsilons = np.linspace(0.0, largest if largest < math.inf else 1.0, _EPSILONS)
        deltas = delta_curve(composition, epsilons)
        law = classical.Profile(tuple(zip(epsilons.tolist(), deltas.tolist(), strict=True)))
    return np.array([law.misses_at(float(alarm)) for alarm in alarms])


def renyi_curve(composition: Composition, orders: ArrayLike) -> Floats:
    """Return the Rényi divergence at each order above 1, in the worse direction, never below the exact one."""
    at = _array("orders", orders)
    if not np.all(at > 1.0):
        raise SettingError("an order is at most 1; expected numbers above 1")
    found = total_curve(composition.releases, composition.relation)
    if found is None or found.leak > 0.0:
        why = "a release leaks with some probability" if found is not None else "a release has no Rényi curve"
        raise AccountingError(f"the composition has no finite Rényi curve: {why}; read delta(epsilon) instead")
    return np.zeros_like(at) if not composition.releases else np.asarray(found.curve(at), dtype=np.float64)


def _array(name: str, values: ArrayLike) -> Floats:
    array = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if array.ndim != 1 or np.isnan(array).any():
        raise SettingError(f"{name} are not a list of numbers; expected one, without NaN")
    return array
