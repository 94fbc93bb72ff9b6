"""The joint certificate: what everything charged to one ledger guarantees together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar

from tacit.accounting.composition import Composition, count_events
from tacit.documents.canonical_json import plain
from tacit.documents.document import Document, require_total
from tacit.documents.reading import FieldTypes, require_fields
from tacit.errors import CertificateError, LedgerError
from tacit.ledger.exact_amounts import (
    TOLERANCE,
    Ratio,
    capacity_of,
    compare,
    read_number,
    rounded,
    total_of,
)
from tacit.privacy.budget import Budget, Guarantee
from tacit.privacy.event import Event, Gaussian, from_json, to_json
from tacit.privacy.relation import Relation

if TYPE_CHECKING:
    from tacit.ledger.chain import Chain
    from tacit.ledger.entry import Charge

FORMAT = "tacit-ledger-certificate/2"
FIRST = "tacit-ledger-certificate/1"
"""The format of 0.1.0: without capacity, and of a charge only label, time, events and release."""
WHO = ("analyst", "project", "formula", "file", "key")
"""What the second format adds to a charge, where it is known."""
LONGEST_SQUARE = {FORMAT: 2000, FIRST: 8700}
"""Characters of mu_squared; the first format wrote as many digits as Python prints."""

_LAYOUT: FieldTypes = {
    "format": (str,),
    "private": (bool,),
    "total": (dict,),
    "relation": (str,),
    "unit": (str,),
    "dataset": (str, NoneType),
    "budget": (dict,),
    "capacity": (str,),
    "charges": (list,),
    "ledger": (dict,),
    "digest": (str,),
    "signature": (dict, NoneType),
}
_FIRST_LAYOUT = {name: types for name, types in _LAYOUT.items() if name != "capacity"}
_INNER: Mapping[str, FieldTypes] = {
    "total": {"epsilon": (float,), "delta": (float,), "mu": (float,), "mu_squared": (str,)},
    "budget": dict.fromkeys(("epsilon", "delta", "mu", "rho"), (float, NoneType)),
    "ledger": {"entries": (int,), "head": (str,)},
}
_FIRST_CHARGE: FieldTypes = {
    "sequence": (int,),
    "time": (str,),
    "label": (str,),
    "release": (str, NoneType),
    "events": (list,),
}
_CHARGES = {FORMAT: {**_FIRST_CHARGE, **dict.fromkeys(WHO, (str, NoneType))}, FIRST: _FIRST_CHARGE}


class JointCertificate(Document):
    """What all charges of a ledger guarantee together, as plain data with a digest.

    Guarantee
    ---------
    - What exists is laid out as documented; anything else was refused with `CertificateError`.
    - `check` accepts a total only if the events of all charges add up to it, within the capacity
      stated, which is within the budget. The exact sum is compared, and no number that is stated
      may be below it.
    - A charge whose answer is not known to have left is part of the total.
    - The total holds where the prices were fixed without regard to earlier answers. The budget
      holds also where they were not.
    """

    formats: ClassVar[Mapping[str, FieldTypes]] = {FORMAT: _LAYOUT, FIRST: _FIRST_LAYOUT}
    inner: ClassVar[Mapping[str, FieldTypes]] = _INNER
    most_events: ClassVar[int] = 50_000

    def _require(self, document: Mapping[str, Any]) -> None:
        for number, charge in enumerate(document["charges"], start=1):
            require_fields(charge, _CHARGES[document["format"]], f"charge {number}")

    @classmethod
    def issue(cls, chain: Chain) -> JointCertificate:
        """State what the charges of a ledger guarantee together."""
        relation, unit, budget = chain.relation, chain.unit, chain.budget
        if relation is None or unit is None or not chain.charges:
            raise LedgerError("nothing has been charged to the ledger yet; there is no total")
        square = rounded(_sum([e for c in chain.charges for e in c.events], relation), up=True)
        composition = Composition(square)
        # The cap now in force, where it was lowered since the ledger was opened.
        capacity = chain.accounts.capacity
        lowered = rounded((capacity.numerator, capacity.denominator), up=False)
        return cls.made(
            {
                "format": FORMAT,
                "private": True,
                "total": {
                    "epsilon": composition.epsilon(chain.terms.delta),
                    "delta": chain.terms.delta,
                    "mu": composition.mu,
                    "mu_squared": str(square),
                },
                "relation": str(relation),
                "unit": unit,
                "dataset": chain.terms.dataset,
                "budget": {name: plain(getattr(budget, name)) for name in _INNER["budget"]},
                "capacity": str(lowered),
                "charges": [_charge(charge) for charge in chain.charges],
                "ledger": {"entries": chain.length, "head": chain.head_hash},
            }
        )

    def by_analyst(self, most: int | None = None) -> dict[str | None, Guarantee]:
        """What the charges of each of the first `most` analysts guarantee by themselves.

        Charges without a name are under None. The certificate is checked first.
        """
        total = self.rederive()
        events: dict[str | None, list[Event]] = {}
        for charge in self.parsed["charges"]:
            read = (from_json(event) for event in charge["events"])
            events.setdefault(charge.get("analyst"), []).extend(read)
        found = {}
        for analyst, own in list(events.items())[:most]:
            composition = Composition(rounded(_sum(own, total.relation), up=True))
            numbers = (composition.epsilon(total.delta), total.delta, composition.mu)
            found[analyst] = Guarantee(total.relation, total.unit, *numbers)
        return found

    def _derive(self, document: Mapping[str, Any]) -> Guarantee:
        total, relation = document["total"], Relation.parse(document["relation"])
        budget = Budget(**document["budget"])
        events = [from_json(event) for charge in document["charges"] for event in charge["events"]]
        if document["private"] is not True or not events:
            raise CertificateError("private is false, or there are no events; expected charges")
        if total["delta"] != budget.delta:
            raise CertificateError("total.delta is not the delta of the budget")
        exact = _sum(events, relation)
        _require_square(document, exact)
        _require_within(document, exact, budget)
        composition = Composition(rounded(exact, up=True))
        require_total(total, {"epsilon": composition.epsilon(total["delta"]), "mu": composition.mu})
        return Guarantee(relation, document["unit"], total["epsilon"], total["delta"], total["mu"])

    def _found(self, guarantee: Guarantee) -> str:
        return f"All charges add up to the total: {guarantee}."


def _charge(charge: Charge) -> dict[str, Any]:
    return {
        "sequence": charge.sequence,
        "time": charge.time,
        "label": charge.label,
        **{name: getattr(charge, name) for name in WHO},
        "release": charge.release,
        "events": [to_json(event) for event in charge.events],
    }


def _sum(events: Iterable[Event], relation: Relation) -> Ratio:
    """Exact sum of the squares of mu; refused where an event has none."""
    terms = []
    for event, times in count_events(events, relation):
        if not isinstance(event, Gaussian):
            raise CertificateError("an event is not Gaussian, and a ledger adds up squares of mu")
        terms.append(times * event.mu_squared)
    return total_of(terms)


def _require_square(document: Mapping[str, Any], exact: Ratio) -> None:
    longest = LONGEST_SQUARE[document["format"]]
    stated = read_number(document["total"]["mu_squared"], longest, "total.mu_squared")
    # The first format stated it exactly, the second rounds it up.
    largest = stated if document["format"] == FIRST else stated / (1 + TOLERANCE)
    if compare(exact, stated) > 0 or compare(exact, largest) < 0:
        raise CertificateError("total.mu_squared is not the sum over the events")


def _require_within(document: Mapping[str, Any], exact: Ratio, budget: Budget) -> None:
    allowed = capacity_of(budget) * (1 + TOLERANCE)
    capacity = allowed
    if document["format"] != FIRST:
        capacity = read_number(document["capacity"], LONGEST_SQUARE[FORMAT], "capacity")
        if capacity > allowed:
            raise CertificateError("capacity is more than the budget allows")
        capacity *= 1 + TOLERANCE
    if compare(exact, capacity) > 0:
        raise CertificateError("the events add up to more than the budget")
