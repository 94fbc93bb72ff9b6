r"""What a sequence of events costs: releases are unfolded, counted, and composed.

Every accountant works on the counts, so none can forget a repetition. Gaussian events add up
exactly, :math:`\mu^2 = \sum_i \mu_i^2`, as rational numbers; a float appears only when a guarantee
is read, rounded up. Other events are priced by the best accountant, loaded when first needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from tacit.accounting import gaussian
from tacit.accounting.rounding import root_up
from tacit.display import Displayed
from tacit.errors import AccountingError, BudgetError, SettingError
from tacit.privacy import event as kinds
from tacit.privacy.budget import Budget, Guarantee
from tacit.privacy.event import Event, Gaussian, PoissonSampled, Repeated
from tacit.privacy.event_fields import LARGEST_BITS
from tacit.privacy.relation import Relation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tacit.accounting.accountants import AccountantPrice
    from tacit.accounting.composition_curves import LossArrays
    from tacit.accounting.rounding import Floats

EventCounts: TypeAlias = tuple[tuple[Event, int], ...]
Sampled: TypeAlias = PoissonSampled | kinds.SampledWithoutReplacement | kinds.SampledWithReplacement

# Counts are read as floats by most accountants.
_LARGEST_COUNT_BITS = 1000


@dataclass(frozen=True, slots=True, repr=False)
class Composition(Displayed):
    """What a sequence of events costs together.

    `square` is the exact sum of the squares of mu, or None if an event is not Gaussian; then the
    counted events and their relation are stored.

    Guarantee: `mu_squared` is the exact rational sum; where an event is not Gaussian it is refused. `mu` is the
    smallest float whose exact square is at least `mu_squared`, or None. `epsilon` and `delta` are never below the exact
    ones.
    """

    square: Fraction | None
    counts: EventCounts = ()
    relation: Relation | None = None

    def __str__(self) -> str:
        """The Gaussian parameter, or how many events there are."""
        if self.mu is not None:
            return f"Composition: μ = {self.mu:.6g}, rounded up"
        count = sum(times for _, times in self.counts)
        return f"Composition of {count:,} events, {self.relation}: ask epsilon(delta) or delta(epsilon)"

    @property
    def mu_squared(self) -> Fraction:
        """The exact sum of the squares of mu, if all events are Gaussian."""
        if self.square is None:
            use = "read epsilon(delta) or delta(epsilon) instead"
            raise AccountingError(f"the events have no mu, because not all of them are Gaussian; {use}")
        return self.square

    @property
    def mu(self) -> float | None:
        """The Gaussian differential privacy parameter, rounded up; None if there is none."""
        return None if self.square is None else root_up(self.square)

    def epsilon(self, delta: float) -> float:
        """Return the smallest safe epsilon at delta, rounded up."""
        if self.square is not None:
            return gaussian.epsilon(root_up(self.square), delta)
        return self.price(delta).epsilon

    @property
    def pure_epsilon(self) -> Fraction | None:
        """The exact sum of the epsilons, if every event is pure; otherwise None."""
        return None if self.square else total_pure(self.counts)

    def delta(self, epsilon: float) -> float:
        """Return the delta at epsilon, rounded up."""
        if self.square is not None:
            return gaussian.delta(epsilon, root_up(self.square))
        from tacit.accounting.best_epsilon import delta_of_counts

        return delta_of_counts(self.counts, self.relation, epsilon)

    @property
    def releases(self) -> EventCounts:
        """The counted events; Gaussian ones alone are one with their exact total, rounded up where that is long."""
        return self.counts if self.square is None else (((_gaussian(self.square), 1),) if self.square else ())

    def loss_distribution(
        self, direction: str = "remove", *, bound: str = "upper", smallest_delta: float = 1e-9
    ) -> LossArrays:
        """Return the privacy-loss distribution as arrays: losses, masses, and the mass of an infinite loss.

        `direction` is "remove" or "add", `bound` "upper" or "lower"; tails below about `smallest_delta` are cut.
        """
        from tacit.accounting.composition_curves import loss_distribution

        return loss_distribution(self, direction, bound=bound, smallest_delta=smallest_delta)

    def delta_curve(self, epsilons: ArrayLike) -> Floats:
        """Return delta at each of many epsilons, rounded up."""
        from tacit.accounting.composition_curves import delta_curve

        return delta_curve(self, epsilons)

    def epsilon_curve(self, deltas: ArrayLike) -> Floats:
        """Return the smallest safe epsilon at each of many deltas, rounded up."""
        from tacit.accounting.composition_curves import epsilon_curve

        return epsilon_curve(self, deltas)

    def trade_off_curve(self, false_alarms: ArrayLike) -> Floats:
        """Return the least rate of misses of any attack at each rate of false alarms, rounded down."""
        from tacit.accounting.composition_curves import trade_off_curve

        return trade_off_curve(self, false_alarms)

    def renyi_curve(self, orders: ArrayLike) -> Floats:
        """Return the Rényi divergence at each order, in the worse direction, rounded up."""
        from tacit.accounting.composition_curves import renyi_curve

        return renyi_curve(self, orders)

    def price(self, delta: float) -> AccountantPrice:
        """Return the epsilon at delta with the accountant it comes from."""
        from tacit.accounting.accountants import AccountantPrice, required_delta
        from tacit.accounting.best_epsilon import best_of_counts

        target = required_delta(delta)
        if self.square is not None:
            return AccountantPrice("gdp", self.epsilon(target), target, self.relation)
        return best_of_counts(self.counts, self.relation, target)


def compose(events: Iterable[Event], relation: Relation | str | None = None) -> Composition:
    """Add up the cost of events. Sampled events and objective perturbation need a relation.

    Guarantee: the order and the grouping of Gaussian events do not matter, to the last bit. ``Repeated(event, k)``
    costs exactly k copies of the event. An object that is no known event is refused by name, never skipped.

    Examples
    --------
    >>> compose([Gaussian(1, 16), Repeated(Gaussian(1, 32), times=6)]).mu
    0.5
    """
    counts, known = counted(events, relation)
    square = total_mu_squared(counts)
    return Composition(None, counts, known) if square is None else Composition(square)


def mu_squared_of(budget: Budget) -> Fraction:
    """Return the largest exact μ² that a budget allows, rounded down: μ(ε, δ)², μ² or 2ρ.

    Guarantee: events whose exact squares add up to at most this are within the budget. For mu and rho nothing is lost:
    the square is exact in the float that was given.
    """
    if budget.is_infinite:
        raise BudgetError("an infinite budget has no mu; expected a finite one. Fit without noise instead")
    if budget.mu is not None:
        return Fraction(budget.mu) ** 2
    if budget.rho is not None:
        return 2 * Fraction(budget.rho)
    if budget.epsilon is None or budget.delta is None:
        raise BudgetError(
            "the budget has no delta; Gaussian noise needs one. Pass Budget(epsilon=..., delta=1e-6) or call with_delta"
        )
    if budget.is_pure:
        raise BudgetError("delta is 0, and Gaussian noise needs one above 0: pass for example delta=1e-6")
    mu = gaussian.mu(budget.epsilon, budget.delta)
    if not 0.0 < mu < math.inf:
        expected = "moderate numbers, for example Budget(epsilon=1, delta=1e-6)"
        raise BudgetError(f"epsilon and delta are beyond the range of floats; expected {expected}")
    return Fraction(mu) ** 2


def guarantee_of(events: Iterable[Event], *, delta: float, relation: Relation | str, unit: str) -> Guarantee:
    """State what events guarantee together at delta, for the relation and unit they hold for.

    Guarantee: the epsilon stated is never below the exact one of the events.

    Examples
    --------
    >>> print(guarantee_of([], delta=1e-6, relation="zero-out", unit="row"))
    (ε = 0, δ = 1e-06), zero-out, per row
    """
    known = Relation.parse(relation)
    total = compose(events, known)
    epsilon = total.epsilon(delta)
    return Guarantee(relation=known, unit=unit, epsilon=epsilon, delta=float(delta), mu=total.mu)


def count_events(events: Iterable[Event], relation: Relation | str | None = None) -> EventCounts:
    """Unfold events into distinct releases and their counts.

    Guarantee: ``Repeated(event, k)``, a list and a `Composed` of k copies give equal counts; order and labels do not
    matter. An object that is no event is refused by name, never skipped; so is an amplification that does not hold
    under the relation, a sample that was reused, and a count of releases, draws or records of more than 1000 bits.
    """
    return counted(events, relation)[0]


def counted(events: Iterable[Event], relation: Relation | str | None) -> tuple[EventCounts, Relation | None]:
    """Return the counts of `count_events` with the relation they hold for."""
    known = None if relation is None else Relation.parse(relation)
    counts: dict[Event, int] = {}
    for event in events:
        for release, times in _unfold(event, 1, known):
            counts[release] = counts.get(release, 0) + times
            _require_countable(counts[release])
    return tuple(counts.items()), known


def total_mu_squared(counts: EventCounts) -> Fraction | None:
    """Return the sum of the squares of mu, exact without rounding, or None if a release is not Gaussian."""
    total = Fraction(0)
    for event, times in counts:
        if not isinstance(event, Gaussian):
            return None
        total += times * event.mu_squared
    return total


def total_pure(counts: EventCounts) -> Fraction | None:
    """Return the sum of the epsilons of pure releases, exact without rounding, or None if a release is not pure."""
    total = Fraction(0)
    for event, times in counts:
        epsilon = pure_epsilon(event)
        if epsilon is None:
            return None
        total += times * Fraction(epsilon)
    return total


def _unfold(event: Event, times: int, relation: Relation | None) -> Iterator[tuple[Event, int]]:
    match event:
        case Repeated():
            yield from _unfold(event.event, times * event.times, relation)
        case kinds.Composed():
            for part in event.events:
                yield from _unfold(part, times, relation)
        case kinds.Votes():
            yield Gaussian(Fraction(2) / Fraction(event.variance), 1), times * event.queries
        case PoissonSampled() | kinds.SampledWithoutReplacement() | kinds.SampledWithReplacement():
            yield from _unfold_sampled(event, times, relation)
        case kinds.RandomStopping():
            inside = count_events(event.inner(), relation)
            if inside:
                parts = tuple(r if k == 1 else Repeated(r, k) for r, k in inside)
                run = parts[0] if len(parts) == 1 else kinds.Composed(parts)
                yield kinds.RandomStopping(run, event.law), times
        case _:
            yield from _unfold_release(event, times, relation)


def _gaussian(square: Fraction) -> Gaussian:
    """The release with this mu², rounded up where its digits would be too many for an event."""
    above, below = square.numerator.bit_length(), square.denominator.bit_length()
    if max(above, below) > LARGEST_BITS:
        unit = Fraction(2) ** max(min(1024 - (above - below), 1500), -1500)
        square = Fraction(math.ceil(square * unit)) / unit
    return Gaussian(square, 1)


def _unfold_release(event: Event, times: int, relation: Relation | None) -> Iterator[tuple[Event, int]]:
    match event:
        case Gaussian():
            if event.squared_sensitivity > 0:
                yield _gaussian(event.mu_squared), times
        case kinds.Laplace():
            if event.sensitivity > 0:
                yield kinds.Laplace(event.epsilon, 1), times
        case kinds.Approximate() if event.delta == 0:
            yield from _unfold_release(kinds.Pure(event.epsilon), times, relation)
        case kinds.Pure(epsilon=0) | kinds.BoundedRange(eta=0) | kinds.DiscreteGaussian(squared_sensitivity=0):
            return
        case kinds.ObjectivePerturbation() | kinds.SoftmaxPerturbation() if relation is None:
            why = 'its facts are those of one record; pass relation="replace-one" or another'
            raise AccountingError(f"objective perturbation has no price without a relation, because {why}")
        case (
            kinds.Pure()
            | kinds.Approximate()
            | kinds.BoundedRange()
            | kinds.DiscreteGaussian()
            | kinds.ObjectivePerturbation()
            | kinds.SoftmaxPerturbation()
        ):
            yield replace(event, label=""), times
        case _:
            raise SettingError(
                f"a {type(event).__name__} cannot be priced; expected events such as Gaussian or Repeated"
            )


def _unfold_sampled(event: Sampled, times: int, relation: Relation | None) -> Iterator[tuple[Event, int]]:
    relation = _require_relation(event, relation)
    if isinstance(event, kinds.SampledWithReplacement):
        _require_countable(max(event.draws, event.population))
    if isinstance(event, PoissonSampled) and isinstance(event.event, PoissonSampled):
        # A sample of a sample is a sample at the product of the rates.
        nested, rate = event.event, Fraction(event.rate) * Fraction(event.event.rate)
        yield from _unfold_sampled(PoissonSampled(nested.event, rate), times, relation)
        return
    fixed = Relation.ADD_REMOVE if isinstance(event, PoissonSampled) else Relation.REPLACE_ONE
    release = _one_release(event, fixed)
    if release is None:
        return
    match event:
        case PoissonSampled(rate=0):
            return
        case PoissonSampled(rate=1) if relation is not Relation.REPLACE_ONE:
            yield release, times
        case PoissonSampled(rate=1) if isinstance(release, Gaussian):
            # A record of norm C becomes another one: the sum moves by 2 C.
            yield Gaussian(4 * release.mu_squared, 1), times
        case kinds.SampledWithoutReplacement(rate=1):
            yield release, times
        case kinds.SampledWithoutReplacement():
            rate = event.rate
            yield kinds.SampledWithoutReplacement(release, rate.numerator, rate.denominator), times
        case _:
            yield replace(event, event=release), times


def _one_release(event: Event, relation: Relation) -> Event | None:
    """Return what is released of one sample as one release, None if it tells nothing."""
    inside = count_events(event.inner(), relation)
    if not inside:
        return None
    if len(inside) == 1 and inside[0][1] == 1:
        release = inside[0][0]
        if isinstance(release, Sampled | kinds.RandomStopping):
            nested = f"{type(release).__name__} inside {type(event).__name__}"
            raise AccountingError(f"{nested} has no known price; expected a plain release of the sample")
        return release
    squares = total_mu_squared(inside)
    if squares is not None:
        return _gaussian(squares)
    amounts = [(pure_epsilon(release), times) for release, times in inside]
    if all(epsilon is not None for epsilon, _ in amounts):
        return kinds.Pure(sum((epsilon or 0) * times for epsilon, times in amounts))
    raise AccountingError(
        f"{type(event).__name__} around several releases is refused: several releases from one sample are not several "
        "sampled releases: the sample is drawn once, so its amplification is not theirs one by one. Draw a fresh "
        "sample for each release, or release all of them with Gaussian noise, which is one Gaussian release of the "
        "sample"
    )


def pure_epsilon(event: Event) -> Fraction | float | None:
    """Return the exact epsilon of a pure release, or None; losses of range eta lie around 0, so it is eta-private."""
    match event:
        case kinds.Laplace() | kinds.Pure():
            return event.epsilon
        case kinds.BoundedRange():
            return event.eta
        case _:
            return None


def _require_countable(number: int) -> None:
    if number.bit_length() > _LARGEST_COUNT_BITS:
        fault = f"a count has more than {_LARGEST_COUNT_BITS} bits; no accountant reads that many"
        raise AccountingError(f"{fault}. Expected a number of releases, draws or records")


def _require_relation(event: Event, relation: Relation | None) -> Relation:
    """Refuse an amplification outside of the relation it is proven for."""
    name = type(event).__name__
    if relation is None:
        use = 'pass relation="add-remove" or another'
        raise AccountingError(
            f"{name} has no price without a relation, because amplification differs between relations; {use}"
        )
    if not isinstance(event, PoissonSampled) and relation is not Relation.REPLACE_ONE:
        why = "the size of the sample is fixed. Use Poisson sampling, or the relation replace-one"
        raise AccountingError(f"{name} amplifies under replace-one only, not under {relation}: {why}")
    return relation
