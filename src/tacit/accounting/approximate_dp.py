r"""The (epsilon, delta) of each release, for the composition theorems about such pairs.

Releases that need a delta get an equal share: with T of them, each is priced at
:math:`\delta/(2T)` and the other half of delta is the slack of the theorem. Pure releases need
none; a release that is only known to be (epsilon, delta)-private brings its own.
Proof: ``proofs/accounting/approximate_dp.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tacit.accounting import gaussian, renyi
from tacit.accounting.classical import amplified, amplified_without_replacement
from tacit.accounting.composition import EventCounts, count_events, pure_epsilon
from tacit.accounting.objective_perturbation import objective_epsilon
from tacit.accounting.renyi_curves import curve_of
from tacit.accounting.rounding import bisect, float_up, root_up
from tacit.accounting.with_replacement import copies, with_replacement_profile
from tacit.privacy.event import (
    Approximate,
    DiscreteGaussian,
    Event,
    Gaussian,
    NegativeBinomial,
    ObjectivePerturbation,
    PoissonSampled,
    RandomStopping,
    SampledWithoutReplacement,
    SampledWithReplacement,
)
from tacit.privacy.relation import Relation

# A share of delta below the smallest normal float is no share.
_SMALLEST_SHARE = 1e-300
_DOWN = 1.0 - 2.0**-50
# Beyond it no profile is tabulated.
_LARGEST_EPSILON = 690.0
# More than the rounding upwards of an amplified delta.
_BELOW = 1.0 - 2.0**-44


@dataclass(frozen=True, slots=True)
class PricedReleases:
    """Equal releases, each (epsilon, delta)-private, rounded up.

    Guarantee
    ---------
    - Each of the `times` releases is (epsilon, delta)-private.
    """

    epsilon: float
    delta: float
    times: int


def priced_releases(
    counts: EventCounts, relation: Relation | None, delta: float
) -> tuple[PricedReleases, ...] | None:
    """Price each release at its share of delta, or return None if one has no such price.

    Guarantee
    ---------
    - The deltas of all releases add up to at most half of what own deltas leave of delta, plus the
      own deltas.
    """
    own = [own_delta(event, relation) for event, _ in counts]
    paired = list(zip(counts, own, strict=True))
    spent = sum(Fraction(fixed or 0.0) * times for (_, times), fixed in paired)
    needy = sum(times for (_, times), fixed in paired if fixed is None)
    rest = max(Fraction(delta) - spent, Fraction(0))
    share = float(rest / (2 * needy)) * _DOWN if needy else 0.0
    found = []
    for (event, times), fixed in paired:
        at = share if fixed is None else fixed
        epsilon = epsilon_at(event, relation, at)
        if epsilon is None:
            return None
        found.append(PricedReleases(epsilon, at, times))
    return tuple(found)


def own_delta(event: Event, relation: Relation | None) -> float | None:
    """Return the delta that a release has of itself: 0 if pure, None if it has a whole curve.

    Guarantee
    ---------
    - A release with an own delta has one epsilon, whatever share of delta it is offered.
    """
    match event:
        case Approximate():
            return float_up(event.delta)
        case PoissonSampled() | SampledWithoutReplacement():
            pair = _sampled_pair(event, relation)
            return None if pair is None else pair[1]
        case RandomStopping():
            return None if pure_selection(event, relation) is None else 0.0
        case _:
            return None if pure_epsilon(event) is None else 0.0


def epsilon_at(event: Event, relation: Relation | None, delta: float) -> float | None:
    """Return an epsilon of one release at delta, or None if there is none.

    Guarantee
    ---------
    - Never below the true epsilon of the release at delta under the relation.
    """
    match event:
        case PoissonSampled() | SampledWithoutReplacement():
            pair = _sampled_pair(event, relation)
            return _sampled(event, relation, delta) if pair is None else pair[0]
        case SampledWithReplacement():
            return _with_replacement(event, delta)
        case RandomStopping():
            pure = pure_selection(event, relation)
            return _by_curve(event, relation, delta) if pure is None else pure
        case Gaussian():
            return gaussian.epsilon(root_up(event.mu_squared), delta)
        case _:
            return _plain(event, relation, delta)


def pure_selection(event: RandomStopping, relation: Relation | None) -> float | None:
    """Return the epsilon of the best of many pure runs, (2 + shape) epsilon; None if not pure.

    Guarantee
    ---------
    - Three times the epsilon of one run for the geometric distribution.
    """
    if not isinstance(event.law, NegativeBinomial):
        return None
    total = Fraction(0)
    for release, times in count_events([event.event], relation):
        pure = pure_epsilon(release)
        if pure is None:
            return None
        total += times * Fraction(pure)
    return float_up(total * (2 + Fraction(event.law.shape)))


def _plain(event: Event, relation: Relation | None, delta: float) -> float | None:
    match event:
        case DiscreteGaussian():
            return renyi.zcdp_to_epsilon(float_up(event.mu_squared / 2), delta)
        case ObjectivePerturbation() if relation is not None:
            return objective_epsilon(event, relation, delta)
        case Approximate():
            return float_up(event.epsilon)
        case _:
            pure = pure_epsilon(event)
            return None if pure is None else float_up(pure)


def _sampled_pair(
    event: PoissonSampled | SampledWithoutReplacement, relation: Relation | None
) -> tuple[float, float] | None:
    """The amplified epsilon and delta of a release that has one pair of its own."""
    release = event.event
    pure = pure_epsilon(release)
    if isinstance(release, Approximate):
        base = float_up(release.epsilon), float_up(release.delta)
    elif pure is not None:
        base = float_up(pure), 0.0
    else:
        return None
    sampled = amplified(event, relation, *base)
    return sampled.epsilon, sampled.delta


def _sampled(
    event: PoissonSampled | SampledWithoutReplacement, relation: Relation | None, delta: float
) -> float | None:
    """Amplify a release with a curve: find the base delta whose amplified delta fits."""
    poisson = isinstance(event, PoissonSampled)
    fixed = Relation.ADD_REMOVE if poisson else Relation.REPLACE_ONE
    base = min(delta / float_up(event.rate), 1.0) * _BELOW
    while base > _SMALLEST_SHARE:
        epsilon = epsilon_at(event.event, fixed, base)
        if epsilon is None:
            return None
        found = amplified(event, relation, epsilon, base)
        if found.delta <= delta:
            return found.epsilon
        # Under replace-one delta counts more than once; epsilon grows only slowly.
        base *= min(0.9, 0.98 * delta / found.delta)
    return math.inf


def _with_replacement(event: SampledWithReplacement, delta: float) -> float | None:
    profile = with_replacement_profile(event)
    if profile is None:
        return None
    pure = pure_epsilon(event.event)
    worst = math.inf
    if pure is not None:
        # Whatever is drawn, all draws are replaced at worst.
        rate = copies(event.draws, event.population).drawn
        worst = amplified_without_replacement(float_up(event.draws * pure), 0.0, rate).epsilon

    def fits(epsilon: float) -> bool:
        return not float(profile.delta_of_epsilon(np.array([epsilon]))[0]) > delta

    if delta == 0.0 or not fits(_LARGEST_EPSILON):
        return worst
    least = 0.0 if fits(0.0) else bisect(0.0, _LARGEST_EPSILON, fits, 1e-9)[1]
    return min(least, worst)


def _by_curve(event: Event, relation: Relation | None, delta: float) -> float | None:
    found = curve_of(event, relation)
    return None if found is None else renyi.epsilon(found.curve, delta)
