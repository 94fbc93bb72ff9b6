"""What a run owes to the ledger around it: reserved before its first answer, committed after."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tacit.certificate.certificate import Certificate
from tacit.certificate.release_document import release_from_json, release_to_json, request_digest
from tacit.contract.plan import Plan
from tacit.contract.release import Release
from tacit.documents.canonical_json import canonical, digest_of, plain
from tacit.errors import FileError, LedgerError
from tacit.ledger.charge import Reservation
from tacit.ledger.current_ledger import active_ledger
from tacit.ledger.ledger import Ledger

LARGEST_ANSWER = 2**23
"""Characters of a release beyond which a ledger does not keep it."""


class LedgerWarning(UserWarning):
    """A fit was charged and is complete, but the ledger could not write that down."""


@dataclass(frozen=True)
class Charged:
    """A durable charge whose answer has not left yet, or was kept under its key before."""

    ledger: Ledger
    reservation: Reservation
    keyed: bool

    def kept(self, plan: Plan) -> Release | None:
        """Return the release that was kept for the same request; None where it is to be run."""
        if self.reservation.answer is None:
            return None
        return release_from_json(plan, self.reservation.answer)

    def settle(self, release: Release) -> None:
        """Note the digest of the finished release; costs nothing.

        Guarantee
        ---------
        - What was paid for is not lost: where the ledger cannot be written, a warning says so.
        """
        digest = digest_of(
            {
                "coefficients": plain(release.coefficients()),
                "certificate": Certificate.issue(release).digest,
            }
        )
        try:
            self.ledger.commit(self.reservation, digest, self._answer(release))
        except (LedgerError, FileError) as error:
            warnings.warn(
                f"The fit is complete and its charge is kept, but the ledger could not note that: "
                f"{error}",
                LedgerWarning,
                stacklevel=6,
            )

    def _answer(self, release: Release) -> Mapping[str, Any] | None:
        if not self.keyed:
            return None
        answer = release_to_json(release)
        if len(canonical(answer)) <= LARGEST_ANSWER:
            return answer
        warnings.warn(
            "The fit is too large to be kept in the ledger: the same key cannot return it. Save "
            "it to a file",
            LedgerWarning,
            stacklevel=7,
        )
        return None


def charge(plan: Plan, *, private: bool, data: object = None) -> Charged | None:
    """Reserve a plan with the active ledger; None where there is none.

    Guarantee
    ---------
    - When this returns, the charge is durable, whatever happens to the run.
    - Within a ledger, a run that is not private is refused, and so is one without a μ.
    - Nothing that is written down is read from a record: of `data` only the path of a file is.
    """
    ledger = active_ledger()
    if ledger is None:
        return None
    if private and plan.guarantee().mu is None:
        raise LedgerError(
            f"a ledger adds up squares of mu, and {plan.solver.name} has none. Choose another "
            "solver within the ledger's block, or fit outside of it"
        )
    reservation = ledger.reserve(
        plan.events(),
        relation=plan.relation,
        unit=plan.unit,
        label=f"{plan.loss.name} by {plan.solver.name}",
        formula=next((str(fact.value) for fact in plan.facts if fact.name == "formula"), None),
        file=file_name(data),
        request=request_digest(plan) if ledger.key is not None else None,
        private=private,
    )
    return Charged(ledger, reservation, ledger.key is not None)


def file_name(data: object) -> str | None:
    """Return the path of a file as it was given; None for a table in memory."""
    return os.fsdecode(data) if isinstance(data, str | os.PathLike) else None
