"""How often each kind of release happened: the one place where events are unfolded and counted.

Every accountant works on the tally, so none can forget a count. Labels are dropped, nested
compositions are unfolded, and what has a simpler equal is replaced by it.
Proof: ``proofs/accounting/event_counts.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

from tacit.errors import AccountingError, SettingError
from tacit.privacy.basic_events import LARGEST_BITS
from tacit.privacy.event import (
    Approximate,
    BoundedRange,
    Composed,
    DiscreteGaussian,
    Event,
    Gaussian,
    Laplace,
    ObjectivePerturbation,
    PoissonSampled,
    Pure,
    RandomStopping,
    Repeated,
    SampledWithoutReplacement,
    SampledWithReplacement,
    Votes,
)
from tacit.privacy.relation import Relation

Tally: TypeAlias = tuple[tuple[Event, int], ...]

# Counts are read as floats by most accountants.
_LARGEST_COUNT_BITS = 1000

_REUSED = (
    "several releases from one sample are not several sampled releases: the sample is drawn once, "
    "so its amplification is not theirs one by one. Draw a fresh sample for each release, or "
    "release all of them with Gaussian noise, which is one Gaussian release of the sample"
)


def tally(events: Iterable[Event], relation: Relation | str | None = None) -> Tally:
    """Unfold events into distinct releases and their counts.

    Guarantee
    ---------
    - ``Repeated(event, k)``, a list of k copies and a `Composed` of k copies give equal tallies.
    - Order, grouping and labels do not matter to the counts.
    - An object that is no event is refused by name, never skipped; so is an amplification that
      does not hold under the relation, and a sample that was reused.
    - Counts of releases, draws and records of at most 1000 bits are read, larger ones refused.

    Parameters
    ----------
    events
        What was released, all under one relation.
    relation
        Needed where the events depend on it: sampled ones and objective perturbation.

    Examples
    --------
    >>> tally([Repeated(Pure(1), 3), Composed((Pure(1, "again"), BoundedRange(2)))])
    ((Pure(epsilon=1, label=''), 4), (BoundedRange(eta=2, label=''), 1))
    """
    known = None if relation is None else Relation.parse(relation)
    counts: dict[Event, int] = {}
    for event in events:
        for release, times in _unfold(event, 1, known):
            counts[release] = counts.get(release, 0) + times
            _require_countable(counts[release])
    return tuple(counts.items())


def total_mu_squared(counted: Tally) -> Fraction | None:
    """Return the exact sum of the squares of mu, or None if a release is not Gaussian.

    Guarantee
    ---------
    - Exact, with no rounding anywhere.

    Examples
    --------
    >>> total_mu_squared(tally([Repeated(Gaussian(1, 32), 6), Gaussian(1, 16)]))
    Fraction(1, 4)
    """
    total = Fraction(0)
    for event, times in counted:
        if not isinstance(event, Gaussian):
            return None
        total += times * event.mu_squared
    return total


def _unfold(event: Event, times: int, relation: Relation | None) -> Iterator[tuple[Event, int]]:
    match event:
        case Repeated():
            yield from _unfold(event.event, times * event.times, relation)
        case Composed():
            for part in event.events:
                yield from _unfold(part, times, relation)
        case Votes():
            yield Gaussian(Fraction(2) / Fraction(event.variance), 1), times * event.queries
        case PoissonSampled() | SampledWithoutReplacement() | SampledWithReplacement():
            yield from _unfold_sampled(event, times, relation)
        case RandomStopping():
            inside = tally(event.inner(), relation)
            if inside:
                parts = tuple(r if k == 1 else Repeated(r, k) for r, k in inside)
                yield (
                    RandomStopping(parts[0] if len(parts) == 1 else Composed(parts), event.law),
                    times,
                )
        case _:
            yield from _unfold_release(event, times, relation)


def _gaussian(square: Fraction) -> Gaussian:
    """Gaussian of this squared μ, rounded up where its digits would be too many for an event."""
    long = max(square.numerator.bit_length(), square.denominator.bit_length())
    if long > LARGEST_BITS:
        shift = 1024 - (square.numerator.bit_length() - square.denominator.bit_length())
        shift = max(min(shift, 1500), -1500)
        scaled = square * Fraction(2) ** shift
        square = Fraction(math.ceil(scaled)) * Fraction(2) ** -shift
    return Gaussian(square, 1)


def _unfold_release(
    event: Event, times: int, relation: Relation | None
) -> Iterator[tuple[Event, int]]:
    match event:
        case Gaussian():
            if event.squared_sensitivity > 0:
                yield _gaussian(event.mu_squared), times
        case Laplace():
            if event.sensitivity > 0:
                yield Laplace(event.epsilon, 1), times
        case Approximate() if event.delta == 0:
            yield from _unfold_release(Pure(event.epsilon), times, relation)
        case Pure(epsilon=0) | BoundedRange(eta=0) | DiscreteGaussian(squared_sensitivity=0):
            return
        case ObjectivePerturbation():
            if relation is None:
                raise AccountingError(
                    "objective perturbation has no price without a relation, because its facts "
                    'are those of one record; pass relation="replace-one" or another'
                )
            yield replace(event, label=""), times
        case Pure() | Approximate() | BoundedRange() | DiscreteGaussian():
            yield replace(event, label=""), times
        case _:
            raise SettingError(
                f"a {type(event).__name__} cannot be priced; expected events such as Gaussian or "
                "Repeated"
            )


def _unfold_sampled(
    event: PoissonSampled | SampledWithoutReplacement | SampledWithReplacement,
    times: int,
    relation: Relation | None,
) -> Iterator[tuple[Event, int]]:
    relation = _require_relation(event, relation)
    if isinstance(event, SampledWithReplacement):
        _require_countable(max(event.draws, event.population))
    if isinstance(event, PoissonSampled) and isinstance(event.event, PoissonSampled):
        # A sample of a sample is a sample at the product of the rates.
        nested = event.event
        yield from _unfold_sampled(
            PoissonSampled(nested.event, Fraction(event.rate) * Fraction(nested.rate)),
            times,
            relation,
        )
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
        case SampledWithoutReplacement(rate=1):
            yield release, times
        case SampledWithoutReplacement():
            rate = event.rate
            yield SampledWithoutReplacement(release, rate.numerator, rate.denominator), times
        case _:
            yield replace(event, event=release), times


def _one_release(event: Event, relation: Relation) -> Event | None:
    """Return the one release that is made of a sample, None if it tells nothing."""
    inside = tally(event.inner(), relation)
    if not inside:
        return None
    if len(inside) == 1 and inside[0][1] == 1:
        release = inside[0][0]
        kinds = PoissonSampled | SampledWithoutReplacement | SampledWithReplacement
        if isinstance(release, kinds | RandomStopping):
            raise AccountingError(
                f"{type(release).__name__} inside {type(event).__name__} has no known price; "
                "expected a plain release of the sample"
            )
        return release
    squares = total_mu_squared(inside)
    if squares is not None:
        return _gaussian(squares)
    amounts = [(pure_epsilon(release), times) for release, times in inside]
    if all(epsilon is not None for epsilon, _ in amounts):
        return Pure(sum((epsilon or 0) * times for epsilon, times in amounts))
    raise AccountingError(f"{type(event).__name__} around several releases is refused: {_REUSED}")


def pure_epsilon(event: Event) -> Fraction | float | None:
    """Return the exact epsilon of a release that is pure, None if it is not.

    Guarantee
    ---------
    - A mechanism of range eta is eta-private, because its losses lie on both sides of 0.

    Examples
    --------
    >>> pure_epsilon(Laplace(1, 2)), pure_epsilon(BoundedRange(3)), pure_epsilon(Gaussian(1, 1))
    (Fraction(1, 2), 3, None)
    """
    match event:
        case Laplace() | Pure():
            return event.epsilon
        case BoundedRange():
            return event.eta
        case _:
            return None


def _require_countable(number: int) -> None:
    if number.bit_length() > _LARGEST_COUNT_BITS:
        raise AccountingError(
            f"a count has more than {_LARGEST_COUNT_BITS} bits; no accountant reads that many. "
            "Expected a number of releases, draws or records"
        )


def _require_relation(event: Event, relation: Relation | None) -> Relation:
    """Refuse an amplification outside of the relation it is proven for."""
    name = type(event).__name__
    if relation is None:
        raise AccountingError(
            f"{name} has no price without a relation, because amplification differs between "
            'relations; pass relation="add-remove" or another'
        )
    if not isinstance(event, PoissonSampled) and relation is not Relation.REPLACE_ONE:
        raise AccountingError(
            f"{name} amplifies under replace-one only, not under {relation}: the size of the "
            "sample is fixed. Use Poisson sampling, or the relation replace-one"
        )
    return relation
