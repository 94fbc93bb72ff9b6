"""Dominating pairs of events: which pair of `tacit.accounting.pld` belongs to which release.

Proof: ``proofs/accounting/dominating_pairs.md``.
"""

import math
from fractions import Fraction

from tacit.accounting.composition import EventCounts, pure_epsilon
from tacit.accounting.event_curves import own_pair
from tacit.accounting.objective_perturbation import jacobian_term, objective_mu, vertices
from tacit.accounting.pld.pairs import bounded_loss, gaussian
from tacit.accounting.pld.pairs.pair import LARGEST_RATE, FixedSizePair, GridTooLong, Pair, PoissonPair
from tacit.accounting.rounding import float_up, root_down, root_up
from tacit.accounting.with_replacement import copies, with_replacement_profile
from tacit.errors import SettingError
from tacit.privacy import event as kinds
from tacit.privacy.relation import Relation


def pair_of(event: kinds.Event, relation: Relation | None) -> Pair | None:
    """Return a pair that dominates one counted release in both directions, or None if there is none."""
    try:
        return _pair_of(event, relation)
    except (GridTooLong, SettingError, OverflowError):
        return None


def attained_pair(event: kinds.Event, relation: Relation | None) -> Pair | None:
    """Return a pair that some release of this kind has on some two neighbours, or None.

    Guarantee: exactly this pair is attained, up to the rounding of its parameters upwards. Only such pairs give a lower
    bound: a dominating pair may stand for a whole family.
    """
    match event:
        case kinds.Gaussian() | kinds.Laplace() | kinds.Pure() | kinds.Approximate() | kinds.DiscreteGaussian():
            return pair_of(event, relation)
        case kinds.PoissonSampled(event=kinds.Gaussian() | kinds.Laplace() | kinds.Pure()):
            pair = pair_of(event, relation)
            return None if isinstance(pair, bounded_loss.RandomisedResponse) else pair
        case kinds.SampledWithoutReplacement(event=kinds.Gaussian() as release):
            # The others are all alike and far from the one that differs.
            return gaussian.PoissonGaussian(root_up(release.mu_squared), float_up(event.rate))
        case kinds.SampledWithoutReplacement(event=kinds.Laplace() | kinds.Pure()):
            pair = pair_of(event, relation)
            return PoissonPair(pair.base, pair.rate) if isinstance(pair, FixedSizePair) else None
        case kinds.SampledWithReplacement(event=kinds.Gaussian() as release):
            # One copy counts for all: a post-processing of what the sum of the copies tells.
            drawn = copies(event.draws, event.population).drawn * (1.0 - 2.0**-40)
            return gaussian.PoissonGaussian(root_up(release.mu_squared), drawn)
        case _:
            return None


def pairs_of(
    counts: EventCounts, relation: Relation | None, *, attained: bool = False
) -> list[tuple[Pair, int]] | None:
    """Return pairs with counts, all `attained_pair` if asked, or None; Gaussian ones as one with their exact total."""
    items: list[tuple[Pair, int]] = []
    squares = Fraction(0)
    for event, times in counts:
        if isinstance(event, kinds.Gaussian):
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
        items.append((gaussian.GaussianPair(mu), 1))
    return items


def _pair_of(event: kinds.Event, relation: Relation | None) -> Pair | None:
    pair: Pair | None
    match event:
        case kinds.PoissonSampled():
            pair = None if relation is None else _sampled(event, relation)
        case kinds.SampledWithoutReplacement():
            pair = _sampled(event, None)
        case kinds.SampledWithReplacement():
            pair = with_replacement_profile(event)
        case kinds.ObjectivePerturbation() | kinds.SoftmaxPerturbation():
            pair = None if relation is None else _objective(event, relation)
        case kinds.Gaussian():
            pair = gaussian.GaussianPair(root_up(event.mu_squared))
        case kinds.Laplace():
            pair = bounded_loss.LaplacePair(float_up(event.epsilon))
        case kinds.BoundedRange():
            pair = bounded_loss.ExponentialPair(float_up(event.eta))
        case kinds.DiscreteGaussian(coordinates=1):
            # Larger shifts dominate smaller ones; an integer moves by a whole number.
            shift = math.isqrt(event.squared_sensitivity)
            pair = gaussian.DiscreteGaussianPair(shift, root_down(Fraction(event.variance)))
        case _:
            own = own_pair(event, relation)
            pair = None if own is None else bounded_loss.RandomisedResponse(*own)
    return pair


def _sampled(event: kinds.PoissonSampled | kinds.SampledWithoutReplacement, relation: Relation | None) -> Pair | None:
    release, rate, pure = event.event, float_up(event.rate), pure_epsilon(event.event)
    poisson = isinstance(event, kinds.PoissonSampled)
    replaces = poisson and relation is Relation.REPLACE_ONE
    if isinstance(release, kinds.Gaussian):
        mu = root_up(release.mu_squared)
        if not poisson:
            return gaussian.WithoutReplacementGaussian(mu, rate)
        return gaussian.PoissonGaussian(mu, rate, "replace-one" if replaces else "add-remove")
    if pure is not None and replaces:
        laplace = isinstance(release, kinds.Laplace)
        kind = bounded_loss.ReplacedLaplace if laplace else bounded_loss.ReplacedResponse
        return kind(float_up(pure), rate)
    if pure is not None and rate <= LARGEST_RATE:
        base = _pair_of(release, None)
        return None if base is None else (PoissonPair if poisson else FixedSizePair)(base, rate)
    own = own_pair(event, relation)
    return None if own is None else bounded_loss.RandomisedResponse(*own)


def _objective(event: kinds.PerturbedObjective, relation: Relation) -> Pair:
    c, mu, count = jacobian_term(event), objective_mu(event, relation), vertices(event, relation)
    return gaussian.ObjectivePerturbation(c, mu, count, c_add=None if relation is Relation.REPLACE_ONE else 0.0)
