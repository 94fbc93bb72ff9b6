"""The certificate: what a release guarantees, and everything needed to derive that again.

It is plain data, written as JSON. Infinity is the string ``"inf"`` throughout, numbers that enter
the proof are exact strings. Nothing in it was read from a record beyond what is listed as public.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import NoneType
from typing import Any

from tacit.accounting.composition import Composition, compose, mu_squared_of
from tacit.errors import BudgetError, CertificateError
from tacit.privacy.budget import Budget
from tacit.privacy.guarantee import Guarantee
from tacit.privacy.relation import Relation
from tacit.problem.certified import LARGEST_COUNT, entry_of, read_entry
from tacit.problem.plan import Plan
from tacit.problem.premises import premise_of
from tacit.problem.release import Release, fingerprint_of
from tacit.problem.signature import (
    Layout,
    canonical,
    digest_of,
    parse_document,
    plain,
    require_fields,
    require_signature,
)
from tacit.problem.verification import Verification, rederived, vouched
from tacit.problem.versions import version_of

FORMAT = "tacit-certificate/1"
INFINITE = "epsilon is infinite"
SEEDED = "noise from a fixed seed"
TOLERANCE = Fraction(1, 10**9)
"""Relative excess of a stated total over the derived one: room for another version's rounding."""
ROUNDING = 5e-10
"""Added to a total that rests on Fourier transforms: another machine may round them otherwise."""

_NOTHING = {"epsilon": "inf", "delta": 1.0, "mu": "inf", "mu_squared": "inf"}
_VERSIONED = ("tacit", "python", "numpy", "numba")
_NUMBER = (float, str)

# In the order in which a person reads them.
_LAYOUT: Layout = {
    "format": (str,),
    "private": (bool,),
    "why_not_private": (str, NoneType),
    "total": (dict,),
    "relation": (str,),
    "unit": (str,),
    "records": (dict,),
    "budget": (dict,),
    "solver": (str,),
    "loss": (str,),
    "released": (str,),
    "public": (list,),
    "events": (list,),
    "versions": (dict,),
    "digest": (str,),
    "signature": (dict, NoneType),
}
_INNER: Mapping[str, Layout] = {
    "total": {
        "epsilon": _NUMBER,
        "delta": (float,),
        "mu": (*_NUMBER, NoneType),
        "mu_squared": (str, NoneType),
    },
    "records": {"which": (str,), "value": (int,)},
    "budget": dict.fromkeys(("epsilon", "delta", "mu", "rho"), (*_NUMBER, NoneType)),
    "versions": dict.fromkeys(_VERSIONED, (str,)),
}
_FACT: Layout = {"name": (str,), "value": (object,), "source": (str,)}
_ENTRY: Layout = {
    **dict.fromkeys(("query", "label", "arithmetic"), (str,)),
    **dict.fromkeys(("event", "sensitivity", "noise"), (dict, NoneType)),
    **dict.fromkeys(("times", "size"), (int,)),
}


@dataclass(frozen=True, repr=False)
class Certificate:
    """What a release guarantees, as plain data with a digest.

    Guarantee
    ---------
    - What exists is laid out as documented; anything else was refused with `CertificateError`.
    - `check` accepts a total only if the events, under the relation stated, add up to it: epsilon
      and mu are never below the derived ones, the exact square of mu is equal to it.
    - `check` accepts an event only if its sensitivity follows from the bound and the relation.
    - Noise from a chosen seed, or none, is ``private: false``, and no guarantee is stated.
    - The same release under the same versions has the same digest.

    Parameters
    ----------
    text
        The canonical JSON; use `issue` or `from_json`.

    Examples
    --------
    >>> Certificate.from_json("{}")
    Traceback (most recent call last):
    ...
    tacit.errors.CertificateError: format is missing; expected "tacit-certificate/1"
    """

    text: str

    def __post_init__(self) -> None:
        """Refuse what is not laid out as a certificate."""
        document = parse_document(self.text)
        if document.get("format") != FORMAT:
            stated = repr(document["format"])[:60] if "format" in document else "missing"
            raise CertificateError(f'format is {stated}; expected "{FORMAT}"')
        require_fields(document, _LAYOUT, "the certificate")
        for name, layout in _INNER.items():
            require_fields(document[name], layout, name)
        for number, fact in enumerate(document["public"], start=1):
            require_fields(fact, _FACT, f"public fact {number}")
        for number, entry in enumerate(document["events"], start=1):
            require_fields(entry, _ENTRY, f"event {number}")
        if document["signature"] is not None:
            require_signature(document["signature"])
        object.__setattr__(self, "text", canonical(document))

    @classmethod
    def issue(
        cls, release: Release, estimates: Sequence[Sequence[Any]] | None = None
    ) -> Certificate:
        """State what a release guarantees; `estimates` are its terms, with intervals if any.

        Raises
        ------
        CertificateError
            If the plan claims to be private but an answer had no noise, or if it costs more than
            its budget.
        """
        plan = release.plan
        why = INFINITE if not plan.private else SEEDED if release.reproducible else None
        document = {
            "format": FORMAT,
            "private": release.private,
            "why_not_private": why,
            "relation": str(plan.relation),
            "unit": plan.unit,
            "solver": plan.solver,
            "loss": plan.loss.name,
            "released": fingerprint_of(release.estimates() if estimates is None else estimates),
            "public": [
                {"name": fact.name, "value": plain(fact.value), "source": fact.source}
                for fact in plan.facts
            ],
            "records": {"which": _which(plan.relation), "value": int(plan.records)},
            "events": [entry_of(step, plan.relation) for step in plan.steps],
            "total": _total(plan) if release.private else _NOTHING,
            "budget": {name: plain(getattr(plan.budget, name)) for name in _INNER["budget"]},
            "versions": {name: version_of(name) for name in _VERSIONED},
            "signature": None,
        }
        certificate = cls(canonical({**document, "digest": digest_of(document)}))
        # Nothing leaves that its own reader would refuse.
        certificate.rederive()
        return certificate

    @classmethod
    def from_json(cls, text: str | bytes) -> Certificate:
        """Read a certificate, strictly; whether it adds up is for `check` to say."""
        return cls(canonical(parse_document(text)))

    def to_json(self, indent: int | None = 2) -> str:
        """Write the certificate as JSON; `from_json` reads the same one back."""
        document = self.document
        ordered = {name: document[name] for name in _LAYOUT}
        return json.dumps(ordered, indent=indent, ensure_ascii=False, allow_nan=False)

    @property
    def document(self) -> dict[str, Any]:
        """A copy of the plain data."""
        document: dict[str, Any] = json.loads(self.text)
        return document

    @property
    def private(self) -> bool:
        """Whether a guarantee is stated at all."""
        return self.document["private"] is True

    @property
    def digest(self) -> str:
        """The digest that the certificate states."""
        return str(self.document["digest"])

    def with_signature(self, signature: Mapping[str, str] | None) -> Certificate:
        """Return the certificate with this signature in place of the one it had."""
        return Certificate(canonical({**self.document, "signature": signature}))

    def rederive(self) -> Guarantee:
        """Derive the guarantee from the events and compare it with what is stated.

        Raises
        ------
        CertificateError
            If the digest, an event, the total or the budget does not fit; the message says which.
        """
        return rederived(self.document, _rederive)

    def check(self, public_key: str | os.PathLike[str] | None = None) -> Verification:
        """Verify the certificate offline, with nothing but itself.

        Parameters
        ----------
        public_key
            Whose signature is expected: 64 hexadecimal digits, or the file that holds them.

        Raises
        ------
        CertificateError
            If something does not fit; the message says what.
        SettingError
            If it is signed and the library that verifies is not installed.
        """
        guarantee = self.rederive()
        document = self.document
        found = (
            f"The events add up to the total: {guarantee}."
            if document["private"]
            else f"No guarantee is stated: {document['why_not_private']}."
        )
        return vouched(document, found, public_key)

    def __repr__(self) -> str:
        return f"Certificate(private={self.private}, digest={self.digest!r})"


def _which(relation: Relation) -> str:
    return "n" if relation.n_is_public else "n_at_least"


def _total(plan: Plan) -> dict[str, Any]:
    if any(step.price is None for step in plan.steps):
        raise CertificateError(
            "the plan claims to be private, but one of its answers has no noise; price every step"
        )
    delta = plan.budget.delta
    if delta is None:
        raise BudgetError("the budget has no delta to report at; call with_delta on it first")
    composition = compose(plan.events(), plan.relation)
    if composition.square is None:
        # Without a μ, as where an objective was perturbed.
        epsilon = composition.epsilon(delta) * (1.0 + ROUNDING)
        return {"epsilon": plain(epsilon), "delta": delta, "mu": None, "mu_squared": None}
    return {
        "epsilon": plain(composition.epsilon(delta)),
        "delta": delta,
        "mu": plain(composition.mu),
        "mu_squared": str(composition.mu_squared),
    }


def _rederive(document: Mapping[str, Any]) -> Guarantee:
    relation = Relation.parse(document["relation"])
    which, records = document["records"]["which"], document["records"]["value"]
    if which != _which(relation) or not 0 <= records < LARGEST_COUNT:
        raise CertificateError(f"records is not a number of records under {relation}")
    budget = Budget(**{name: _number(name, value) for name, value in document["budget"].items()})
    found = [
        read_entry(entry, relation, f"event {number}")
        for number, entry in enumerate(document["events"], start=1)
    ]
    reasons = (INFINITE,) if budget.is_infinite else (None, SEEDED)
    why = document["why_not_private"]
    if why not in reasons or document["private"] != (why is None):
        raise CertificateError("private, why_not_private and the budget contradict each other")
    if not document["private"]:
        if canonical(document["total"]) != canonical(_NOTHING):
            raise CertificateError("total states a guarantee although private is false")
        return Guarantee(relation, document["unit"], math.inf, 1.0, None)
    priced = [event for event in found if event is not None]
    if len(priced) != len(found):
        raise CertificateError("private is true, but an answer without noise is among the events")
    return _compare_total(document, compose(priced, relation), budget, relation)


def _compare_total(
    document: Mapping[str, Any], composition: Composition, budget: Budget, relation: Relation
) -> Guarantee:
    total, square = document["total"], composition.square
    if total["mu_squared"] != (None if square is None else str(square)):
        raise CertificateError("total.mu_squared is not the sum over the events")
    if total["delta"] != budget.delta:
        raise CertificateError("total.delta is not the delta of the budget")
    derived = {"epsilon": composition.epsilon(total["delta"])}
    if square is None:
        if total["mu"] is not None:
            raise CertificateError("total.mu is stated, but the events have none")
    else:
        derived["mu"] = composition.mu or 0.0
    stated = {name: _number(f"total.{name}", total[name]) for name in derived}
    for name, value in derived.items():
        if not value <= stated[name] <= value * (1.0 + float(TOLERANCE)):
            raise CertificateError(f"total.{name} is not what the events add up to")
    if not _is_within(composition, stated["epsilon"], budget):
        raise CertificateError("the events add up to more than the budget")
    premise = premise_of([fact["name"] for fact in document["public"]])
    return Guarantee(
        relation, document["unit"], stated["epsilon"], total["delta"], stated.get("mu"), premise
    )


def _is_within(composition: Composition, epsilon: float, budget: Budget) -> bool:
    """Whether events are within a budget; without a μ only one of ε and δ can say so."""
    if composition.square is not None:
        return composition.square <= mu_squared_of(budget) * (1 + TOLERANCE)
    return budget.epsilon is not None and epsilon <= budget.epsilon * (1.0 + float(TOLERANCE))


def _number(place: str, value: Any) -> Any:
    """Return a float, None where there is none; the one string that is a number is "inf"."""
    if isinstance(value, str) and value != "inf":
        raise CertificateError(f'{place} is not a number; expected one, or "inf"')
    return value if value is None else float(value)
