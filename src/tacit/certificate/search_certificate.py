"""The certificate of a private search: what the winner, and all that was tried for it, guarantee together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from tacit.accounting.best_of_runs import SearchEvents
from tacit.accounting.composition import compose, count_events, total_mu_squared, total_pure
from tacit.certificate.certificate import ROUNDING, entry_of, read_entry, version_of
from tacit.certificate.stated_model import StatedModel
from tacit.certificate.stated_parts import (
    LARGEST_COUNT,
    SEEDED,
    fingerprint_of,
    require_agreement,
    require_count,
    require_released,
    which_records,
)
from tacit.contract.plan import Plan, PublicFact, premise_of
from tacit.documents.canonical_json import FieldTypes, fields_of, plain, require, require_fields
from tacit.documents.signature import Document, require_total
from tacit.errors import CertificateError
from tacit.privacy.budget import Budget, Guarantee
from tacit.privacy.event import Event, Gaussian, Pure, RandomStopping
from tacit.privacy.event_json import from_json, to_json
from tacit.privacy.relation import Relation

FORMAT = "tacit-search-certificate/1"
FIXED = frozenset(
    {
        *("epsilon", "delta", "budget", "relation", "n_at_least", "max_rows_per_unit", "max_weight", "invalid_rows"),
        *("random_state", "noise_multiplier", "classes", "inference", "warm_start"),
    }
)
"""Parameters that are the same in every trial: the search pays for all of them as one."""
PUBLIC_ROWS = ("validation rows", "public rows")
"""The fact that trials were scored on public rows."""
NO_TRIAL = ("number of trials", "none was drawn: no record entered")
"""The fact that the result is the fixed one of a search without a trial."""
_NOTHING = {"epsilon": "inf", "delta": 1.0, "mu": None, "mu_squared": None}
_LAYOUT = fields_of(
    "format:str private:bool why_not_private:str|None total:dict relation:str unit:str records:dict loss:str "
    "budget:dict estimator:str settings:int chosen:dict events:list trial_fit:list trial_score:list refit:list "
    "released:dict public:list versions:dict digest:str signature:dict|None"
)
_VERSIONED = ("tacit", "python", "numpy", "numba")
_INNER: Mapping[str, FieldTypes] = {
    "total": fields_of("epsilon:float|str delta:float mu:None mu_squared:None"),
    "records": fields_of("which:str value:int"),
    "budget": fields_of("epsilon:float delta:float"),
    "released": fields_of("covers:list sha256:str"),
    "versions": dict.fromkeys(_VERSIONED, (str,)),
}
_FACT = fields_of("name:str value:object source:str")
_ENTRY = fields_of(
    "query:str label:str times:int size:int arithmetic:str event:dict|None sensitivity:dict|None noise:dict|None"
)


class SearchCertificate(Document):
    """What a private search guarantees, as plain data with a digest.

    Guarantee: `check` accepts a total only if the events of the search add up to it, within the budget. It accepts the
    event of a trial only if the winner's fit and its score are each within it, and the refit's only if its fit is. A
    score may be missing only where it is stated that validation rows were public, or that no trial was drawn. A setting
    that changes what the search paid for is refused.
    """

    formats: ClassVar[Mapping[str, FieldTypes]] = {FORMAT: _LAYOUT}
    inner: ClassVar[Mapping[str, FieldTypes]] = _INNER
    largest: ClassVar[int] = 2**23
    most_events: ClassVar[int] = 20_000

    def _require(self, document: Mapping[str, Any]) -> None:
        require_released(document["released"])
        require(0 < document["settings"] < LARGEST_COUNT, "settings is not a number of settings")
        fits = all(name.isidentifier() for name in document["chosen"]) and not FIXED & set(document["chosen"])
        require(fits, "chosen names what is no parameter, or one that no setting may change")
        for number, fact in enumerate(document["public"], start=1):
            require_fields(fact, _FACT, f"public fact {number}")
        for part in ("trial_fit", "trial_score", "refit"):
            for number, entry in enumerate(document[part], start=1):
                require_fields(entry, _ENTRY, f"{part} {number}")

    @classmethod
    def issue(
        cls,
        price: SearchEvents,
        plans: tuple[Plan, Plan | None, Plan | None],
        budget: Budget,
        *,
        estimator: str,
        settings: int,
        chosen: Mapping[str, Any],
        covered: Mapping[str, Any],
        seeded: bool,
        facts: Sequence[PublicFact] = (),
    ) -> SearchCertificate:
        """State what a search guarantees; `plans` are those of the winner's trial, of its score, and of the refit."""
        fit, score, refit = plans
        entries = [[] if plan is None else [entry_of(it, plan.relation) for it in plan.steps] for plan in plans]
        whole = refit or fit
        total: dict[str, Any] = dict(_NOTHING)
        if not seeded:
            epsilon = compose(price.events(), fit.relation).epsilon(budget.delta or 0.0)
            total |= {"epsilon": epsilon * (1.0 if budget.is_pure else 1.0 + ROUNDING), "delta": budget.delta}
        public = {fact.name: fact for plan in (fit, score, refit) if plan is not None for fact in plan.facts}
        return cls.made(
            {
                "format": FORMAT,
                "private": not seeded,
                "why_not_private": SEEDED if seeded else None,
                "total": total,
                "relation": str(fit.relation),
                "unit": fit.unit,
                "loss": fit.loss.name,
                "records": {
                    "which": which_records(fit.relation),
                    "value": int(whole.records if refit or score is None else fit.records + score.records),
                },
                "budget": {"epsilon": budget.epsilon, "delta": budget.delta},
                "estimator": estimator,
                "settings": settings,
                "chosen": plain(dict(chosen)),
                "events": [to_json(event) for event in price.events()],
                "trial_fit": entries[0],
                "trial_score": entries[1],
                "refit": entries[2],
                "released": fingerprint_of(plain(dict(covered))),
                "public": [
                    {"name": fact.name, "value": plain(fact.value), "source": fact.source}
                    for fact in (*public.values(), *facts)
                ],
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
        require_count(document["records"], relation)
        require_agreement(document, (None, SEEDED), _NOTHING)
        found = [from_json(event) for event in document["events"]]
        search = found[0] if found else None
        if not isinstance(search, RandomStopping) or len(found) != 1 + bool(document["refit"]):
            raise CertificateError("events are not a search, and a refit where there is one")
        require(document["trial_fit"], "the winner's fit is missing")
        stated = StatedModel.of(document)
        public = [stated.facts.get(name) == value for name, value in (PUBLIC_ROWS, NO_TRIAL)]
        scored = bool(document["trial_score"])
        require(scored != any(public), "trial_score contradicts what is stated of validation rows and trials")
        for part, event in (("trial_fit", search.event), ("trial_score", search.event), ("refit", found[-1])):
            if document[part]:
                _require_within(document[part], event, relation, stated, part)
        if not document["private"]:
            return Guarantee(relation, document["unit"], float("inf"), 1.0, None)
        total, budget = document["total"], Budget(**document["budget"])
        require(total["delta"] == budget.delta, "total.delta is not the delta of the budget")
        require_total(total, {"epsilon": compose(found, relation).epsilon(total["delta"])})
        require(total["epsilon"] <= document["budget"]["epsilon"], "the events add up to more than the budget")
        premise = premise_of([fact["name"] for fact in document["public"]])
        return Guarantee(relation, document["unit"], total["epsilon"], total["delta"], None, premise)

    def _found(self, guarantee: Guarantee) -> str:
        if not self.private:
            return f"No guarantee is stated: {self.parsed['why_not_private']}."
        return f"The search, all its trials included, adds up to the total: {guarantee}."


def _require_within(
    entries: Sequence[Mapping[str, Any]], event: Event, relation: Relation, stated: StatedModel, part: str
) -> None:
    """Refuse entries that cost more than the Gaussian or pure release that stands for them."""
    read = [read_entry(entry, relation, stated, f"{part} {number}") for number, entry in enumerate(entries, start=1)]
    events = [it for it in read if it is not None]
    require(len(events) == len(read), f"{part}: an answer without noise is among the events")
    counts = count_events(events, relation)
    cost: Fraction | None
    if isinstance(event, Gaussian):
        cost, most = total_mu_squared(counts), event.mu_squared
    elif isinstance(event, Pure):
        cost, most = total_pure(counts), Fraction(event.epsilon)
    else:
        raise CertificateError(f"{part} is neither Gaussian nor pure")
    require(cost is not None and cost <= most, f"{part} costs more than the event that stands for it")
