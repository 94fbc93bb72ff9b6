"""Every sensitivity formula, once.

A mechanism adds up integer vectors (or matrices) q_i, one a record, with a bound S that it
enforces: ‖q_i‖₂ ≤ S for gradients, q_i = v v' with ‖v‖₂² ≤ S for second moments (a sum of such
with Σ‖v‖₂² ≤ S where a person has several records), q_i = (v v', w w') with ‖v‖₂⁴ + ‖w‖₂⁴ ≤ S² for
a sandwich, 0 ≤ q_i ≤ S in each of k entries for counts. A direction is no sum: S is what its
integers can move by, whatever the relation.
What one record (or person) can change in the sum is then a theorem about integers
(proofs/mechanisms):

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

from tacit.contract.query import QueryKind
from tacit.errors import BudgetError, SettingError
from tacit.privacy.event import Event, Gaussian, ObjectivePerturbation
from tacit.privacy.relation import Relation

LARGEST_BITS = 52
"""Largest binary logarithm of the noise scale that the sampler draws."""
FINEST_BOUND = 2**36
"""Target of the integer bound: rounding then costs a record less than 2^-36 of its contribution."""
LARGEST_TOTAL = 2**61
"""n·S stays below it, so that 64-bit sums do not wrap in practice (wrapping would be private)."""

_FACTOR = {
    (QueryKind.GRADIENT, Relation.REPLACE_ONE): 4,
    (QueryKind.GRADIENT, Relation.ZERO_OUT): 1,
    (QueryKind.GRADIENT, Relation.ADD_REMOVE): 1,
    (QueryKind.SECOND_MOMENTS, Relation.REPLACE_ONE): 2,
    (QueryKind.SECOND_MOMENTS, Relation.ZERO_OUT): 1,
    (QueryKind.SECOND_MOMENTS, Relation.ADD_REMOVE): 1,
    (QueryKind.SANDWICH, Relation.REPLACE_ONE): 2,
    (QueryKind.SANDWICH, Relation.ZERO_OUT): 1,
    (QueryKind.SANDWICH, Relation.ADD_REMOVE): 1,
    (QueryKind.COUNTS, Relation.REPLACE_ONE): 1,
    (QueryKind.COUNTS, Relation.ZERO_OUT): 1,
    (QueryKind.COUNTS, Relation.ADD_REMOVE): 1,
    (QueryKind.DIRECTION, Relation.REPLACE_ONE): 1,
    (QueryKind.DIRECTION, Relation.ZERO_OUT): 1,
    (QueryKind.DIRECTION, Relation.ADD_REMOVE): 1,
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


AnyPrice = Price | MinimumPrice


def squared_sensitivity(kind: QueryKind, bound: int, relation: Relation, size: int = 1) -> int:
    """Largest squared L2 (Frobenius) change of the integer sum between neighbours.

    `size` is the number k of counts, and 1 for the other kinds.
    """
    if size != 1 and kind is not QueryKind.COUNTS:
        raise ValueError("Only counts have a size.")
    return _FACTOR[kind, relation] * size * bound * bound


def event_of(kind: QueryKind, price: AnyPrice, relation: Relation, size: int = 1) -> Gaussian:
    """The event of one answer at this price, where it is Gaussian."""
    if isinstance(price, MinimumPrice):
        raise SettingError("A perturbed minimum is more than one event, and has no μ.")
    squared = squared_sensitivity(kind, price.bound, relation, size)
    return Gaussian(squared, 4**price.bits, str(kind))


def events_of(
    kind: QueryKind, price: AnyPrice, relation: Relation, size: int = 1
) -> tuple[Event, ...]:
    """The events of one answer at this price."""
    if (kind is QueryKind.MINIMUM) != isinstance(price, MinimumPrice):
        raise SettingError("A perturbed minimum, and nothing else, has a price of its own kind.")
    if not isinstance(price, MinimumPrice):
        return (event_of(kind, price, relation, size),)
    if not relation.n_is_public:
        raise SettingError(
            "Perturbing the objective needs a public number of records: how exactly a minimum can "
            "be computed depends on it. Use relation='replace-one' or 'zero-out'."
        )
    # The event holds one record's own gradient; accountants know what a relation makes of it.
    return (
        ObjectivePerturbation(price.bound**2, 4**price.bits, price.ratio, 1, str(kind)),
        Gaussian(price.drift.bound**2, 4**price.drift.bits, "accuracy of the minimum"),
    )


def price_for(
    kind: QueryKind,
    mu_squared: Fraction,
    relation: Relation,
    *,
    records: int,
    width: int,
    size: int = 1,
) -> Price:
    """Finest price whose event costs at most `mu_squared`.

    `width` is the number of coordinates that a record's integers have, `size` that of counts.

    Guarantee
    ---------
    - `event_of(kind, price, relation, size).mu_squared <= mu_squared`, in exact rationals.
    """
    finest = max(1, min(FINEST_BOUND, LARGEST_TOTAL // max(records, 1)))
    ratio = mu_squared / squared_sensitivity(kind, 1, relation, size)
    for bits in range(LARGEST_BITS, -1, -1):
        bound = math.isqrt(math.floor(ratio * 4**bits))
        if bound <= finest:
            if not is_resolved(kind, bound, width):
                break
            return Price(bound, bits)
    if mu_squared > 1:
        raise BudgetError(
            "The budget is beyond what exact noise can spend. Use a smaller epsilon, or "
            "epsilon=inf to ask for no privacy."
        )
    raise BudgetError(
        "The budget is too small for this plan: a single answer would be noise alone. "
        "Use a larger epsilon, fewer columns or fewer iterations."
    )


def is_resolved(kind: QueryKind, bound: int, width: int) -> bool:
    """Whether the bound is well above the rounding of `width` coordinates."""
    if kind is QueryKind.COUNTS:
        return bound >= 1
    linear = kind in {QueryKind.GRADIENT, QueryKind.DIRECTION}
    norm = bound if linear else math.isqrt(bound)
    return norm >= 32 * math.sqrt(width)
