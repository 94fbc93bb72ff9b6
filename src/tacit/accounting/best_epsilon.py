"""The smallest safe epsilon among the accountants, and what a sequence costs at any delta.

Gaussian releases alone are priced exactly, others by loss distributions; where these cannot, the
Rényi curve and the sum of the epsilons take over. Proof: ``proofs/accounting/best_epsilon.md``.
"""

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction

from tacit.accounting import gaussian, pld
from tacit.accounting.accountants import ACCOUNTANTS, AccountantPrice, required_delta
from tacit.accounting.clt_forecast import Forecast, forecast
from tacit.accounting.composition import EventCounts, Sampled, counted, total_mu_squared, total_pure
from tacit.accounting.dominating_pairs import pairs_of
from tacit.accounting.event_curves import total_curve
from tacit.accounting.renyi import conversion
from tacit.accounting.rounding import float_up, root_up
from tacit.errors import AccountingError, BudgetError
from tacit.privacy.event import BoundedRange, Event, Gaussian, Repeated, SampledWithReplacement
from tacit.privacy.relation import Relation

# A bracket this narrow leaves nothing to gain for another accountant.
_NARROW = 0.03
_NEGLIGIBLE = 1e-6


def best(events: Iterable[Event], *, delta: float, relation: Relation | str | None = None) -> AccountantPrice:
    """Return the smallest safe price of events at delta, and whose it is.

    Guarantee: never a forecast; never below the certified lower bound of the loss distributions. Exact for Gaussian
    releases alone, and at delta = 0 for pure ones: the sum of their epsilons. A fallback is named in the note
    of the price.

    Examples
    --------
    >>> from tacit.privacy.event import Gaussian, Laplace
    >>> best([Gaussian(1, 4), Laplace(1, 10)], delta=1e-6).accountant
    'pld'
    """
    return best_of_counts(*counted(events, relation), required_delta(delta))


def best_of_counts(counts: EventCounts, relation: Relation | None, delta: float) -> AccountantPrice:
    """Return the smallest safe price of counted events; see `best`."""
    if total_mu_squared(counts) is not None:
        return ACCOUNTANTS["gdp"].price_counts(counts, relation, delta)
    pure = total_pure(counts)
    if pure is not None and delta == 0.0:
        return AccountantPrice("basic", float_up(pure), delta, relation)
    note, found = "", []
    try:
        first = ACCOUNTANTS["pld"].price_counts(counts, relation, delta)
    except AccountingError as error:
        note = str(error)
    else:
        if pure is not None and float_up(pure) < first.epsilon:
            return AccountantPrice("basic", float_up(pure), delta, relation, lower=min(first.lower, float_up(pure)))
        narrow = first.epsilon - first.lower <= max(_NARROW * first.epsilon, _NEGLIGIBLE)
        # Where the pairs are not attained the lower bound says nothing about the bracket's width.
        wide = not narrow and (pairs_of(counts, relation) == pairs_of(counts, relation, attained=True))
        if delta == 0.0 or not (wide or math.isinf(first.epsilon) or _is_loose(counts)):
            return first
        note = "the bracket of the loss distributions is wide" if wide else ""
        found.append(first)
    for name in ("rdp", "zcdp", "basic"):
        try:
            found.append(ACCOUNTANTS[name].price_counts(counts, relation, delta))
        except AccountingError:
            continue
    if not found:
        raise ACCOUNTANTS["rdp"].refusal(counts, relation)
    least = min(found, key=lambda price: price.epsilon)
    return AccountantPrice(least.accountant, least.epsilon, delta, relation, lower=least.lower, note=note)


def delta_of_counts(counts: EventCounts, relation: Relation | None, epsilon: float) -> float:
    """Return the smallest safe delta of counted events at epsilon, never below the true one; see `best`."""
    if not float(epsilon) >= 0.0:
        raise BudgetError(f"epsilon is {epsilon!r}; expected a number of at least 0")
    square = total_mu_squared(counts)
    if square is not None:
        return gaussian.delta(epsilon, root_up(square))
    pure = total_pure(counts)
    if math.isinf(epsilon) or (pure is not None and pure <= Fraction(epsilon)):
        return 0.0
    candidates = [1.0]
    items = pairs_of(counts, relation)
    if items is not None:
        try:
            lower, upper = pld.compose(items).delta(epsilon)
        except (pld.GridTooLong, pld.BelowRoundOff):
            pass
        else:
            if upper - lower <= _NARROW * upper:
                return upper
            candidates.append(upper)
    found = total_curve(counts, relation)
    if found is not None:
        rest = conversion.delta(found.curve, epsilon)
        candidates.append(min((found.leak + rest) * (1.0 + 2.0**-50), 1.0))
    elif items is None:
        raise ACCOUNTANTS["rdp"].refusal(counts, relation)
    return min(candidates)


def compare(
    events: Iterable[Event], *, delta: float, relation: Relation | str | None = None
) -> Mapping[str, AccountantPrice | Forecast | None]:
    """Price events by every accountant, side by side; None where one cannot.

    Guarantee: the names are those of `ACCOUNTANTS`, with ``"gdp-clt"``, the forecast, before ``"pld"``. An event that
    none of them knows, or a wrong relation, is still refused.

    Examples
    --------
    >>> from tacit.privacy.event import Laplace
    >>> table = compare([Laplace(1, 2)], delta=1e-6)
    >>> table["gdp"] is None, table["basic"].epsilon
    (True, 0.5)
    """
    counts, known = counted(events, relation)
    target = required_delta(delta)
    table: dict[str, AccountantPrice | Forecast | None] = {}
    for name in (*(name for name in ACCOUNTANTS if name != "pld"), "gdp-clt", "pld"):
        try:
            if name == "gdp-clt":
                table[name] = forecast((Repeated(event, times) for event, times in counts), relation=known)
            else:
                table[name] = ACCOUNTANTS[name].price_counts(counts, known, target)
        except AccountingError:
            table[name] = None
    return table


def _is_loose(counts: EventCounts) -> bool:
    """Whether a pair stands for a whole family, which no one mechanism attains many times."""
    return any(
        isinstance(event, BoundedRange | SampledWithReplacement)
        or (isinstance(event, Sampled) and not isinstance(event.event, Gaussian))
        for event, _ in counts
    )
