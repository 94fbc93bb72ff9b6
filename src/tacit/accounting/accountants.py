"""Accountants: each a sum over counted events, with its composition law in one place.

==========  ===================================================================================
basic       epsilons add up; each release that needs a delta is priced at delta/(2T)
advanced    Dwork-Rothblum-Vadhan with the tight mean, the other half of delta as its slack
optimal     Kairouz-Oh-Viswanath; different releases through leaky randomised response
zcdp        rhos add up
tcdp        rhos add up below a common omega
rdp         Rényi curves add up (the moments accountant)
gdp         squares of mu add up, exact; Gaussian releases only
pld         privacy-loss distributions, certified on both sides
==========  ===================================================================================

``gdp-clt`` is a forecast, of another type. Proof: ``proofs/accounting/accountants.md``.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TypeAlias, TypeVar

from tacit.accounting import gaussian, pld
from tacit.accounting import release_prices as prices
from tacit.accounting.classical import optimal_epsilon
from tacit.accounting.composition import EventCounts, counted, total_mu_squared
from tacit.accounting.dominating_pairs import pair_of, pairs_of
from tacit.accounting.event_curves import LeakyCurve, curve_of, total_curve, without_leak
from tacit.accounting.pld.pairs.bounded_loss import RandomisedResponse
from tacit.accounting.renyi import conversion
from tacit.accounting.rounding import float_down, float_up, root_up
from tacit.errors import AccountingError, BudgetError
from tacit.privacy.event import Event, Gaussian
from tacit.privacy.relation import Relation

T = TypeVar("T")
Bracket: TypeAlias = tuple[float, float]
AccountantLaw: TypeAlias = Callable[[EventCounts, Relation | None, float], Bracket | None]


@dataclass(frozen=True, slots=True)
class AccountantPrice:
    """What an accountant says that events cost together.

    `relation` is None if the events do not depend on it; `note` says why a fallback was used.

    Guarantee: the events are (epsilon, delta)-private under the relation. Epsilon is rounded up, and infinite where the
    accountant promises nothing. `lower` is a certified lower bound, attained by actual releases on actual neighbours,
    where the accountant has one (pld), otherwise 0.
    """

    accountant: str
    epsilon: float
    delta: float
    relation: Relation | None
    lower: float = 0.0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Accountant:
    """One composition law.

    `accepts` says whether one counted release has a price; `law` maps counts, a relation and delta to bounds of
    epsilon, or None if an event has no price.

    Guarantee: ``Repeated(event, k)`` costs what k copies cost. An event it cannot price is refused by name, with the
    accountants that could.
    """

    name: str
    accepts: Callable[[Event, Relation | None], bool]
    law: AccountantLaw

    def price(
        self, events: Iterable[Event], *, delta: float, relation: Relation | str | None = None
    ) -> AccountantPrice:
        """Price events at delta under a relation."""
        return self.price_counts(*counted(events, relation), required_delta(delta))

    def price_counts(self, counts: EventCounts, relation: Relation | None, delta: float) -> AccountantPrice:
        """Price counted events at a delta that was checked."""
        found = self.law(counts, relation, delta) if counts else (0.0, 0.0)
        if found is None:
            raise self.refusal(counts, relation)
        return AccountantPrice(self.name, found[1], delta, relation, lower=found[0])

    def refusal(self, counts: EventCounts, relation: Relation | None) -> AccountingError:
        """Name the event that has no price here, and the accountants that could price it."""
        for event, _ in counts:
            if not self.accepts(event, relation):
                others = [name for name, it in ACCOUNTANTS.items() if it.accepts(event, relation)]
                could = ", ".join(others) or "no accountant of this version"
                return AccountingError(f"{self.name} cannot price {title(event)}; these could: {could}")
        return AccountingError(f"{self.name} cannot price these events together")


def price(
    accountant: str, events: Iterable[Event], *, delta: float, relation: Relation | str | None = None
) -> AccountantPrice:
    """Price events by the accountant of a name.

    Guarantee: every name of `ACCOUNTANTS` is known, ``"gdp-clt"`` is not: it is a forecast.

    Examples
    --------
    >>> from tacit.privacy.event import Laplace
    >>> price("basic", [Laplace(1, 2), Laplace(1, 4)], delta=0.0).epsilon
    0.75
    """
    if accountant not in ACCOUNTANTS:
        known = ", ".join(ACCOUNTANTS)
        hint = "; it is a forecast, see forecast()" if accountant == "gdp-clt" else ""
        raise AccountingError(f"unknown accountant {str(accountant)[:40]!r}{hint}; expected one of {known}")
    return ACCOUNTANTS[accountant].price(events, delta=delta, relation=relation)


def required_delta(delta: float) -> float:
    """Return delta as a number from 0 to below 1; NaN, negative numbers and 1 are refused."""
    number = float(delta)
    if not 0.0 <= number < 1.0:
        raise BudgetError(f"delta is {number!r}; expected a number from 0 to below 1, for example 1e-6")
    return number


def _upper(
    find: Callable[[EventCounts, Relation | None, float], T | None], convert: Callable[[T, float], float]
) -> AccountantLaw:
    """Return the law of an upper bound alone: what is found of the events, converted at delta."""

    def law(counts: EventCounts, relation: Relation | None, delta: float) -> Bracket | None:
        found = find(counts, relation, delta)
        return None if found is None else (0.0, convert(found, delta))

    return law


def _advanced(releases: tuple[prices.PricedReleases, ...], delta: float) -> float:
    whole, slack = _added(releases, delta)
    if math.isinf(whole) or slack <= 0.0:
        return whole
    mean = math.fsum(one.times * (one.epsilon * math.tanh(0.5 * one.epsilon)) for one in releases)
    squares = math.fsum(one.times * (one.epsilon * one.epsilon) for one in releases)
    total = mean + math.sqrt(-2.0 * math.log(slack) * squares)
    return min(whole, total * (1.0 + 2.0**-46))


def _optimal(releases: tuple[prices.PricedReleases, ...], delta: float) -> float:
    whole = _added(releases, delta)[0]
    if delta == 0.0 or math.isinf(whole):
        return whole
    kinds = {(one.epsilon, one.delta) for one in releases}
    times = sum(one.times for one in releases)
    # Few equal releases have a closed form; beyond, their loss distribution is used.
    if len(kinds) == 1 and times <= 10**7:
        return min(whole, optimal_epsilon(*kinds.pop(), times, delta))
    # Of their epsilon and delta only: what else is known of a release may cost less.
    items = [(RandomisedResponse(one.epsilon, one.delta), one.times) for one in releases]
    with _in_range("optimal"):
        return min(pld.compose(items).safe_epsilon(delta), whole)


def _added(releases: tuple[prices.PricedReleases, ...], delta: float) -> Bracket:
    """Return the sum of the epsilons, rounded up, and what the deltas leave of delta."""
    spent = sum((Fraction(one.delta) * one.times for one in releases), start=Fraction(0))
    slack = float_down(Fraction(delta) - spent)
    if slack < 0.0 or any(math.isinf(one.epsilon) for one in releases):
        return math.inf, 0.0
    whole = sum((Fraction(one.epsilon) * one.times for one in releases), start=Fraction(0))
    return float_up(whole), slack


def _zcdp(found: prices.Concentrated, delta: float) -> float:
    rest = without_leak(delta, found.leak)
    return conversion.zcdp_to_epsilon(float_up(found.rho), rest) if rest > 0.0 else math.inf


def _rdp(found: LeakyCurve, delta: float) -> float:
    rest = without_leak(delta, found.leak)
    return conversion.epsilon(found.curve, rest) if rest > 0.0 else math.inf


def _pld(counts: EventCounts, relation: Relation | None, delta: float) -> Bracket | None:
    items = pairs_of(counts, relation)
    if items is None:
        return None
    if delta == 0.0:
        # At delta 0 only the largest loss counts: the sum of all.
        return _BY_SUM(counts, relation, delta)
    # Only pairs that actual releases have on actual neighbours give a lower bound.
    attained = pairs_of(counts, relation, attained=True)
    with _in_range("pld"):
        if attained == items:
            return pld.compose(items).epsilon(delta)
        upper = pld.compose(items).safe_epsilon(delta)
    try:
        lower = 0.0 if attained is None else pld.compose(attained).epsilon(delta)[0]
    except (pld.GridTooLong, pld.BelowRoundOff):
        lower = 0.0
    return min(lower, upper), upper


@contextmanager
def _in_range(name: str) -> Iterator[None]:
    try:
        yield
    except (pld.GridTooLong, pld.BelowRoundOff) as signal:
        raise AccountingError(
            f"{name} is out of its numerical range: {signal}. Use best(), which falls back"
        ) from signal


def title(event: Event) -> str:
    """Name an event and what is inside it."""
    inside = ", ".join(title(part) for part in event.inner())
    return f"{type(event).__name__}({inside})" if inside else type(event).__name__


def _is_truncated(event: Event, relation: Relation | None) -> bool:
    curve = curve_of(event, relation)
    return prices.concentrated(event, relation) is not None or (curve is not None and curve.leak == 0.0)


def _priced(find: Callable[[Event, Relation | None], object]) -> Callable[[Event, Relation | None], bool]:
    return lambda event, relation: find(event, relation) is not None


_BY_SUM = _upper(prices.priced_releases, lambda releases, delta: _added(releases, delta)[0])
_BY_SQUARES = _upper(
    lambda counts, *_: total_mu_squared(counts), lambda square, delta: gaussian.epsilon(root_up(square), delta)
)
_HAS_EPSILON = _priced(lambda event, relation: prices.epsilon_at(event, relation, 1e-6))
ACCOUNTANTS: Mapping[str, Accountant] = MappingProxyType(
    {
        name: Accountant(name, accepts, law)
        for name, accepts, law in (
            ("basic", _HAS_EPSILON, _BY_SUM),
            ("advanced", _HAS_EPSILON, _upper(prices.priced_releases, _advanced)),
            ("optimal", _HAS_EPSILON, _upper(prices.priced_releases, _optimal)),
            (
                "zcdp",
                _priced(prices.concentrated),
                _upper(lambda counts, rel, _: prices.total_concentrated(counts, rel), _zcdp),
            ),
            ("tcdp", _is_truncated, _upper(prices.truncated_epsilon, lambda found, _: found)),
            ("rdp", _priced(curve_of), _upper(lambda counts, relation, _: total_curve(counts, relation), _rdp)),
            ("gdp", lambda event, _: isinstance(event, Gaussian), _BY_SQUARES),
            ("pld", _priced(pair_of), _pld),
        )
    }
)
