"""Dominating pairs of events: which pair of `tacit.accounting.pld` belongs to which release.

Proof: ``proofs/accounting/dominating_pairs.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tacit.accounting.approximate_dp import pure_selection
from tacit.accounting.classical import amplified
from tacit.accounting.composition import EventCounts, pure_epsilon
from tacit.accounting.objective_perturbation import jacobian_term, objective_mu
from tacit.accounting.pld.grid import GridTooLong
from tacit.accounting.pld.pairs import (
    DiscreteGaussianPair,
    ExponentialPair,
    FixedSizePair,
    GaussianPair,
    LaplacePair,
    Pair,
    PoissonGaussian,
    PoissonPair,
    RandomisedResponse,
    ReplacedLaplace,
    ReplacedResponse,
    WithoutReplacementGaussian,
)
from tacit.accounting.pld.pairs import ObjectivePerturbation as ObjectivePair
from tacit.accounting.pld.pairs.sampled import LARGEST_RATE
from tacit.accounting.rounding import float_up, root_down, root_up
from tacit.accounting.with_replacement import copies, with_replacement_profile
from tacit.errors import SettingError
from tacit.privacy.event import (
    Approximate,
    BoundedRange,
    DiscreteGaussian,
    Event,
    Gaussian,
    Laplace,
    ObjectivePerturbation,
    PoissonSampled,
    Pure,
    RandomStopping,
    SampledWithoutReplacement,
    SampledWithReplacement,
)
from tacit.privacy.relation import Relation


def pair_of(event: Event, relation: Relation | None) -> Pair | None:
    """Return the dominating pair of one counted release, or None if there is none.

    Guarantee
    ---------
    - The pair dominates the release in both directions under the relation, or there is none.
    """
    try:
        return _pair_of(event, relation)
    except (GridTooLong, SettingError, OverflowError):
        return None


def attained_pair(event: Event, relation: Relation | None) -> Pair | None:
    """Return a pair that some release of this kind has on some two neighbours, or None.

    A lower bound of an epsilon is one of the events only if it is computed from such pairs: a
    dominating pair may stand for a family of which no member has all of its profile.

    Guarantee
    ---------
    - There are a release that the event describes and two neighbours with exactly this pair, up to
      the rounding of its parameters upwards.
    """
    match event:
        case Gaussian() | Laplace() | Pure() | Approximate() | DiscreteGaussian():
            return pair_of(event, relation)
        case PoissonSampled(event=Gaussian() | Laplace() | Pure()):
            pair = pair_of(event, relation)
            return None if isinstance(pair, RandomisedResponse) else pair
        case SampledWithoutReplacement(event=Gaussian() as release):
            # The others are all alike and far from the one that differs.
            return PoissonGaussian(root_up(release.mu_squared), float_up(event.rate))
        case SampledWithoutReplacement(event=Laplace() | Pure()):
            pair = pair_of(event, relation)
            return PoissonPair(pair.base, pair.rate) if isinstance(pair, FixedSizePair) else None
        case SampledWithReplacement(event=Gaussian() as release):
            # One copy counts for all: a post-processing of what the sum of the copies tells.
            drawn = copies(event.draws, event.population).drawn * (1.0 - 2.0**-40)
            return PoissonGaussian(root_up(release.mu_squared), drawn)
        case _:
            return None


def pairs_of(
    counts: EventCounts, relation: Relation | None, *, attained: bool = False
) -> list[tuple[Pair, int]] | None:
    """Return pairs with counts of everything, or None if one release has none.

    Guarantee
    ---------
    - Gaussian releases enter as one pair with their exact total.
    - With ``attained``, pairs of actual releases on actual neighbours.
    """
    items: list[tuple[Pair, int]] = []
    squares = Fraction(0)
    for event, times in counts:
        if isinstance(event, Gaussian):
            squares += times * event.mu_squared
            continue
        pair = attained_pair(event, relation) if attained else pair_of(event, relation)
        if pair is None:
            return None
        items.append((pair, times))
    if squares > 0:
        mu = root_up(squares)
        if mu > 1e150:
            return None
        items.append((GaussianPair(mu), 1))
    return items


def _pair_of(event: Event, relation: Relation | None) -> Pair | None:
    match event:
        case PoissonSampled() if relation is not None:
            return _poisson(event, relation)
        case SampledWithoutReplacement():
            return _without_replacement(event)
        case SampledWithReplacement():
            return with_replacement_profile(event)
        case ObjectivePerturbation() if relation is not None:
            return _objective(event, relation)
        case RandomStopping():
            pure = pure_selection(event, relation)
            return None if pure is None else RandomisedResponse(pure)
        case _:
            return _plain(event)


def _plain(event: Event) -> Pair | None:
    match event:
        case Gaussian():
            return GaussianPair(root_up(event.mu_squared))
        case Laplace():
            return LaplacePair(float_up(event.epsilon))
        case BoundedRange():
            return ExponentialPair(float_up(event.eta))
        case Pure() | Approximate():
            delta = event.delta if isinstance(event, Approximate) else 0
            return RandomisedResponse(float_up(event.epsilon), float_up(delta))
        case DiscreteGaussian(coordinates=1):
            # Larger shifts dominate smaller ones; an integer moves by a whole number.
            shift = math.isqrt(event.squared_sensitivity)
            return DiscreteGaussianPair(shift, root_down(Fraction(event.variance)))
        case _:
            return None


def _poisson(event: PoissonSampled, relation: Relation) -> Pair | None:
    release, rate = event.event, float_up(event.rate)
    replaces = relation is Relation.REPLACE_ONE
    match release:
        case Gaussian():
            mu = root_up(release.mu_squared)
            return PoissonGaussian(mu, rate, "replace-one" if replaces else "add-remove")
        case Laplace() if replaces:
            return ReplacedLaplace(float_up(release.epsilon), rate)
        case Laplace() | Pure() | BoundedRange() if not replaces and rate <= LARGEST_RATE:
            base = _plain(release)
            return None if base is None else PoissonPair(base, rate)
        case Approximate():
            epsilon, delta = float_up(release.epsilon), float_up(release.delta)
        case _:
            pure = pure_epsilon(release)
            if pure is None:
                return None
            epsilon, delta = float_up(pure), 0.0
            if replaces:
                return ReplacedResponse(epsilon, rate)
    return _response(event, relation, epsilon, delta)


def _without_replacement(event: SampledWithoutReplacement) -> Pair | None:
    release, rate = event.event, float_up(event.rate)
    if isinstance(release, Gaussian):
        return WithoutReplacementGaussian(root_up(release.mu_squared), rate)
    base = _plain(release)
    if isinstance(release, Approximate):
        epsilon, delta = float_up(release.epsilon), float_up(release.delta)
    elif pure_epsilon(release) is None or base is None:
        return None
    elif rate <= LARGEST_RATE:
        return FixedSizePair(base, rate)
    else:
        epsilon, delta = float_up(pure_epsilon(release) or 0), 0.0
    return _response(event, None, epsilon, delta)


def _response(
    event: PoissonSampled | SampledWithoutReplacement,
    relation: Relation | None,
    epsilon: float,
    delta: float,
) -> Pair:
    sampled = amplified(event, relation, epsilon, delta)
    return RandomisedResponse(sampled.epsilon, sampled.delta)


def _objective(event: ObjectivePerturbation, relation: Relation) -> Pair | None:
    c, mu = jacobian_term(event), objective_mu(event, relation)
    if relation is Relation.REPLACE_ONE:
        # For two signs no dominating loss is proven; the Rényi curve of a group of two is.
        return ObjectivePair(c, mu, 1) if event.signs == 1 else None
    return ObjectivePair(c, mu, 1 if event.signs == 1 else 2, c_add=0.0)
