r"""Composition of dominating pairs with counts: certified brackets of epsilon and delta.

.. math:: \delta(\varepsilon) = \max_{\text{directions}}
    E\left[\left(1 - e^{\varepsilon - \sum_i Y_i}\right)_+\right]

Each direction is composed separately and the larger bound is taken at the end. The grid is made
finer until the bracket is as narrow as asked for.

Proofs: ``proofs/accounting/pld/composition.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from tacit.accounting import gaussian
from tacit.accounting.pld._signals import BelowRoundOff
from tacit.accounting.pld.distribution import Bound, from_pair
from tacit.accounting.pld.inversion import epsilon_at
from tacit.accounting.pld.pairs import (
    DIRECTIONS,
    Direction,
    GaussianPair,
    Pair,
    PoissonGaussian,
    WithoutReplacementGaussian,
)
from tacit.accounting.pld.resolution import Resolution, resolve
from tacit.accounting.pld.survey import Survey, look
from tacit.accounting.pld.transform import Transform, transform
from tacit.errors import SettingError

Items: TypeAlias = tuple[tuple[Pair, int], ...]
Bracket: TypeAlias = tuple[float, float]

DEFAULT_TOLERANCE = 2e-4
# A step of this part of the deviation of one loss gives a bracket of about 1e-4, relatively.
_FRACTION, _FRACTION_TOLERANCE = 0.03, 1e-4
_FINEST = 0.001
_REFINEMENTS = 2
# Relative rounding of a sum of squares and its root; relative excess of the Gaussian curve.
_ROOT_ERROR, _CURVE_ERROR = 2.0**-49, 2e-9
# Brackets narrower than this need no finer grid, whatever their relative width.
_NEGLIGIBLE = 1e-9


@dataclass(frozen=True)
class Composed:
    """Pairs composed adaptively, each as often as its count says.

    Guarantee
    ---------
    - The exact number lies in every bracket that is returned, discretisation, truncation, aliasing
      and floating-point round-off included.
    - Gaussian pairs alone are priced by their exact curve.
    - The order of the items and splitting a count into parts change nothing but the bracket.

    Parameters
    ----------
    items
        Pairs with positive counts; no pair twice.
    gaussian_mu
        Sum of the squares of all Gaussian parameters, as its root.
    tolerance
        Relative width at which a bracket is narrow enough.

    Examples
    --------
    >>> from tacit.accounting.pld.pairs import PoissonGaussian
    >>> lower, upper = compose([(PoissonGaussian(1.25, 0.01), 1000)]).epsilon(1e-5)
    >>> round(upper, 2)
    3.24
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

        def measure(law: Transform, resolution: Resolution) -> float:
            del resolution
            return law.delta(epsilon)

        return self._bracket(lambda survey: survey.tilt_for_epsilon(epsilon), measure)

    def epsilon(self, delta: float) -> Bracket:
        """Return lower and upper bounds of epsilon at a delta in (0, 1)."""
        if not 0.0 < delta < 1.0:
            raise SettingError(f"delta is {delta!r}; expected a number between 0 and 1")
        if not self.items:
            return _gaussian_epsilon(self.gaussian_mu, delta)

        def measure(law: Transform, resolution: Resolution) -> float:
            window = resolution.window
            guess = 0.5 * (window.low + window.high)
            found = epsilon_at(law, delta, guess)
            if law.bound == "upper" and 2.0 * law.doubt(found) > delta:
                raise BelowRoundOff(
                    f"delta {delta!r} is mostly round-off of the transform; use Rényi accounting"
                )
            return found

        return self._bracket(lambda survey: survey.tilt_for_delta(delta), measure)

    def _bracket(
        self,
        choose: Callable[[Survey], float],
        measure: Callable[[Transform, Resolution], float],
    ) -> Bracket:
        lower, upper = 0.0, 0.0
        for direction in DIRECTIONS:
            if direction == "add" and all(pair.symmetric for pair, _ in self.items):
                break
            items = self._with_gaussian("upper")
            survey = look(items, direction)
            tilt = choose(survey)
            bracket = self._refined(direction, survey, tilt, measure)
            lower, upper = max(lower, bracket[0]), max(upper, bracket[1])
        return lower, upper

    def _refined(
        self,
        direction: Direction,
        survey: Survey,
        tilt: float,
        measure: Callable[[Transform, Resolution], float],
    ) -> Bracket:
        """Compute a bracket on finer and finer grids until it is narrow enough."""
        fraction = _FRACTION * math.sqrt(self.tolerance / _FRACTION_TOLERANCE)
        lower, upper = 0.0, math.inf
        for _ in range(1 + _REFINEMENTS):
            resolution = resolve(self._with_gaussian("upper"), direction, survey, tilt, fraction)
            high = measure(self._transform(direction, resolution, "upper"), resolution)
            low = measure(self._transform(direction, resolution, "lower"), resolution)
            lower, upper = max(lower, low), min(upper, high)
            width = upper - lower
            if not width > max(self.tolerance * upper, _NEGLIGIBLE) or math.isinf(upper):
                break
            # The width falls with the square of the step.
            finer = 0.8 * resolution.fraction * math.sqrt(self.tolerance * upper / width)
            if resolution.fraction <= _FINEST or resolution.fraction > 1.5 * fraction:
                break
            fraction = max(finer, _FINEST, 0.125 * resolution.fraction)
        return lower, upper

    def _transform(self, direction: Direction, resolution: Resolution, bound: Bound) -> Transform:
        laws = [
            (from_pair(pair, direction, grid, bound), times)
            for (pair, times), grid in zip(
                self._with_gaussian(bound), resolution.grids, strict=True
            )
        ]
        return transform(laws, resolution.window, bound)

    def _with_gaussian(self, bound: Bound) -> Items:
        """Return the items with the Gaussian ones as one pair, rounded to the side of the bound."""
        if self.gaussian_mu == 0.0:
            return self.items
        side = 1.0 + _ROOT_ERROR if bound == "upper" else 1.0 - _ROOT_ERROR
        return (*self.items, (GaussianPair(self.gaussian_mu * side), 1))


def compose(
    items: Iterable[tuple[Pair, int]], tolerance: float = DEFAULT_TOLERANCE
) -> Composed:
    """Compose pairs with counts.

    Guarantee
    ---------
    - Equal pairs are counted together, Gaussian pairs are merged exactly, and pairs that release
      nothing cost nothing.

    Parameters
    ----------
    items
        Pairs and how often each is used, chosen adaptively or not.
    tolerance
        Relative width of a bracket to aim for.

    Examples
    --------
    >>> from tacit.accounting.pld.pairs import GaussianPair
    >>> compose([(GaussianPair(3.0), 1), (GaussianPair(2.0), 4)]).gaussian_mu
    5.0
    """
    if not 1e-7 <= tolerance <= 0.1:
        raise SettingError(f"tolerance is {tolerance!r}; expected a number from 1e-7 to 0.1")
    counts: dict[Pair, int] = {}
    squares: list[float] = []
    for given, times in items:
        if not isinstance(times, int) or times < 0:
            raise SettingError(f"times is {times!r}; expected an integer of at least 0")
        pair = _simplified(given)
        if pair is None or times == 0:
            continue
        if isinstance(pair, GaussianPair):
            squares.append(times * pair.mu * pair.mu)
        else:
            counts[pair] = counts.get(pair, 0) + times
    return Composed(tuple(counts.items()), math.sqrt(math.fsum(squares)), tolerance)


def _simplified(pair: Pair) -> Pair | None:
    """Return an equivalent Gaussian pair where there is one, or None if nothing is released."""
    if isinstance(pair, PoissonGaussian) and pair.rate == 1.0:
        pair = GaussianPair(pair.mu * (2.0 if pair.relation == "replace-one" else 1.0))
    elif isinstance(pair, WithoutReplacementGaussian) and pair.rate == 1.0:
        pair = GaussianPair(pair.mu_replace)
    losses, masses = pair.atoms("remove")
    if losses.size == 1 and losses[0] == 0.0 and masses[0] == 1.0:
        return None
    return pair


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
