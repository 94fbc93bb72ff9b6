r"""Composition of dominating pairs with counts: certified brackets of epsilon and delta.

:math:`\delta(\varepsilon)` is the largest over the directions of :math:`E[(1 - e^{\varepsilon - \sum_i Y_i})_+]`. Each
direction is composed separately and the larger bound is taken at the end. The grid is made finer until the bracket is
as narrow as asked for. One pair used once has a closed form. Proofs: ``proofs/accounting/pld/composition.md``.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tacit.accounting import gaussian
from tacit.accounting.pld.distribution import LARGEST_LOSS, Bound, from_pair
from tacit.accounting.pld.grid_choice import Aim, CoarseLosses, Resolution, coarse_pass, resolve
from tacit.accounting.pld.pairs.gaussian import GaussianPair, PoissonGaussian, WithoutReplacementGaussian
from tacit.accounting.pld.pairs.pair import DIRECTIONS, UNIT, Direction, GridTooLong, Pair, tail_error
from tacit.accounting.pld.transform import LONGEST, Transform, epsilon_at, transform
from tacit.accounting.rounding import bisect
from tacit.errors import SettingError

Items: TypeAlias = tuple[tuple[Pair, int], ...]
Bracket: TypeAlias = tuple[float, float]
# A composition seen from one direction, and the point of its profile that is sought.
_View: TypeAlias = tuple[Direction, CoarseLosses, Aim]
# What is read of a composed law, given where epsilon is expected.
_Measure: TypeAlias = Callable[[Transform, float], float]
DEFAULT_TOLERANCE = 2e-4
# The lower bound is second order only where the grid resolves the bulk of every law.
_LOWER_ACCURACY = 0.1
# Where transforms are short there is time for more of them.
_REFINEMENTS, _SHORT, _MORE_REFINEMENTS = 2, 2**15, 4
# So many distinct pairs are priced on coarser grids and without refinement.
_MANY, _MANY_TOLERANCE = 100, 4e-3
# Relative rounding of a sum of squares and its root; relative excess of the Gaussian curve.
_ROOT_ERROR, _CURVE_ERROR = 2.0**-49, 2e-9
# Brackets narrower than this need no finer grid, whatever their relative width.
_NEGLIGIBLE = 1e-9


def profile(pair: Pair, direction: Direction, epsilon: float) -> tuple[float, float]:
    """Return bounds around the exact delta of one use of a pair with known slopes, round-off included."""
    if abs(epsilon) > LARGEST_LOSS:
        raise GridTooLong(f"epsilon {epsilon!r} is beyond {LARGEST_LOSS:.0f}; use Rényi accounting")
    tails_p, tails_q = pair.smooth(direction, np.array([epsilon]))
    power = math.exp(epsilon)
    above_p, above_q = float(tails_p[0]), power * float(tails_q[0])
    error = float(tail_error(tails_p)[0]) + power * float(tail_error(tails_q)[0])
    error += 8.0 * UNIT * (above_p + above_q)
    shift = pair.loss_error(abs(epsilon))
    losses, masses = pair.atoms(direction)
    gaps = np.maximum(losses - epsilon, 0.0)
    atoms = float((masses * -np.expm1(-gaps)).sum())
    infinite = pair.infinite(direction)
    error += 32.0 * UNIT * (atoms + infinite) + 2.0 * shift * float(masses[gaps > 0.0].sum())
    value = above_p - above_q + atoms + infinite
    return max(value - error, 0.0), min(value + error + 2.0 * shift * above_p, 1.0)


def epsilon_of(pair: Pair, direction: Direction, delta: float) -> tuple[float, float]:
    """Return bounds of epsilon: `profile` is at most delta at the upper one, at least delta at a lower above 0."""
    if pair.infinite(direction) > delta:
        return math.inf, math.inf
    return _crossing(pair, direction, delta, 0), _crossing(pair, direction, delta, 1)


def _crossing(pair: Pair, direction: Direction, delta: float, side: int) -> float:
    """Bisect one side of the profile, returning the end of the bracket on that side."""

    def holds(epsilon: float) -> bool:
        return not profile(pair, direction, epsilon)[side] > delta

    if holds(0.0):
        return 0.0
    low, high = 0.0, 1e-12
    while not holds(high):
        if high >= LARGEST_LOSS:
            raise GridTooLong(f"epsilon is beyond {LARGEST_LOSS:.0f}; use Rényi accounting")
        low, high = high, min(4.0 * high, LARGEST_LOSS)
    return bisect(low, high, holds, 1e-9)[side]


@dataclass(frozen=True)
class Composed:
    """Pairs composed adaptively, each as often as its count says.

    `gaussian_mu` is the root of the sum of all squared Gaussian parameters; a bracket of relative width `tolerance` is
    narrow enough.

    Guarantee: the exact number lies in every bracket that is returned, discretisation, truncation, aliasing and
    floating-point round-off included. Gaussian pairs alone are priced by their exact curve. The order of the items and
    splitting a count into parts change nothing but the bracket.
    """

    items: Items
    gaussian_mu: float = 0.0
    tolerance: float = DEFAULT_TOLERANCE

    def delta(self, epsilon: float) -> Bracket:
        """Return lower and upper bounds of delta at an epsilon of at least 0."""
        if not epsilon >= 0.0:
            raise SettingError(f"epsilon is {epsilon!r}; expected a number of at least 0")
        if not self.items:
            return _gaussian_delta(self.gaussian_mu, epsilon)
        if self._alone is not None:
            return _larger(profile(self._alone, way, epsilon) for way in self._directions())
        return self._bracket(lambda coarse: coarse.aim_at_epsilon(epsilon), lambda law, _: law.delta(epsilon))

    def safe_epsilon(self, delta: float) -> float:
        """Return the upper bound of epsilon alone, in a third of the time."""
        return self.epsilon(delta, upper_only=True)[1]

    def epsilon(self, delta: float, *, upper_only: bool = False) -> Bracket:
        """Return lower and upper bounds of epsilon at a delta in (0, 1); with `upper_only` the lower one is 0."""
        if not 0.0 < delta < 1.0:
            raise SettingError(f"delta is {delta!r}; expected a number between 0 and 1")
        if not self.items:
            return _gaussian_epsilon(self.gaussian_mu, delta)
        if self._alone is not None:
            return _larger(epsilon_of(self._alone, way, delta) for way in self._directions())
        if self._distance() <= delta:
            return 0.0, 0.0
        return self._bracket(
            lambda coarse: coarse.aim_at_delta(delta),
            lambda law, guess: epsilon_at(law, delta, guess),
            math.log(delta),
            upper_only=upper_only,
        )

    def _bracket(
        self,
        aim: Callable[[CoarseLosses], Aim],
        measure: _Measure,
        level: float | None = None,
        *,
        upper_only: bool = False,
    ) -> Bracket:
        """Bound both directions; `level` is the logarithm of delta where it is known before an aim is taken."""
        lower, upper, highs = 0.0, 0.0, []
        for direction in self._directions():
            coarse = coarse_pass(self._with_gaussian("upper"), direction)
            used = coarse.without_tails(aim(coarse).log_delta if level is None else level)
            view = (direction, used, aim(used))
            chosen = self._resolve(view, "upper", 0.25 * self._aimed)
            highs.append((measure(self._transform(view, "upper", chosen), chosen.guess), view))
            upper = max(upper, highs[-1][0])
        if upper_only:
            return lower, upper
        for high, view in sorted(highs, key=lambda entry: -entry[0]):
            if high > lower:
                lower = max(lower, self._lower(view, upper, measure))
        return lower, upper

    def _lower(self, view: _View, upper: float, measure: _Measure) -> float:
        """Compute lower bounds on finer and finer grids until one is near enough to the upper."""
        lower, accuracy, step = 0.0, _LOWER_ACCURACY * self._aimed, math.inf
        refinements = _MORE_REFINEMENTS if len(self.items) < _MANY else 0
        for number in range(1 + refinements):
            try:
                chosen = self._resolve(view, "lower", accuracy)
            except GridTooLong:
                break
            if not chosen.step < 0.8 * step:
                break
            law = self._transform(view, "lower", chosen)
            lower = max(lower, measure(law, chosen.guess))
            long = number >= _REFINEMENTS and law.masses.size > _SHORT
            if long or not upper - lower > max(self._aimed * upper, _NEGLIGIBLE):
                break
            step, accuracy = chosen.step, 0.1 * accuracy
        return lower

    @property
    def _aimed(self) -> float:
        many = len(self.items) >= _MANY
        return max(self.tolerance, _MANY_TOLERANCE) if many else self.tolerance

    @property
    def _alone(self) -> Pair | None:
        """The one pair, if it is used once and alone."""
        if self.gaussian_mu > 0.0 or len(self.items) != 1 or self.items[0][1] != 1:
            return None
        pair = self.items[0][0]
        return pair if pair.knows_slopes else None

    def _distance(self) -> float:
        """Bound the total variation distance of the composition by the sum of all."""
        # With many pairs this would cost as much as the composition and rarely settle it.
        if len(self.items) >= _MANY or not all(pair.knows_slopes for pair, _ in self.items):
            return math.inf
        items = self._with_gaussian("upper")
        return max(sum(times * profile(pair, way, 0.0)[1] for pair, times in items) for way in self._directions())

    def _directions(self) -> tuple[Direction, ...]:
        return DIRECTIONS[:1] if all(pair.symmetric for pair, _ in self.items) else DIRECTIONS

    def _resolve(self, view: _View, bound: Bound, accuracy: float) -> Resolution:
        longest = LONGEST if bound == "upper" else 2**19
        return resolve(self._with_gaussian(bound), *view, accuracy, longest)

    def _transform(self, view: _View, bound: Bound, chosen: Resolution) -> Transform:
        laws = [
            (from_pair(pair, view[0], grid, bound), times)
            for (pair, times), grid in zip(self._with_gaussian(bound), chosen.grids, strict=True)
        ]
        return transform(laws, chosen.window, bound)

    def _with_gaussian(self, bound: Bound) -> Items:
        """Return the items with the Gaussian ones as one pair, rounded to the side of the bound."""
        if self.gaussian_mu == 0.0:
            return self.items
        side = 1.0 + _ROOT_ERROR if bound == "upper" else 1.0 - _ROOT_ERROR
        return (*self.items, (GaussianPair(self.gaussian_mu * side), 1))


def compose(items: Iterable[tuple[Pair, int]], tolerance: float = DEFAULT_TOLERANCE) -> Composed:
    """Compose pairs: equal ones are counted together, Gaussian ones merged exactly, empty releases cost nothing."""
    if not 1e-7 <= tolerance <= 0.1:
        raise SettingError(f"tolerance is {tolerance!r}; expected a number from 1e-7 to 0.1")
    counts: dict[Pair, int] = {}
    squares: list[float] = []
    for given, times in items:
        if not isinstance(times, int) or times < 0:
            raise SettingError(f"times is {times!r}; expected an integer of at least 0")
        pair = given
        if isinstance(pair, PoissonGaussian) and pair.rate == 1.0:
            pair = GaussianPair(pair.mu * (2.0 if pair.relation == "replace-one" else 1.0))
        elif isinstance(pair, WithoutReplacementGaussian) and pair.rate == 1.0:
            pair = GaussianPair(pair.mu_replace)
        losses, masses = pair.atoms("remove")
        if times == 0 or (losses.size == 1 and losses[0] == 0.0 and masses[0] == 1.0):
            continue
        if isinstance(pair, GaussianPair):
            squares.append(times * pair.mu * pair.mu)
        else:
            counts[pair] = counts.get(pair, 0) + times
    return Composed(tuple(counts.items()), math.sqrt(math.fsum(squares)), tolerance)


def _larger(brackets: Iterable[Bracket]) -> Bracket:
    lower, upper = zip(*brackets, strict=True)
    return max(lower), max(upper)


def _gaussian_delta(mu: float, epsilon: float) -> Bracket:
    upper = gaussian.delta(epsilon, mu * (1.0 + _ROOT_ERROR))
    lower = gaussian.delta(epsilon, mu * (1.0 - _ROOT_ERROR)) * (1.0 - _CURVE_ERROR)
    # The curve promises to be tight only here.
    return (lower if mu <= 1e3 and lower > 1e-290 else 0.0), upper


def _gaussian_epsilon(mu: float, delta: float) -> Bracket:
    upper = gaussian.epsilon(mu * (1.0 + _ROOT_ERROR), delta)
    lower, loss = upper, 1e-10
    while lower > 0.0 and _gaussian_delta(mu, lower)[0] < delta:
        lower = upper * (1.0 - loss) if loss < 1.0 else 0.0
        loss *= 4.0
    return lower, upper
