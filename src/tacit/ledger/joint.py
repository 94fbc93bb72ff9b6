"""The joint certificate: what everything charged to one ledger guarantees together."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import NoneType
from typing import TYPE_CHECKING, Any

from tacit.accounting.composition import compose
from tacit.errors import CertificateError, LedgerError
from tacit.ledger.price import capacity_of, cost_of
from tacit.privacy.budget import Budget
from tacit.privacy.event import from_json, to_json
from tacit.privacy.guarantee import Guarantee
from tacit.privacy.relation import Relation
from tacit.problem.certificate import TOLERANCE
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

if TYPE_CHECKING:
    from tacit.ledger.chain import Chain

FORMAT = "tacit-ledger-certificate/1"

# In the order in which a person reads them.
_LAYOUT: Layout = {
    "format": (str,),
    "private": (bool,),
    "total": (dict,),
    "relation": (str,),
    "unit": (str,),
    "dataset": (str, NoneType),
    "budget": (dict,),
    "charges": (list,),
    "ledger": (dict,),
    "digest": (str,),
    "signature": (dict, NoneType),
}
_INNER: Mapping[str, Layout] = {
    "total": {"epsilon": (float,), "delta": (float,), "mu": (float,), "mu_squared": (str,)},
    "budget": dict.fromkeys(("epsilon", "delta", "mu", "rho"), (float, NoneType)),
    "ledger": {"entries": (int,), "head": (str,)},
}
_CHARGE: Layout = {
    "sequence": (int,),
    "time": (str,),
    "label": (str,),
    "release": (str, NoneType),
    "events": (list,),
}


@dataclass(frozen=True, repr=False)
class JointCertificate:
    """What all charges of a ledger guarantee together, as plain data with a digest.

    Guarantee
    ---------
    - What exists is laid out as documented; anything else was refused with `CertificateError`.
    - `check` accepts a total only if the events of all charges add up to it, within the budget.
    - A charge whose answer is not known to have left is part of the total.
    - The total holds where the prices were fixed without regard to earlier answers. The budget
      holds also where they were not.

    Parameters
    ----------
    text
        The canonical JSON; use `Ledger.certificate` or `from_json`.

    Examples
    --------
    >>> JointCertificate.from_json("{}")
    Traceback (most recent call last):
    ...
    tacit.errors.CertificateError: format is missing; expected "tacit-ledger-certificate/1"
    """

    text: str

    def __post_init__(self) -> None:
        document = parse_document(self.text)
        if document.get("format") != FORMAT:
            stated = repr(document["format"])[:60] if "format" in document else "missing"
            raise CertificateError(f'format is {stated}; expected "{FORMAT}"')
        require_fields(document, _LAYOUT, "the certificate")
        for name, layout in _INNER.items():
            require_fields(document[name], layout, name)
        for number, charge in enumerate(document["charges"], start=1):
            require_fields(charge, _CHARGE, f"charge {number}")
        if document["signature"] is not None:
            require_signature(document["signature"])
        object.__setattr__(self, "text", canonical(document))

    @classmethod
    def issue(cls, chain: Chain) -> JointCertificate:
        """State what the charges of a ledger guarantee together."""
        guarantee = chain.guarantee()
        if guarantee is None or not chain.charges:
            raise LedgerError("nothing has been charged to the ledger yet; there is no total")
        budget, events = chain.terms.budget, [e for c in chain.charges for e in c.events]
        document = {
            "format": FORMAT,
            "private": True,
            "total": {
                "epsilon": guarantee.epsilon,
                "delta": guarantee.delta,
                "mu": guarantee.mu,
                "mu_squared": str(compose(events).mu_squared),
            },
            "relation": str(guarantee.relation),
            "unit": guarantee.unit,
            "dataset": chain.terms.dataset,
            "budget": {name: plain(getattr(budget, name)) for name in _INNER["budget"]},
            "charges": [
                {
                    "sequence": charge.sequence,
                    "time": charge.time,
                    "label": charge.label,
                    "release": charge.release,
                    "events": [to_json(event) for event in charge.events],
                }
                for charge in chain.charges
            ],
            "ledger": {"entries": chain.length, "head": chain.head_hash},
            "signature": None,
        }
        certificate = cls(canonical({**document, "digest": digest_of(document)}))
        # Nothing leaves that its own reader would refuse.
        certificate.rederive()
        return certificate

    @classmethod
    def from_json(cls, text: str | bytes) -> JointCertificate:
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
    def digest(self) -> str:
        """The digest that the certificate states."""
        return str(self.document["digest"])

    def with_signature(self, signature: Mapping[str, str] | None) -> JointCertificate:
        """Return the certificate with this signature in place of the one it had."""
        return JointCertificate(canonical({**self.document, "signature": signature}))

    def rederive(self) -> Guarantee:
        """Derive the guarantee from the events and compare it with what is stated.

        Raises
        ------
        CertificateError
            If the digest, an event, the total or the budget does not fit; the message says which.
        """
        return rederived(self.document, _rederive)

    def check(self, public_key: str | os.PathLike[str] | None = None) -> Verification:
        """Verify the certificate offline, with nothing but itself; as `Certificate.check`."""
        found = f"All charges add up to the total: {self.rederive()}."
        return vouched(self.document, found, public_key)

    def __repr__(self) -> str:
        return f"JointCertificate(digest={self.digest!r})"


def _rederive(document: Mapping[str, Any]) -> Guarantee:
    total = document["total"]
    budget = Budget(**document["budget"])
    events = [from_json(event) for charge in document["charges"] for event in charge["events"]]
    composition = compose(events)
    if document["private"] is not True or not events:
        raise CertificateError("private is false, or there are no events; expected charges")
    if total["mu_squared"] != str(composition.mu_squared):
        raise CertificateError("total.mu_squared is not the sum over the events")
    if total["delta"] != budget.delta:
        raise CertificateError("total.delta is not the delta of the budget")
    derived = {"epsilon": composition.epsilon(total["delta"]), "mu": composition.mu}
    for name, value in derived.items():
        if value is None or not value <= total[name] <= value * (1.0 + float(TOLERANCE)):
            raise CertificateError(f"total.{name} is not what the events add up to")
    relation = Relation.parse(document["relation"])
    if cost_of(events, relation) > capacity_of(budget) * (1 + TOLERANCE):
        raise CertificateError("the events add up to more than the budget")
    return Guarantee(relation, document["unit"], total["epsilon"], total["delta"], total["mu"])
