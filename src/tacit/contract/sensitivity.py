"""Every sensitivity formula, once.

A mechanism adds up integer vectors (or matrices) q_i, one a record, with a bound S that it enforces: ‖q_i‖₂ ≤ S for
gradients, q_i = v v' with ‖v‖₂² ≤ S for second moments (a sum of such with Σ‖v‖₂² ≤ S where a person has several
records), q_i = (v v', w w') with ‖v‖₂⁴ + ‖w‖₂⁴ ≤ S² for a sandwich, 0 ≤ q_i ≤ S in each of k entries for counts. A
direction is no sum: S is what its integers can move by, whatever the relation. A sum over a batch has the factor of its
way of sampling (`Batches.squared_factor`). What one record (or person) can change in the sum is then a theorem about
integers (proofs/mechanisms):

    =============  =======================  =========================
    squared        replace-one              zero-out, add-remove
    =============  =======================  =========================
    gradient       (2S)² = 4S²              S²
    second moment  2S²   (Frobenius)        S²   (Frobenius)
    sandwich       2S²   (Frobenius)        S²   (Frobenius)
    k counts       k S²                     k S²
    direction      S²                       S²
    =============  =======================  =========================

The noise is 2^bits times a standard Gaussian on every coordinate, rounded to the integers, so a
release is μ-GDP with μ² = squared sensitivity / 4^bits, exactly. A perturbed minimum is two events:
the minimum itself, which is not GDP, and the Gaussian noise that hides how it was computed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from tacit.contract.batches import Batches
from tacit.contract.query import QueryKind
from tacit.errors import BudgetError, SettingError
from tacit.losses.loss import Loss
from tacit.privacy.event import Event, Gaussian, ObjectivePerturbation
from tacit.privacy.relation import Relation

LARGEST_BITS = 52
"""Largest binary logarithm of the noise scale that the sampler draws."""
FINEST_BOUND = 2**36
"""Target of the integer bound: rounding then costs a record less than 2^-36 of its contribution."""
LARGEST_TOTAL = 2**61
"""n·S stays below it, so that 64-bit sums do not wrap in practice (wrapping would be private)."""

FARTHEST = 40
"""Linear noise is clipped at so many deviations; the mass beyond is below 10^-347."""
GRADIENT_BOUND = 2**49
"""Integer bound of a record's gradient while the minimiser is sought."""
ACCEPTED = 4
"""A point is accepted where the integer gradient is at most this times its own error."""
_SLACK = 1 + 2.0**-30

_REPLACE_ONE = {
    QueryKind.GRADIENT: 4,
    QueryKind.SECOND_MOMENTS: 2,
    QueryKind.SANDWICH: 2,
    QueryKind.COUNTS: 1,
    QueryKind.DIRECTION: 1,
}
_FACTORS = {
    Relation.REPLACE_ONE: _REPLACE_ONE,
    Relation.ZERO_OUT: dict.fromkeys(_REPLACE_ONE, 1),
    Relation.ADD_REMOVE: dict.fromkeys(_REPLACE_ONE, 1),
}


@dataclass(frozen=True)
class Price:
    """Integer bound S on a record's contribution, and the noise scale 2^bits."""

    bound: int
    bits: int


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
class BatchPrice:
    """Price of a sum over a fresh batch: bound and noise as in `Price`, and how the batch is drawn."""

    bound: int
    bits: int
    batches: Batches


AnyPrice = Price | MinimumPrice | BatchPrice
OWN_PRICES = {QueryKind.MINIMUM: MinimumPrice, QueryKind.BATCH_GRADIENT: BatchPrice}
"""Kinds of queries with a price of their own; that of the others is `Price`."""


def require_kind(kind: QueryKind, price: AnyPrice) -> None:
    """Refuse the price of another kind of query."""
    if type(price) is not OWN_PRICES.get(kind, Price):
        raise SettingError("Perturbed minima and sums over batches, and nothing else, have prices of their own kinds.")


def squared_sensitivity(kind: QueryKind, bound: int, relation: Relation, size: int = 1) -> int:
    """Largest squared L2 (Frobenius) change of the integer sum between neighbours.

    `size` is the number k of counts, and 1 for the other kinds.
    """
    if size != 1 and kind is not QueryKind.COUNTS:
        raise ValueError("Only counts have a size.")
    return _FACTORS[relation][kind] * size * bound * bound


def event_of(kind: QueryKind, price: AnyPrice, relation: Relation, size: int = 1) -> Gaussian:
    """The event of one answer at this price, where it is Gaussian."""
    if not isinstance(price, Price):
        raise SettingError("A perturbed minimum, or a sum over a batch, is no Gaussian event and has no μ.")
    return Gaussian(squared_sensitivity(kind, price.bound, relation, size), 4**price.bits, str(kind))


def events_of(kind: QueryKind, price: AnyPrice, relation: Relation, size: int = 1) -> tuple[Event, ...]:
    """The events of one answer at this price."""
    require_kind(kind, price)
    if isinstance(price, BatchPrice):
        price.batches.require(relation)
        return (price.batches.event(price.bound, price.bits, str(kind)),)
    if isinstance(price, Price):
        return (event_of(kind, price, relation, size),)
    if not relation.n_is_public:
        needs = "a public number of records: how exactly a minimum can be computed depends on it"
        raise SettingError(f"Perturbing the objective needs {needs}. Use relation='replace-one' or 'zero-out'.")
    # The event holds one record's own gradient; accountants know what a relation makes of it.
    return (
        ObjectivePerturbation(price.bound**2, 4**price.bits, price.ratio, 1, str(kind)),
        Gaussian(price.drift.bound**2, 4**price.drift.bits, "accuracy of the minimum"),
    )


def price_for(
    kind: QueryKind, mu_squared: Fraction, relation: Relation, *, records: int, width: int, size: int = 1
) -> Price:
    """Finest price whose event costs at most `mu_squared`.

    `width` is the number of coordinates that a record's integers have, `size` that of counts.

    Guarantee: `event_of(kind, price, relation, size).mu_squared <= mu_squared`, in exact rationals.
    """
    finest = max(1, min(FINEST_BOUND, LARGEST_TOTAL // max(records, 1)))
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


def batch_price_for(noise: Fraction, batches: Batches, *, records: int, width: int) -> BatchPrice:
    """Finest price whose noise is at least `noise` times the bound on a record.

    Guarantee: 2^bits / bound ≥ noise, in exact rationals.
    """
    finest = max(1, min(FINEST_BOUND, LARGEST_TOTAL // max(records, 1)))
    for bits in range(LARGEST_BITS, -1, -1):
        bound = math.floor(2**bits / Fraction(noise))
        if bound <= finest:
            if not is_resolved(QueryKind.BATCH_GRADIENT, bound, width):
                break
            return BatchPrice(bound, bits, batches)
    raise BudgetError(
        "The budget is too small for this plan: one answer would be noise alone. Use a larger epsilon, fewer columns "
        "or iterations."
    )


def is_resolved(kind: QueryKind, bound: int, width: int) -> bool:
    """Whether the bound is well above the rounding of `width` coordinates."""
    if kind is QueryKind.COUNTS:
        return bound >= 1
    sums = {QueryKind.GRADIENT, QueryKind.BATCH_GRADIENT, QueryKind.DIRECTION}
    norm = bound if kind in sums else math.isqrt(bound)
    return norm >= 32 * math.sqrt(width)


def ridge_of(price: MinimumPrice, clip: float, loss: Loss) -> float:
    """The ridge on every coordinate, at least clip²·smoothness / ratio.

    Guarantee: clip²·smoothness / ridge is at most the price's ratio, in exact rationals.
    """
    least = Fraction(clip) ** 2 * Fraction(loss.smoothness) / price.ratio
    ridge = float(least)
    return ridge if Fraction(ridge) >= least else math.nextafter(ridge, math.inf)


@dataclass(frozen=True)
class Accuracy:
    """How exactly a perturbed minimum is computed, from public numbers alone.

    The objective, with rows divided by the clip so that a record's gradient is at most 1 and its
    curvature at most h (1/4 for the logistic loss),

        J(φ) = Σ w loss(z·φ, y) + (λ/2)‖φ‖² + b·φ,      λ = h / ratio,   b = bits of noise / bound

    has its minimiser within `radius` of 0, as every accepted point. Its gradient, computed in integers, is off by at
    most `error`; a point is accepted where the gradient's norm is at most `tolerance`, four times that. `drift` is how
    far such a point can be from the exact minimiser of the unrounded noise. Coordinates are φ = clip·theta, gradients
    are over the clip, and everything is rounded up, with slack. Proof: proofs/mechanisms/objective_perturbation.md.
    """

    radius: float
    error: float
    tolerance: float
    drift: float

    @classmethod
    def of(cls, price: MinimumPrice, *, records: int, width: int, smoothness: float) -> Accuracy:
        """Bounds for so many records of so many columns, all of them public."""
        u, root = 2.0**-53, math.sqrt(width)
        ridge = smoothness / float(price.ratio) / _SLACK
        noise = 2.0**price.bits / price.bound
        pull = FARTHEST * noise * root * _SLACK
        # J(φ) ≤ J(0) ≤ n log 2 gives (λ/2)‖φ‖² ≤ n log 2 + ‖b‖‖φ‖.
        radius = (pull + math.sqrt(pull**2 + 2 * ridge * records * math.log(2))) / ridge * _SLACK
        rounding = root / (2 * GRADIENT_BOUND) * (1 + 2.0**-20)
        one = smoothness * (width + 12) * u * radius + (2 * width + 64) * u + rounding
        # Eight units of width and the last term: points are rounded to floats on the way.
        error = (records * one + 12 * u * radius * ridge * _SLACK**2) * _SLACK
        lattice = root / (2 * price.bound)
        drift = ((ACCEPTED + 1) * error + lattice) / ridge * _SLACK
        return cls(radius, error, ACCEPTED * error, drift)

    def step(self, price: MinimumPrice, width: int) -> float:
        """Lattice on which φ is released: integers of one minimiser are drift.bound apart at most.

        Guarantee: 2·drift / step + √width ≤ price.drift.bound.
        """
        left = price.drift.bound - math.sqrt(width) * _SLACK
        return 2 * self.drift / left * _SLACK
