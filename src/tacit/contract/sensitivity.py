"""Every sensitivity formula, once.

A mechanism adds up integer vectors (or matrices) q_i, one a record, with a bound S that it enforces: ‖q_i‖₂ ≤ S for
gradients, q_i = v v' with ‖v‖₂² ≤ S for second moments (a sum of such with Σ‖v‖₂² ≤ S where a person has several
records), q_i = (v v', w w') with ‖v‖₂⁴ + ‖w‖₂⁴ ≤ S² for a sandwich, 0 ≤ q_i ≤ S in each of k entries for counts. A
direction is no sum: S is what its integers can move by, whatever the relation. A noisy minimum is none either: S is
what one record more or less can move its integers by. A sum over a batch has the factor of its way of sampling
(`Batches.squared_factor`). What one record (or person) can change in the sum is then a theorem about integers
(proofs/mechanisms):

    =============  =======================  =========================
    squared        replace-one              zero-out, add-remove
    =============  =======================  =========================
    gradient       (2S)² = 4S²              S²
    second moment  2S²   (Frobenius)        S²   (Frobenius)
    sandwich       2S²   (Frobenius)        S²   (Frobenius)
    k counts       k S²                     k S²
    direction      S²                       S²
    noisy minimum  (2S)² = 4S²              S²   (not add-remove)
    =============  =======================  =========================

The noise is 2^bits times a standard Gaussian on every coordinate, rounded to the integers, so a
release is μ-GDP with μ² = squared sensitivity / 4^bits, exactly. A noisy minimum may have noise of density
∝ exp(-‖b‖ / 2^bits) in its place: it is ε-private with ε = sensitivity / 2^bits, over the reals. A gradient sum may
have discrete Laplace noise of scale 2^bits in its place: it is ε-private with ε = ⌈√width·sensitivity⌉ / 2^bits. A
perturbed minimum is two events: the minimum itself, which is not GDP, and the noise that hides how it was computed.
With noise of density ∝ exp(-‖b‖ / scale) in the objective both events are pure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from tacit.accounting.objective_perturbation import jacobian_term
from tacit.accounting.rounding import root_up
from tacit.contract.batches import BatchPrice
from tacit.contract.query import NoisyMinimum, QueryKind
from tacit.errors import BudgetError, SettingError
from tacit.losses.constants import largest_at_zero
from tacit.losses.loss import Code, Loss
from tacit.privacy.event import Event, Gaussian, ObjectivePerturbation, PerturbedObjective, Pure, SoftmaxPerturbation
from tacit.privacy.relation import Relation

LARGEST_BITS = 52
"""Largest binary logarithm of the noise scale that the sampler draws."""
FINEST_BOUND = 2**36
"""Target of the integer bound: rounding then costs a record less than 2^-36 of its contribution."""
LARGEST_TOTAL = 2**61
"""n·S stays below it, so that 64-bit sums do not wrap in practice (wrapping would be private)."""

FARTHEST = 40
"""Linear noise is clipped at so many deviations; the mass beyond is below 10^-347."""
FARTHEST_EXPONENTIAL = 45
"""Largest exponential that the sampler of Gamma norms draws, rounded up."""
PURE_DRIFT = 2**20
"""Integer bound on how far the computed minimisers of one exact minimiser are apart, at δ = 0."""
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
    QueryKind.NOISY_MINIMUM: 4,
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
AnyPrice = Price | GammaPrice | LaplacePrice | PerturbedPrice | BatchPrice


def require_kind(kind: QueryKind, price: AnyPrice) -> None:
    """Refuse the price of another kind of query."""
    for own, prices in ((QueryKind.MINIMUM, PerturbedPrice), (QueryKind.BATCH_GRADIENT, BatchPrice)):
        if (kind is own) != isinstance(price, prices):
            raise SettingError(f"A {own}, and nothing else, has a price of its own kind.")


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

    `size` is the number k of counts, and 1 for the other kinds.
    """
    if size != 1 and kind is not QueryKind.COUNTS:
        raise ValueError("Only counts have a size.")
    return _FACTORS[relation][kind] * size * bound * bound


def event_of(kind: QueryKind, price: AnyPrice, relation: Relation, size: int = 1) -> Gaussian:
    """The event of one answer at this price, where it is Gaussian."""
    if isinstance(price, PerturbedPrice):
        raise SettingError("A perturbed minimum is more than one event, and has no μ.")
    if not isinstance(price, Price):
        raise SettingError("Noise of Gamma norm or of Laplace is not Gaussian, nor is a batch, and has no μ.")
    _require_public_n(kind, relation)
    return Gaussian(squared_sensitivity(kind, price.bound, relation, size), 4**price.bits, str(kind))


def events_of(kind: QueryKind, price: AnyPrice, relation: Relation, size: int = 1) -> tuple[Event, ...]:
    """The events of one answer at this price."""
    require_kind(kind, price)
    if isinstance(price, BatchPrice):
        price.batches.require(relation)
        return (price.batches.event(price.bound, price.bits, str(kind)),)
    if isinstance(price, GammaPrice):
        if kind is not QueryKind.NOISY_MINIMUM:
            raise SettingError("Noise of Gamma norm is for noisy minima.")
        _require_public_n(kind, relation)
        sensitivity = math.isqrt(squared_sensitivity(kind, price.bound, relation, size))
        return (Pure(Fraction(sensitivity, 2**price.bits), str(kind)),)
    if isinstance(price, LaplacePrice):
        return (laplace_event(kind, price, relation),)
    if not isinstance(price, PerturbedPrice):
        return (event_of(kind, price, relation, size),)
    _require_public_n(kind, relation)
    what = "accuracy of the minimum"
    if isinstance(price, PurePrice):
        return Pure(pure_rate(price, relation), str(kind)), Pure(price.cover, what)
    return objective_event(price), Gaussian(price.drift.bound**2, 4**price.drift.bits, what)


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


def pure_cover_scale(price: PurePrice, size: int) -> Fraction:
    """Scale of discrete Laplace noise on integers at most `PURE_DRIFT` apart in L2: √size·PURE_DRIFT / cover."""
    return Fraction(math.isqrt(size * PURE_DRIFT**2) + 1) / price.cover


def _require_public_n(kind: QueryKind, relation: Relation) -> None:
    if kind in {QueryKind.MINIMUM, QueryKind.NOISY_MINIMUM} and not relation.n_is_public:
        needs = "a public number of records: how exactly a minimum can be computed depends on it"
        raise SettingError(f"A {kind} needs {needs}. Use relation='replace-one' or 'zero-out'.")


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


def is_resolved(kind: QueryKind, bound: int, width: int) -> bool:
    """Whether the bound is well above the rounding of `width` coordinates."""
    if kind is QueryKind.COUNTS:
        return bound >= 1
    plain = {QueryKind.GRADIENT, QueryKind.BATCH_GRADIENT, QueryKind.DIRECTION, QueryKind.NOISY_MINIMUM}
    norm = bound if kind in plain else math.isqrt(bound)
    return norm >= 32 * math.sqrt(width)


def ridge_of(price: PerturbedPrice, clip: float, loss: Loss) -> float:
    """The ridge on every coordinate, at least clip²·smoothness / ratio.

    Guarantee: clip²·smoothness / ridge is at most the price's ratio, in exact rationals.
    """
    least = Fraction(clip) ** 2 * Fraction(loss.smoothness) / price.ratio
    ridge = float(least)
    return ridge if Fraction(ridge) >= least else math.nextafter(ridge, math.inf)


@dataclass(frozen=True)
class Accuracy:
    """How exactly a perturbed minimum is computed, from public numbers alone.

    The objective, over the loss's Lipschitz constant and with rows divided by the clip, so that a record's gradient is
    at most 1 and its curvature at most h = smoothness / lipschitz (1/4 for the logistic loss),

        J(φ) = Σ w loss(z·φ, y) + (λ/2)‖φ‖² + b·φ,      λ = h / ratio

    has its minimiser within `radius` of 0, as every accepted point. Its gradient, computed in integers, is off by at
    most `error`; a point is accepted where the gradient's norm is at most `tolerance`, four times that. `drift` is how
    far such a point can be from the exact minimiser of the unrounded noise; descent finds one within `steps` steps.
    Coordinates are φ = clip·theta, gradients are over clip·lipschitz, and everything is rounded up, with slack. Proof:
    proofs/mechanisms/certified_minimum.md.
    """

    radius: float
    error: float
    tolerance: float
    drift: float
    steps: int

    @classmethod
    def of(cls, price: PerturbedPrice, loss: Loss, *, records: int, width: int) -> Accuracy:
        """Bounds for so many records of so many columns, all of them public."""
        classes = price.classes if isinstance(price, SoftmaxPrice | PurePrice) else 1
        ridge = loss.smoothness / loss.lipschitz / float(price.ratio) / _SLACK
        root, noise = math.sqrt(width * classes), 2.0**price.bits / price.bound
        if isinstance(price, PurePrice):
            # The sampler's floats are the noise that the proof is about.
            pull, lattice = FARTHEST_EXPONENTIAL * noise * width * classes * _SLACK, 0.0
        else:
            pull, lattice = FARTHEST * noise * root * _SLACK, root / (2 * price.bound)
        return cls.bounds(loss, ridge=ridge, pull=pull, lattice=lattice, records=records, width=width, classes=classes)

    @classmethod
    def bounds(
        cls, loss: Loss, *, ridge: float, pull: float, lattice: float, records: int, width: int, classes: int = 1
    ) -> Accuracy:
        """Bounds for a ridge at least `ridge`, a ‖b‖ at most `pull`, and a b that was moved by at most `lattice`."""
        u, root, smoothness = 2.0**-53, math.sqrt(width * classes), loss.smoothness / loss.lipschitz
        # J(φ) ≤ J(0) ≤ n·most gives (λ/2)‖φ‖² ≤ n·most + ‖b‖‖φ‖.
        most = largest_at_zero(loss, classes) / loss.lipschitz
        radius = (pull + math.sqrt(pull**2 + 2 * ridge * records * most)) / ridge * _SLACK
        rounding = root / (2 * GRADIENT_BOUND) * (1 + 2.0**-20)
        # A sum over the classes and a corner are more roundings than a sigmoid.
        further = 0 if loss.code is Code.LOGISTIC else 4 * classes + 16 * math.ceil(smoothness)
        one = smoothness * (width + 12) * u * radius + (2 * width + 64 + further) * u + rounding
        # Eight units of width and the last term: points are rounded to floats on the way.
        error = (records * one + 12 * u * radius * ridge * _SLACK**2) * _SLACK
        drift = ((ACCEPTED + 1) * error + lattice) / ridge * _SLACK
        steepest = (records * smoothness + ridge) * _SLACK
        # J(0) is at most n·most, and no value is below -‖b‖² / 2λ.
        gap = records * most + pull**2 / (2 * ridge)
        height = max(2 * steepest * gap / (9 * error**2), math.e)
        steps = math.ceil(steepest / (0.6 * ridge) * math.log(height) * _SLACK) + 1
        return cls(radius, error, ACCEPTED * error, drift, steps)

    def step(self, price: PerturbedPrice, width: int) -> float:
        """Lattice on which φ is released: integers of one minimiser are drift.bound apart at most.

        Guarantee: 2·drift / step + √width ≤ price.drift.bound.
        """
        bound = PURE_DRIFT if isinstance(price, PurePrice) else price.drift.bound
        return 2 * self.drift / (bound - math.sqrt(width) * _SLACK) * _SLACK


def minimum_accuracy(query: NoisyMinimum, *, records: int, width: int) -> Accuracy:
    """How exactly a noisy minimum is computed, from public numbers alone."""
    ridge = float(1 / _one_move(query)) / _SLACK
    return Accuracy.bounds(
        query.loss, ridge=ridge, pull=0.0, lattice=0.0, records=records, width=width, classes=query.classes
    )


def minimum_step(query: NoisyMinimum, price: Price | GammaPrice, accuracy: Accuracy, *, width: int) -> Fraction:
    """Lattice on which the theta of a noisy minimum is released.

    Guarantee: (clip·lipschitz / ridge + 2·drift / clip) / step + √(width·classes) ≤ price.bound, in exact rationals.
    """
    left = price.bound - Fraction(root_up(Fraction(width * query.classes)))
    return (_one_move(query) + 2 * Fraction(accuracy.drift)) / left / Fraction(query.clip)


def _one_move(query: NoisyMinimum) -> Fraction:
    """How far one record more or less moves φ = clip·theta at most: clip²·lipschitz / ridge."""
    return Fraction(query.clip) ** 2 * Fraction(query.loss.lipschitz) / Fraction(query.ridge)
