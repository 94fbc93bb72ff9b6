"""The certificate of a fit: its guarantee, and everything needed to derive that again.

It is JSON. Infinity is the string ``"inf"``, and numbers that enter the proof are exact strings.
Nothing in it was read from a record beyond what is listed as public.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import platform
import re
from collections.abc import Mapping, Sequence
from importlib import metadata
from types import NoneType
from typing import Any, ClassVar

from tacit.accounting.composition import Composition, compose, mu_squared_of
from tacit.certificate.certificate_entry import LARGEST_COUNT, entry_of, read_entry
from tacit.contract.guarantee_caveats import premise_of
from tacit.contract.plan import Plan
from tacit.contract.query import QueryKind
from tacit.contract.release import Release
from tacit.documents.canonical_json import canonical, plain
from tacit.documents.document import TOLERANCE, Document, require_total
from tacit.documents.reading import FieldTypes, require_fields
from tacit.errors import BudgetError, CertificateError
from tacit.privacy.budget import Budget, Guarantee
from tacit.privacy.relation import Relation

FORMAT = "tacit-certificate/2"
FIRST = "tacit-certificate/1"
"""The format of 0.1.0: `released` is over the terms alone."""
INFINITE = "epsilon is infinite"
SEEDED = "noise from a fixed seed"
ROUNDING = 5e-10
"""Added to a total that rests on Fourier transforms: another machine may round them otherwise."""

_NOTHING = {"epsilon": "inf", "delta": 1.0, "mu": "inf", "mu_squared": "inf"}
_VERSIONED = ("tacit", "python", "numpy", "numba")
_NUMBER = (float, str)
_MOST_PARTS = 64
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)

MOST_PERTURBED = 8
"""Perturbed minima in one certificate: a fit has one or two, and each is costly to price."""

# In the order in which a person reads them.
_LAYOUT: FieldTypes = {
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
    "released": (dict,),
    "public": (list,),
    "events": (list,),
    "versions": (dict,),
    "digest": (str,),
    "signature": (dict, NoneType),
}
_RELEASED: FieldTypes = {"covers": (list,), "sha256": (str,)}
_INNER: Mapping[str, FieldTypes] = {
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
_FACT: FieldTypes = {"name": (str,), "value": (object,), "source": (str,)}
_ENTRY: FieldTypes = {
    **dict.fromkeys(("query", "label", "arithmetic"), (str,)),
    **dict.fromkeys(("event", "sensitivity", "noise"), (dict, NoneType)),
    **dict.fromkeys(("times", "size"), (int,)),
}


class Certificate(Document):
    """What a release guarantees, as plain data with a digest.

    Guarantee
    ---------
    - What exists is laid out as documented; anything else was refused with `CertificateError`.
    - `check` accepts a total only if the events, under the relation stated, add up to it: epsilon
      and mu are never below the derived ones, the exact square of mu is equal to it.
    - `check` accepts an event only if its sensitivity follows from the bound and the relation.
    - Noise from a chosen seed, or none, is ``private: false``, and no guarantee is stated.
    - The same release under the same versions has the same digest.
    - The digest covers every part of the fit that `covers` names.

    Examples
    --------
    >>> Certificate.from_json("{}")
    Traceback (most recent call last):
    ...
    tacit.errors.CertificateError: format is missing; expected "tacit-certificate/2"
    """

    formats: ClassVar[Mapping[str, FieldTypes]] = {
        FORMAT: _LAYOUT,
        FIRST: {**_LAYOUT, "released": (str,)},
    }
    inner: ClassVar[Mapping[str, FieldTypes]] = _INNER
    largest: ClassVar[int] = 2**23
    most_events: ClassVar[int] = 20_000

    def _require(self, document: Mapping[str, Any]) -> None:
        if document["format"] != FIRST:
            _require_released(document["released"])
        for number, fact in enumerate(document["public"], start=1):
            require_fields(fact, _FACT, f"public fact {number}")
        for number, entry in enumerate(document["events"], start=1):
            require_fields(entry, _ENTRY, f"event {number}")
        perturbed = [entry for entry in document["events"] if entry["query"] == QueryKind.MINIMUM]
        if len(perturbed) > MOST_PERTURBED:
            raise CertificateError(f"there are more than {MOST_PERTURBED} perturbed minima")

    @classmethod
    def issue(
        cls,
        release: Release,
        estimates: Sequence[Sequence[Any]] | None = None,
        *,
        covered: Mapping[str, Any] | None = None,
    ) -> Certificate:
        """State what a release guarantees.

        `estimates` are its terms, with intervals if any; by default the coefficients alone.
        `covered` are the parts of a stored fit, by name, that the certificate is for; by default
        the terms and the design. A feature map that is a function is covered by its declaration.
        """
        plan = release.plan
        why = INFINITE if not plan.private else SEEDED if release.reproducible else None
        if covered is None:
            rows = release.estimates() if estimates is None else estimates
            names = ("name", "coef", "std_err", "lower", "upper")
            terms = [dict(zip(names, row, strict=True)) for row in rows]
            covered = {"terms": plain(terms), "design": plain(plan.design.to_json())}
        return cls.made(
            {
                "format": FORMAT,
                "private": release.private,
                "why_not_private": why,
                "relation": str(plan.relation),
                "unit": plan.unit,
                "solver": plan.solver.name,
                "loss": plan.loss.name,
                "released": fingerprint_of(covered),
                "public": [
                    {"name": fact.name, "value": plain(fact.value), "source": fact.source}
                    for fact in plan.facts
                ],
                "records": {"which": _which(plan.relation), "value": int(plan.records)},
                "events": [entry_of(step, plan.relation) for step in plan.steps],
                "total": _total(plan) if release.private else _NOTHING,
                "budget": {name: plain(getattr(plan.budget, name)) for name in _INNER["budget"]},
                "versions": {name: version_of(name) for name in _VERSIONED},
            }
        )

    @property
    def private(self) -> bool:
        """Whether a guarantee is stated at all."""
        return self.parsed["private"] is True

    @property
    def covers(self) -> tuple[str, ...]:
        """The parts of a stored fit that the digest, and so a signature, covers."""
        first = self.parsed["format"] == FIRST
        return ("terms",) if first else tuple(self.parsed["released"]["covers"])

    def _derive(self, document: Mapping[str, Any]) -> Guarantee:
        relation = Relation.parse(document["relation"])
        which, records = document["records"]["which"], document["records"]["value"]
        if which != _which(relation) or not 0 <= records < LARGEST_COUNT:
            raise CertificateError(f"records is not a number of records under {relation}")
        budget = Budget(
            **{name: _number(name, value) for name, value in document["budget"].items()}
        )
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
            raise CertificateError(
                "private is true, but an answer without noise is among the events"
            )
        return _compare_total(document, compose(priced, relation), budget, relation)

    def _found(self, guarantee: Guarantee) -> str:
        if self.private:
            return f"The events add up to the total: {guarantee}."
        return f"No guarantee is stated: {self.parsed['why_not_private']}."

    def __repr__(self) -> str:
        return f"Certificate(private={self.private}, digest={self.digest!r})"


@functools.cache
def version_of(name: str) -> str:
    """Version of Python or of an installed package; looked up once: that takes milliseconds."""
    if name == "python":
        return platform.python_version()
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "unknown"


def fingerprint_of(covered: Mapping[str, Any]) -> dict[str, Any]:
    """Return the names of the covered parts of a fit and the SHA-256 of their canonical JSON."""
    digest = hashlib.sha256(canonical(covered).encode("ascii")).hexdigest()
    return {"covers": sorted(covered), "sha256": digest}


def first_fingerprint_of(estimates: Sequence[Sequence[Any]]) -> str:
    """Return the fingerprint of 0.1.0: of (name, coef, std_err, lower, upper) of each term."""
    text = json.dumps(plain(estimates), ensure_ascii=True, allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def _require_released(released: Mapping[str, Any]) -> None:
    require_fields(released, _RELEASED, "released")
    covers, digest = released["covers"], released["sha256"]
    names = all(isinstance(name, str) and name.isidentifier() for name in covers)
    if not names or not 0 < len(covers) <= _MOST_PARTS or covers != sorted(set(covers)):
        raise CertificateError("released.covers is not a sorted list of names")
    if not _SHA256.fullmatch(digest):
        raise CertificateError("released.sha256 is not 64 lower-case hexadecimal digits")


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
    epsilon, mu, square = composition.epsilon(delta), None, None
    if composition.square is None:
        # Without a μ, as where an objective was perturbed.
        epsilon *= 1.0 + ROUNDING
    else:
        mu, square = composition.mu, str(composition.mu_squared)
    return {"epsilon": plain(epsilon), "delta": delta, "mu": plain(mu), "mu_squared": square}


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
    require_total(stated, derived)
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
