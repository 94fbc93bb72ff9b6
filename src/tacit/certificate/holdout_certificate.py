"""The certificate of a reusable holdout: what all its answers guarantee together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tacit.accounting.composition import compose
from tacit.certificate.certificate import ROUNDING, version_of
from tacit.certificate.stated_parts import SEEDED, fingerprint_of, require_agreement, require_count, require_released
from tacit.contract.holdout_price import HoldoutPrice
from tacit.contract.plan import PublicFact, premise_of
from tacit.contract.sensitivity import LARGEST_BITS
from tacit.documents.canonical_json import FieldTypes, fields_of, plain, require, require_fields
from tacit.documents.signature import Document, require_total
from tacit.privacy.budget import Budget, Guarantee
from tacit.privacy.event_json import to_json
from tacit.privacy.relation import Relation

FORMAT = "tacit-holdout-certificate/1"
LAW = "discrete laplace"
MOST_RELEASES = 10_000
_LAYOUT = fields_of(
    "format:str private:bool why_not_private:str|None total:dict relation:str unit:str records:dict budget:dict "
    "releases:int sensitivity:dict noise:dict events:list released:dict public:list versions:dict digest:str "
    "signature:dict|None"
)
_NOTHING = {"epsilon": "inf", "delta": 1.0, "mu": None, "mu_squared": None}
_VERSIONED = ("tacit", "python", "numpy", "numba")
_BOUND = re.compile(r"[1-9][0-9]{0,30}", re.ASCII)
_FACT = fields_of("name:str value:object source:str")


class HoldoutCertificate(Document):
    """What a reusable holdout guarantees, as plain data with a digest.

    Guarantee: `check` accepts a total only if the events add up to it, within the budget, and events only if they
    follow from the bound, the noise, the number of releases and the relation.
    """

    formats: ClassVar[Mapping[str, FieldTypes]] = {FORMAT: _LAYOUT}
    inner: ClassVar[Mapping[str, FieldTypes]] = {
        "total": fields_of("epsilon:float|str delta:float mu:None mu_squared:None"),
        "records": fields_of("which:str value:int"),
        "budget": fields_of("epsilon:float delta:float"),
        "sensitivity": fields_of("bound:str"),
        "noise": fields_of("law:str bits:int"),
        "released": fields_of("covers:list sha256:str"),
        "versions": dict.fromkeys(_VERSIONED, (str,)),
    }
    largest: ClassVar[int] = 2**23
    most_events: ClassVar[int] = 100

    def _require(self, document: Mapping[str, Any]) -> None:
        require_released(document["released"])
        for number, fact in enumerate(document["public"], start=1):
            require_fields(fact, _FACT, f"public fact {number}")
        require(_BOUND.fullmatch(document["sensitivity"]["bound"]), "sensitivity.bound is no whole number")
        require(0 <= document["noise"]["bits"] <= LARGEST_BITS - 2, "noise.bits is out of range")
        require(1 <= document["releases"] <= MOST_RELEASES, "releases is out of range")

    @classmethod
    def issue(
        cls,
        price: HoldoutPrice,
        budget: Budget,
        relation: Relation,
        unit: str,
        *,
        records: int,
        answers: Sequence[Any],
        seeded: bool,
        facts: Sequence[PublicFact] = (),
    ) -> HoldoutCertificate:
        """State what a holdout guarantees whose `answers` have left."""
        events = price.events(relation)
        total: dict[str, Any] = dict(_NOTHING)
        if not seeded:
            epsilon = compose(events, relation).epsilon(budget.delta or 0.0)
            total |= {"epsilon": epsilon * (1.0 if budget.is_pure else 1.0 + ROUNDING), "delta": budget.delta}
        return cls.made(
            {
                "format": FORMAT,
                "private": not seeded,
                "why_not_private": SEEDED if seeded else None,
                "total": total,
                "relation": str(relation),
                "unit": unit,
                "records": {"which": "n", "value": records},
                "budget": {"epsilon": budget.epsilon, "delta": budget.delta},
                "releases": price.releases,
                "sensitivity": {"bound": str(price.bound)},
                "noise": {"law": LAW, "bits": price.bits},
                "events": [to_json(event) for event in events],
                "released": fingerprint_of({"answers": plain(list(answers))}),
                "public": [{"name": it.name, "value": plain(it.value), "source": it.source} for it in facts],
                "versions": {name: version_of(name) for name in _VERSIONED},
            }
        )

    @property
    def private(self) -> bool:
        """Whether a guarantee is stated at all."""
        return self.parsed["private"] is True

    @property
    def covers(self) -> tuple[str, ...]:
        """The parts of the result that the digest covers."""
        return tuple(self.parsed["released"]["covers"])

    def _derive(self, document: Mapping[str, Any]) -> Guarantee:
        relation = Relation.parse(document["relation"])
        require(relation.n_is_public, "a holdout needs a public number of records")
        require_count(document["records"], relation)
        require_agreement(document, (None, SEEDED), _NOTHING)
        require(document["noise"]["law"] == LAW, "the noise of a holdout is discrete Laplace noise")
        price = HoldoutPrice(int(document["sensitivity"]["bound"]), document["noise"]["bits"], document["releases"])
        events = price.events(relation)
        require(document["events"] == [to_json(event) for event in events], "the events are not those of this price")
        if not document["private"]:
            return Guarantee(relation, document["unit"], float("inf"), 1.0, None)
        total, budget = document["total"], document["budget"]
        require(total["delta"] == budget["delta"], "total.delta is not the delta of the budget")
        require_total(total, {"epsilon": compose(events, relation).epsilon(total["delta"])})
        require(total["epsilon"] <= budget["epsilon"], "the events add up to more than the budget")
        premise = premise_of([fact["name"] for fact in document["public"]])
        return Guarantee(relation, document["unit"], total["epsilon"], total["delta"], None, premise)

    def _found(self, guarantee: Guarantee) -> str:
        if not self.private:
            return f"No guarantee is stated: {self.parsed['why_not_private']}."
        return f"All answers of the holdout add up to the total: {guarantee}."
