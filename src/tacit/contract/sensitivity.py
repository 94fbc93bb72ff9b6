"""Every sensitivity formula, once.

A mechanism adds up integer vectors (or matrices) q_i, one a record, with a bound S that it enforces: ‖q_i‖₂ ≤ S for
gradients and moments of columns, q_i = v v' with ‖v‖₂² ≤ S for second moments (a sum of such with Σ‖v‖₂² ≤ S where a
person has several records), q_i = (v v', w w') with ‖v‖₂⁴ + ‖w‖₂⁴ ≤ S² for a sandwich, 0 ≤ q_i ≤ S in each of k entries
for counts, and |q_i| ≤ S in each of k entries for means. For group means, a record has a count w_c ≥ 0 in each group c,
Σ w_c ≤ S, and k - 1 entries of size at most w_c there. A direction is no sum: S is what its integers can move by,
whatever the relation. Blocks are as many integer vectors of norm at most S, and votes as many rows of S at one of the
classes: what one unit changes is one block, in any way, whatever the relation. A noisy minimum is no sum either: S is
what one record more or less can move its integers by. A sum over a batch has the factor of its way of sampling
(`Batches.squared_factor`). A network's sum over a batch is of floats, and S bounds what blanking one record changes in
its integers. A posterior draw has the density exp(-F) with F λ-strongly convex, and S·√λ / 2^bits bounds
the gradient of one record's part of F. What one record (or person) can change in the sum is then a theorem about
integers (proofs/mechanisms):

    =============  =======================  =========================
    squared        replace-one              zero-out, add-remove
    =============  =======================  =========================
    gradient       (2S)² = 4S²              S²
    second moment  2S²   (Frobenius)        S²   (Frobenius)
    columns        (2S)² = 4S²              S²
    sandwich       2S²   (Frobenius)        S²   (Frobenius)
    k counts       k S²                     k S²
    k means        4k S²                    k S²
    k group means  max(4(k - 1), 2k) S²     k S²
    direction      S²                       S²
    noisy minimum  (2S)² = 4S²              S²   (not add-remove)
    posterior      (2S)² = 4S²              S²
    block mean     (2S)² = 4S²              4S²
    k vote counts  2k S²                    2k S²
    k vote checks  k S²                     k S²
    =============  =======================  =========================

The noise is 2^bits times a standard Gaussian on every coordinate, rounded to the integers, so a
release is μ-GDP with μ² = squared sensitivity / 4^bits, exactly. A noisy minimum may have noise of density
∝ exp(-‖b‖ / 2^bits) in its place: it is ε-private with ε = sensitivity / 2^bits, over the reals. A gradient sum may
have discrete Laplace noise of scale 2^bits in its place: it is ε-private with ε = ⌈√width·sensitivity⌉ / 2^bits. A
perturbed minimum is two events: the minimum itself, which is not GDP, and the noise that hides how it was computed.
With noise of density ∝ exp(-‖b‖ / scale) in the objective both events are pure.

A selection has no noise. Each candidate has a score, a sum over records of integers in [0, S], or in [-S, S] where it
is signed. Between neighbours the scores' differences lie in an interval, whose length r is S for zero-out and
add-remove and 2S for replace-one, twice that where scores are signed: a blank record adds the same to every score. The
privacy loss of the exponential mechanism is then in an interval of length rate·r, and permute-and-flip is
(rate·r)-private (proofs/mechanisms/selection.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.accounting.objective_perturbation import jacobian_term
from tacit.contract.batches import BatchPrice, Sampling
from tacit.contract.block_price import BlockPrice, ChoicePrice, DepthPrice
from tacit.contract.query import QueryKind
from tacit.contract.selection_price import SELECTIONS, SelectionPrice, selection_event
from tacit.errors import BudgetError, SettingError
from tacit.losses.loss import Code, Loss
from tacit.privacy.event import (
    Event,
    Gaussian,
    ObjectivePerturbation,
    PerturbedObjective,
    Pure,
    SoftmaxPerturbation,
    Votes,
)
from tacit.privacy.relation import Relation

LARGEST_BITS = 52
"""Largest binary logarithm of the noise scale that the sampler draws."""
FINEST_BOUND = 2**36
"""Target of the integer bound: rounding then costs a record less than 2^-36 of its contribution."""
LARGEST_TOTAL = 2**61
"""n·S stays below it, so that 64-bit sums do not wrap in practice (wrapping would be private)."""

_REPLACE_ONE = {
    QueryKind.GRADIENT: 4,
    QueryKind.SECOND_MOMENTS: 2,
    QueryKind.COLUMN_MOMENTS: 4,
    QueryKind.SANDWICH: 2,
    QueryKind.COUNTS: 1,
    QueryKind.MEANS: 4,
    QueryKind.GROUP_MEANS: 4,
    QueryKind.DIRECTION: 1,
    QueryKind.NOISY_MINIMUM: 4,
    QueryKind.POSTERIOR: 4,
}
_BLOCKS = {QueryKind.BLOCK_MEAN: 4, QueryKind.VOTE_COUNTS: 2, QueryKind.VOTE_CHECKS: 1}
CHOICES = {QueryKind.BLOCK_MEDIAN: ChoicePrice, QueryKind.BLOCK_DEPTH: DepthPrice}
"""Kinds that are drawn, at a price of their own."""
BATCHED = frozenset({QueryKind.BATCH_GRADIENT, QueryKind.NETWORK_GRADIENT})
"""Kinds that read a fresh batch."""
VOTES = frozenset({QueryKind.VOTE_CHECKS, QueryKind.VOTE_COUNTS})
SIZED = frozenset({QueryKind.COUNTS, QueryKind.MEANS, QueryKind.GROUP_MEANS, QueryKind.BLOCK_MEDIAN}) | VOTES
"""Kinds whose answers have a size k."""
SMALLEST_MEAN_BOUND = 32
"""Rounding then moves a record's value by at most 1/64 of half its interval."""
_FACTORS = {
    Relation.REPLACE_ONE: _REPLACE_ONE | _BLOCKS,
    Relation.ZERO_OUT: dict.fromkeys(_REPLACE_ONE, 1) | _BLOCKS,
    Relation.ADD_REMOVE: dict.fromkeys(_REPLACE_ONE, 1) | _BLOCKS,
}


@dataclass(frozen=True)
class Price:
    """Integer bound S on a record's contribution, and the noise scale 2^bits."""

    bound: int
    bits: int


@dataclass(frozen=True)
class GammaPrice:
    """Integer bound S of a noisy minimum, and the scale 2^bits of noise with density ∝ exp(-‖b‖ / 2^bits)."""

    bound: int
    bits: int


@dataclass(frozen=True)
class LaplacePrice:
    """Integer bound S on the L2 norm of a record's `width` integers, and the scale 2^bits of discrete Laplace noise."""

    bound: int
    bits: int
    width: int


@dataclass(frozen=True)
class MinimumPrice:
    """What a perturbed minimum costs.

    A record's gradient bound is `bound` steps of the lattice on which the linear noise of scale
    2^bits lies; `ratio` is the bound on a record's curvature over the ridge; `drift` prices the
    noise on the computed minimiser, whose integers move by at most its bound for a given exact one.
    """

    bound: int
    bits: int
    ratio: Fraction
    drift: Price


@dataclass(frozen=True)
class TwoSignedPrice(MinimumPrice):
    """What a perturbed minimum costs where slopes have both signs given the record."""


@dataclass(frozen=True)
class SoftmaxPrice(MinimumPrice):
    """What a perturbed minimum of the softmax loss costs; `ratio` is for the largest eigenvalue of a curvature."""

    classes: int


@dataclass(frozen=True)
class PurePrice:
    """What a perturbed minimum costs with δ = 0.

    The linear noise has density ∝ exp(-‖b‖ / 2^bits), in units in which a record's gradient is at most `bound`. `cover`
    is the ε of the noise on the computed minimiser; `ratio` and `classes` are those of `SoftmaxPrice`, with 1 class for
    a margin.
    """

    bound: int
    bits: int
    ratio: Fraction
    cover: Fraction
    classes: int = 1


PerturbedPrice = MinimumPrice | PurePrice
AnyPrice = Price | GammaPrice | LaplacePrice | PerturbedPrice | BatchPrice | BlockPrice | SelectionPrice


def require_kind(kind: QueryKind, price: AnyPrice) -> None:
    """Refuse the price of another kind of query."""
    own_prices: dict[QueryKind, Any] = {QueryKind.MINIMUM: PerturbedPrice, **CHOICES}
    if (kind in BATCHED) != isinstance(price, BatchPrice):
        raise SettingError("A sum over a batch, and nothing else, has a price of its own kind.")
    for own, prices in own_prices.items():
        if (kind is own) != isinstance(price, prices):
            raise SettingError(f"A {own}, and nothing else, has a price of its own kind.")
    if isinstance(price, SelectionPrice) and kind not in SELECTIONS:
        raise SettingError("A rate is the price of selections alone.")


def minimum_price(loss: Loss, classes: int, bound: int, bits: int, ratio: Fraction, drift: Price) -> MinimumPrice:
    """The price of a perturbed minimum of a loss, of the kind that this loss needs."""
    if loss.code is Code.SOFTMAX:
        return SoftmaxPrice(bound, bits, ratio, drift, classes)
    return (MinimumPrice if loss.one_signed else TwoSignedPrice)(bound, bits, ratio, drift)


def is_price_of(price: PerturbedPrice, loss: Loss, classes: int) -> bool:
    """Whether a price is of the kind that a loss of so many linear predictors needs."""
    if isinstance(price, PurePrice):
        return price.classes == classes
    return type(price) is type(made := minimum_price(loss, classes, 1, 0, Fraction(1), price.drift)) and (
        getattr(price, "classes", 1) == getattr(made, "classes", 1)
    )


def squared_sensitivity(kind: QueryKind, bound: int, relation: Relation, size: int = 1) -> int:
    """Largest squared L2 (Frobenius) change of the integer sum between neighbours.

    `size` is the number k of counts or means, and 1 for the other kinds.
    """
    if size != 1 and kind not in SIZED:
        raise ValueError("Only counts and means have a size.")
    if kind in SELECTIONS:
        raise SettingError("A selection has no sum that noise is added to: it is priced by its rate.")
    if kind is QueryKind.GROUP_MEANS and relation is Relation.REPLACE_ONE:
        # Within a group its count stays; between two groups nothing cancels.
        return max(4 * (size - 1), 2 * size) * bound * bound
    return _FACTORS[relation][kind] * size * bound * bound


def event_of(kind: QueryKind, price: AnyPrice, relation: Relation, size: int = 1) -> Gaussian:
    """The event of one answer at this price, where it is Gaussian."""
    if isinstance(price, PerturbedPrice):
        raise SettingError("A perturbed minimum is more than one event, and has no μ.")
    if kind in SELECTIONS:
        raise SettingError("A selection is not Gaussian, and has no μ.")
    if not isinstance(price, Price):
        raise SettingError("Noise of Gamma norm or of Laplace is not Gaussian, nor is a batch, and has no μ.")
    _require_public_n(kind, relation)
    return Gaussian(squared_sensitivity(kind, price.bound, relation, size), 4**price.bits, str(kind))


def events_of(kind: QueryKind, price: AnyPrice, relation: Relation, size: int = 1) -> tuple[Event, ...]:
    """The events of one answer at this price."""
    require_kind(kind, price)
    if isinstance(price, BatchPrice):
        price.batches.require(relation)
        if kind is QueryKind.NETWORK_GRADIENT:
            require_fixed_slots(price, relation)
        return (price.batches.event(price.bound, price.bits, str(kind)),)
    if isinstance(price, BlockPrice) or kind is QueryKind.VOTE_COUNTS:
        return (_block_event(kind, price, size),)
    if isinstance(price, GammaPrice):
        if kind is not QueryKind.NOISY_MINIMUM:
            raise SettingError("Noise of Gamma norm is for noisy minima.")
        _require_public_n(kind, relation)
        sensitivity = math.isqrt(squared_sensitivity(kind, price.bound, relation, size))
        return (Pure(Fraction(sensitivity, 2**price.bits), str(kind)),)
    if isinstance(price, LaplacePrice | SelectionPrice):
        return (_other_event(kind, price, relation),)
    if not isinstance(price, PerturbedPrice):
        return (event_of(kind, price, relation, size),)
    _require_public_n(kind, relation)
    what = "accuracy of the minimum"
    if isinstance(price, MinimumPrice):
        events: tuple[Event, Event] = objective_event(price), Gaussian(price.drift.bound**2, 4**price.drift.bits, what)
    else:
        events = Pure(pure_rate(price, relation), str(kind)), Pure(price.cover, what)
    return events


def require_fixed_slots(price: BatchPrice, relation: Relation) -> None:
    """Refuse what the proof of a network's gradient is not about: only blanked records leave all others in place."""
    if relation is not Relation.ZERO_OUT:
        why = "a float can depend on the shape of its batch, which stays the same only where a record is blanked"
        raise SettingError(f'A network has no price under {relation}: {why}. Use relation="zero-out".')
    if price.batches.sampling is not Sampling.POISSON:
        raise SettingError("A network is priced for Poisson batches alone.")


def _block_event(kind: QueryKind, price: AnyPrice, size: int) -> Event:
    """The event of medians, of a deep point, or of the votes of teachers."""
    if isinstance(price, BlockPrice):
        return price.event(size, str(kind)) if isinstance(price, ChoicePrice) else price.event(str(kind))
    return Votes(Fraction(4**price.bits, price.bound**2), size, str(kind))


def _other_event(kind: QueryKind, price: LaplacePrice | SelectionPrice, relation: Relation) -> Event:
    if isinstance(price, LaplacePrice):
        return laplace_event(kind, price, relation)
    return selection_event(kind, price, relation)


def laplace_event(kind: QueryKind, price: LaplacePrice, relation: Relation) -> Pure:
    """The event of a sum with discrete Laplace noise: ε = ⌈√width·Δ⌉ / 2^bits, by ‖v‖₁ ≤ √width·‖v‖₂."""
    if kind is not QueryKind.GRADIENT:
        raise SettingError("Laplace noise is for sums of vectors.")
    squared = squared_sensitivity(kind, price.bound, relation) * price.width
    root = math.isqrt(squared)
    return Pure(Fraction(root if root**2 == squared else root + 1, 2**price.bits), str(kind))


def laplace_price(epsilon: Fraction, relation: Relation, *, records: int, width: int) -> LaplacePrice:
    """Finest price of a sum of vectors whose event costs at most `epsilon`, in exact rationals."""
    finest = max(1, min(FINEST_BOUND, LARGEST_TOTAL // max(records, 1)))
    for bits in range(LARGEST_BITS, -1, -1):
        largest = math.floor(epsilon * 2**bits)
        bound = math.isqrt(largest**2 // (squared_sensitivity(QueryKind.GRADIENT, 1, relation) * width))
        if bound <= finest:
            if is_resolved(QueryKind.GRADIENT, bound, width):
                return LaplacePrice(bound, bits, width)
            break
    way = "a smaller epsilon" if epsilon > 1 else "a larger epsilon, or fewer columns"
    raise BudgetError(f"The budget is beyond what exact noise can resolve for this plan. Use {way}.")


def objective_event(price: MinimumPrice) -> PerturbedObjective:
    """The event of the exact minimum; it holds one record's own gradient, and accountants know the relations."""
    numbers, label = (price.bound**2, 4**price.bits, price.ratio), str(QueryKind.MINIMUM)
    if isinstance(price, SoftmaxPrice):
        return SoftmaxPerturbation(*numbers, price.classes, label)
    return ObjectivePerturbation(*numbers, 2 if isinstance(price, TwoSignedPrice) else 1, label)


def pure_rate(price: PurePrice, relation: Relation) -> Fraction:
    """ε of the linear noise and of the Jacobian: sensitivity / 2^bits + c, c rounded up to a float."""
    sensitivity = 2 if relation is Relation.REPLACE_ONE else 1
    numbers = 1, 1, price.ratio
    event = SoftmaxPerturbation(*numbers, price.classes) if price.classes > 1 else ObjectivePerturbation(*numbers, 1)
    return Fraction(sensitivity * price.bound, 2**price.bits) + Fraction(jacobian_term(event))


def _require_public_n(kind: QueryKind, relation: Relation) -> None:
    if kind in {QueryKind.MINIMUM, QueryKind.NOISY_MINIMUM} and not relation.n_is_public:
        needs = "a public number of records: how exactly a minimum can be computed depends on it"
        raise SettingError(f"A {kind} needs {needs}. Use relation='replace-one' or 'zero-out'.")


def price_for(
    kind: QueryKind,
    mu_squared: Fraction,
    relation: Relation,
    *,
    records: int,
    width: int,
    size: int = 1,
    largest_bound: int = FINEST_BOUND,
) -> Price:
    """Finest price, with a bound of at most `largest_bound`, whose event costs at most `mu_squared`.

    `width` is the number of coordinates that a record's integers have, `size` that of counts or means.

    Guarantee: `event_of(kind, price, relation, size).mu_squared <= mu_squared`, in exact rationals.
    """
    finest = max(1, min(FINEST_BOUND, largest_bound, LARGEST_TOTAL // max(records, 1)))
    ratio = mu_squared / squared_sensitivity(kind, 1, relation, size)
    for bits in range(LARGEST_BITS, -1, -1):
        bound = math.isqrt(math.floor(ratio * 4**bits))
        if bound <= finest:
            if not is_resolved(kind, bound, width):
                break
            return Price(bound, bits)
    fault = (
        "too small for this plan: one answer would be noise alone. Use a larger epsilon, fewer columns or iterations."
    )
    if mu_squared > 1:
        fault = "beyond what exact noise can spend. Use a smaller epsilon, or epsilon=inf to ask for no privacy."
    raise BudgetError(f"The budget is {fault}")


def is_resolved(kind: QueryKind, bound: int, width: int) -> bool:
    """Whether the bound is well above the rounding of `width` coordinates."""
    if kind is QueryKind.COUNTS or kind in VOTES:
        return bound >= 1
    if kind in SIZED:
        return bound >= SMALLEST_MEAN_BOUND
    plain = {QueryKind.GRADIENT, *BATCHED, QueryKind.DIRECTION, QueryKind.NOISY_MINIMUM}
    plain |= {QueryKind.POSTERIOR, QueryKind.BLOCK_MEAN, QueryKind.COLUMN_MOMENTS}
    norm = bound if kind in plain else math.isqrt(bound)
    return norm >= 32 * math.sqrt(width)


def ridge_of(price: PerturbedPrice, clip: float, loss: Loss) -> float:
    """The ridge on every coordinate, at least clip²·smoothness / ratio.

    Guarantee: clip²·smoothness / ridge is at most the price's ratio, in exact rationals.
    """
    least = Fraction(clip) ** 2 * Fraction(loss.smoothness) / price.ratio
    ridge = float(least)
    return ridge if Fraction(ridge) >= least else math.nextafter(ridge, math.inf)
