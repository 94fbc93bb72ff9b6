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
from tacit.accounting.pld.resolution import resolve
from tacit.accounting.pld.survey import Aim, Survey, look
from tacit.accounting.pld.transform import LONGEST, Transform, transform
from tacit.errors import SettingError

Items: TypeAlias = tuple[tuple[Pair, int], ...]
Bracket: TypeAlias = tuple[float, float]

DEFAULT_TOLERANCE = 2e-4
# The lower bound is second order only where the grid resolves the bulk of every law.
_LOWER_ACCURACY = 0.1
_LOWER_LONGEST = 2**18
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

        def measure(law: Transform, guess: float) -> float:
            del guess
            return law.delta(epsilon)

        def choose(survey: Survey) -> tuple[Survey, Aim]:
            kept = survey.without_tails(survey.aim_at_epsilon(epsilon).log_delta)
            return kept, kept.aim_at_epsilon(epsilon)

        return self._bracket(choose, measure)

    def epsilon(self, delta: float) -> Bracket:
        """Return lower and upper bounds of epsilon at a delta in (0, 1)."""
        if not 0.0 < delta < 1.0:
            raise SettingError(f"delta is {delta!r}; expected a number between 0 and 1")
        if not self.items:
            return _gaussian_epsilon(self.gaussian_mu, delta)

        def measure(law: Transform, guess: float) -> float:
            return epsilon_at(law, delta, guess)

        def choose(survey: Survey) -> tuple[Survey, Aim]:
            kept = survey.without_tails(math.log(delta))
            return kept, kept.aim_at_delta(delta)

        return self._bracket(choose, measure)

    def _bracket(
        self, choose: Callable[[Survey], tuple[Survey, Aim]], measure: Callable[[Transform, float], float]
    ) -> Bracket:
        lower, upper = 0.0, 0.0
        aims = []
        for direction in self._directions():
            survey, aim = choose(look(self._with_gaussian("upper"), direction))
            high = self._measured(direction, survey, aim, "upper", 0.25 * self.tolerance, measure)
            aims.append((high, direction, survey, aim))
            upper = max(upper, high)
        for high, direction, survey, aim in sorted(aims, key=lambda entry: -entry[0]):
            if high <= lower:
                break
            accuracy = _LOWER_ACCURACY * self.tolerance
            for _ in range(1 + _REFINEMENTS):
                low = self._measured(direction, survey, aim, "lower", accuracy, measure)
                if not low > lower:
                    break
                lower = low
                if not upper - lower > max(self.tolerance * upper, _NEGLIGIBLE):
                    return lower, upper
                accuracy *= 0.1
        return lower, upper

    def _directions(self) -> tuple[Direction, ...]:
        symmetric = all(pair.symmetric for pair, _ in self.items)
        return DIRECTIONS[:1] if symmetric else DIRECTIONS

    def _measured(
        self,
        direction: Direction,
        survey: Survey,
        aim: Aim,
        bound: Bound,
        accuracy: float,
        measure: Callable[[Transform, float], float],
    ) -> float:
        items = self._with_gaussian(bound)
        longest = LONGEST if bound == "upper" else _LOWER_LONGEST
        chosen = resolve(items, direction, survey, aim, accuracy, longest)
        laws = [
            (from_pair(pair, direction, grid, bound), times)
            for (pair, times), grid in zip(items, chosen.grids, strict=True)
        ]
        return measure(transform(laws, chosen.window, bound), chosen.guess)

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
