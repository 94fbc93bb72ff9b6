"""The joint certificate: what everything charged to one ledger guarantees together.

The exact sum may have a very long denominator; it is written rounded to the side that promises less.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, ClassVar

from tacit.accounting.composition import Composition, compose, count_events
from tacit.documents.canonical_json import FieldTypes, fields_of, plain, require, require_fields
from tacit.documents.signature import Document, require_total
from tacit.errors import CertificateError, LedgerError
from tacit.ledger.accounts import TOLERANCE, read_number
from tacit.ledger.chain import Chain
from tacit.ledger.law import LedgerLaw, law_of
from tacit.privacy.budget import Budget, Guarantee
from tacit.privacy.event import Event, Gaussian
from tacit.privacy.event_json import from_json, to_json
from tacit.privacy.relation import Relation

FORMAT = "tacit-ledger-certificate/2"
LAWFUL = "tacit-ledger-certificate/3"  # Of ledgers whose law is not gdp: with law, order, and the cost of each charge.
FIRST = "tacit-ledger-certificate/1"  # The format of 0.1.0: without capacity, and without what `WHO` adds to a charge.
WHO = ("analyst", "project", "formula", "file", "key")
LONGEST_SQUARE = {FORMAT: 2000, LAWFUL: 2000, FIRST: 8700}
"""Characters of mu_squared; the first format wrote as many digits as Python prints."""
LONGEST_COST = 4001  # Characters of the cost of a charge.
MOST_PRICED = 5000  # Different events that are not Gaussian, each of which takes milliseconds to price.
MOST_BITS = 1024 * 1536  # Bits of all unlike denominators together: 1,024 of the longest, added up within a second.
SIGNIFICANT_BITS = 256  # Of a long number that is written; more than the 106 of the square of a float.
LONGEST_EXACT = 1024  # Bits of numerator and denominator together up to which a number is written as it is.
REDUCIBLE_BITS = 2**15
Ratio = tuple[int, int]  # Numerator and denominator, not necessarily in lowest terms.

_LAYOUT = fields_of(
    "format:str private:bool total:dict relation:str unit:str dataset:str|None budget:dict capacity:str charges:list "
    "ledger:dict digest:str signature:dict|None"
)
_FIRST_LAYOUT = {name: types for name, types in _LAYOUT.items() if name != "capacity"}
_LAWFUL_LAYOUT = fields_of(
    "format:str private:bool total:dict relation:str unit:str dataset:str|None budget:dict law:str order:float|None "
    "capacity:str charges:list ledger:dict digest:str signature:dict|None"
)
_INNER: Mapping[str, FieldTypes] = {
    "total": fields_of("epsilon:float delta:float mu:float|None mu_squared:str|None"),
    "budget": fields_of("epsilon:float|None delta:float|None mu:float|None rho:float|None"),
    "ledger": fields_of("entries:int head:str"),
}
_FIRST_CHARGE = fields_of("sequence:int time:str label:str release:str|None events:list")
_CHARGE = {**_FIRST_CHARGE, **dict.fromkeys(WHO, (str, type(None)))}
_CHARGES = {FORMAT: _CHARGE, LAWFUL: {**_CHARGE, "cost": (str,)}, FIRST: _FIRST_CHARGE}
ROUNDING = 5e-10  # Added to an epsilon that rests on Fourier transforms: another machine may round them otherwise.


class JointCertificate(Document):
    """What all charges of a ledger guarantee together, as plain data with a digest.

    Guarantee: `check` accepts a total only if the events of all charges add up to it, within the capacity stated, which
    is within the budget, under the law of the ledger. The exact sum is compared, and no number that is stated may be
    below it. A charge whose answer is not known to have left is part of the total. The total holds where the prices
    were fixed without regard to earlier answers. The budget holds also where they were not.
    """

    formats: ClassVar[Mapping[str, FieldTypes]] = {FORMAT: _LAYOUT, LAWFUL: _LAWFUL_LAYOUT, FIRST: _FIRST_LAYOUT}
    inner: ClassVar[Mapping[str, FieldTypes]] = _INNER
    most_events: ClassVar[int] = 50_000

    def _require(self, document: Mapping[str, Any]) -> None:
        for number, charge in enumerate(document["charges"], start=1):
            require_fields(charge, _CHARGES[document["format"]], f"charge {number}")
        has_square = document["total"]["mu"] is not None and document["total"]["mu_squared"] is not None
        require(has_square or document["format"] == LAWFUL, "total.mu or total.mu_squared is missing")

    @classmethod
    def issue(cls, chain: Chain) -> JointCertificate:
        """State what the charges of a ledger guarantee together."""
        relation, unit, delta = chain.relation, chain.unit, chain.terms.delta
        if relation is None or unit is None or not chain.charges:
            raise LedgerError("nothing has been charged to the ledger yet; there is no total")
        law = chain.terms.pricing
        composition = _composed([event for charge in chain.charges for event in charge.events], relation, law)
        # The cap now in force, where it was lowered since the ledger was opened.
        capacity = rounded(chain.accounts.capacity.as_integer_ratio(), up=False)
        return cls.made(
            {
                "format": LAWFUL if law.stores_costs else FORMAT,
                "private": True,
                "total": {
                    "epsilon": _epsilon(composition, delta, stated=True),
                    "delta": delta,
                    "mu": composition.mu,
                    "mu_squared": None if composition.square is None else str(composition.square),
                },
                "relation": str(relation),
                "unit": unit,
                "dataset": chain.terms.dataset,
                "budget": {name: plain(getattr(chain.budget, name)) for name in _INNER["budget"]},
                **({"law": law.name, "order": law.order} if law.stores_costs else {}),
                "capacity": str(capacity),
                "charges": [
                    {name: getattr(charge, name) for name in ("sequence", "time", "label", *WHO)}
                    | {"release": charge.release, "events": [to_json(e) for e in charge.events]}
                    | ({"cost": str(charge.cost)} if law.stores_costs else {})
                    for charge in chain.charges
                ],
                "ledger": {"entries": chain.length, "head": chain.head.hash},
            }
        )

    def by_analyst(self, most: int | None = None) -> dict[str | None, Guarantee]:
        """Check, and state what the charges of each of the first `most` analysts guarantee."""
        total, law = self.rederive(), _law(self.parsed, Budget(**self.parsed["budget"]))
        events: dict[str | None, list[Event]] = {}
        for charge in self.parsed["charges"]:
            events.setdefault(charge.get("analyst"), []).extend(map(from_json, charge["events"]))
        found = {}
        for analyst, own in list(events.items())[:most]:
            composition = _composed(own, total.relation, law)
            epsilon = _epsilon(composition, total.delta, stated=True)
            found[analyst] = Guarantee(total.relation, total.unit, epsilon, total.delta, composition.mu)
        return found

    def _derive(self, document: Mapping[str, Any]) -> Guarantee:
        total, relation = document["total"], Relation.parse(document["relation"])
        budget = Budget(**document["budget"])
        events = [from_json(event) for charge in document["charges"] for event in charge["events"]]
        require(document["private"] and events, "private is false, or there are no events; expected charges")
        require(total["delta"] == budget.delta, "total.delta is not the delta of the budget")
        law = _law(document, budget)
        if law.stores_costs:
            _require_costs(document, law, budget, relation)
        else:
            _require_sum(document, _sum(events, relation), budget)
        composition = _composed(events, relation, law)
        derived: dict[str, float | None] = {"epsilon": _epsilon(composition, total["delta"], stated=False)}
        if composition.square is None:
            require(total["mu"] is None and total["mu_squared"] is None, "total.mu is stated, but the events have none")
        else:
            derived["mu"] = composition.mu
            same = not law.stores_costs or total["mu_squared"] == str(composition.square)
            require(same, "total.mu_squared is not the sum over the events")
        require_total(total, derived)
        return Guarantee(relation, document["unit"], total["epsilon"], total["delta"], total["mu"])

    def _found(self, guarantee: Guarantee) -> str:
        return f"All charges add up to the total: {guarantee}."


def _law(document: Mapping[str, Any], budget: Budget) -> LedgerLaw:
    if document["format"] != LAWFUL:
        return LedgerLaw()
    name, order = document["law"], document["order"]
    require(name != "gdp" and (name == "rdp") == (order is not None), "law and order do not belong together")
    return law_of(budget, name, order)[1]


def _composed(events: Iterable[Event], relation: Relation, law: LedgerLaw) -> Composition:
    listed = tuple(events)
    counts = count_events(listed, relation)
    squares = [times * event.mu_squared for event, times in counts if isinstance(event, Gaussian)]
    total = rounded(total_of(squares), up=True)
    if len(squares) == len(counts):
        return Composition(total)
    require(law.stores_costs, "an event is not Gaussian, and this ledger adds up squares of mu")
    few = len(counts) - len(squares) <= MOST_PRICED
    require(few, f"more than {MOST_PRICED} different events are not Gaussian, too many to be priced in seconds")
    return compose(listed, relation)


def _epsilon(composition: Composition, delta: float, *, stated: bool) -> float:
    """Return the epsilon at delta; one to be stated is rounded up where a check may find it a little larger."""
    exact = composition.square is not None or (delta == 0.0 and composition.pure_epsilon is not None)
    return composition.epsilon(delta) * (1.0 if exact or not stated else 1.0 + ROUNDING)


def _sum(events: Iterable[Event], relation: Relation) -> Ratio:
    """Exact sum of the squares of mu; refused where an event has none."""
    terms = []
    for event, times in count_events(events, relation):
        if not isinstance(event, Gaussian):
            raise CertificateError("an event is not Gaussian, and this ledger adds up squares of mu")
        terms.append(times * event.mu_squared)
    return total_of(terms)


def _require_costs(document: Mapping[str, Any], law: LedgerLaw, budget: Budget, relation: Relation) -> None:
    """Refuse costs below those of the events, and a sum of them beyond the capacity."""
    longest, slack = LONGEST_COST, 1 + TOLERANCE
    costs = []
    for charge in document["charges"]:
        stated = read_number(charge["cost"], longest, "the cost of a charge")
        derived = law.cost([from_json(event) for event in charge["events"]], relation)
        require(derived <= stated * slack, "the cost of a charge is below that of its events")
        costs.append(stated)
    capacity = read_number(document["capacity"], LONGEST_SQUARE[LAWFUL], "capacity")
    require(capacity <= law.capacity(budget) * slack, "capacity is more than the budget allows")
    require(compare(total_of(costs), capacity * slack) <= 0, "the charges add up to more than the budget")


def _require_sum(document: Mapping[str, Any], exact: Ratio, budget: Budget) -> None:
    is_first, slack = document["format"] == FIRST, 1 + TOLERANCE
    longest = LONGEST_SQUARE[document["format"]]
    stated = read_number(document["total"]["mu_squared"], longest, "total.mu_squared")
    # The first format stated it exactly, the second rounds it up.
    if compare(exact, stated) > 0 or compare(exact, stated if is_first else stated / slack) < 0:
        raise CertificateError("total.mu_squared is not the sum over the events")
    allowed = LedgerLaw().capacity(budget) * slack
    capacity = allowed if is_first else read_number(document["capacity"], longest, "capacity")
    require(capacity <= allowed, "capacity is more than the budget allows")
    most = capacity if is_first else capacity * slack
    require(compare(exact, most) <= 0, "the events add up to more than the budget")


def total_of(terms: Iterable[Fraction]) -> Ratio:
    """Add up fractions exactly, with at most `MOST_BITS`; the sum is not reduced."""
    grouped: dict[int, int] = {}
    for term in terms:
        grouped[term.denominator] = grouped.get(term.denominator, 0) + term.numerator
    short = sum(map(int.bit_length, grouped)) <= MOST_BITS
    require(short, "the events have too many unlike denominators to be added up")
    level: list[Ratio] = [(above, below) for below, above in grouped.items()] or [(0, 1)]
    # In pairs, so that most sums are of short numbers.
    while len(level) > 1:
        added = [(a * d + c * b, b * d) for (a, b), (c, d) in zip(level[::2], level[1::2], strict=False)]
        level = added + level[len(added) * 2 :]
    return level[0]


def rounded(ratio: Ratio, *, up: bool) -> Fraction:
    """Return a ratio as a fraction of bounded length: exact where short, else rounded by less than 2^-255 of it."""
    above, below = ratio
    if above.bit_length() + below.bit_length() <= REDUCIBLE_BITS:
        exact = Fraction(above, below)
        if exact.numerator.bit_length() + exact.denominator.bit_length() <= LONGEST_EXACT:
            return exact
    shift = SIGNIFICANT_BITS - (above.bit_length() - below.bit_length())
    scaled, divisor = (above << max(shift, 0)), (below << max(-shift, 0))
    whole = -(-scaled // divisor) if up else scaled // divisor
    return Fraction(whole << max(-shift, 0), 1 << max(shift, 0))


def compare(ratio: Ratio, number: Fraction) -> int:
    """Return -1, 0 or 1 as a ratio is below, equal to or above a number."""
    left, right = ratio[0] * number.denominator, number.numerator * ratio[1]
    return (left > right) - (left < right)
