"""What a run owes to the ledger around it: reserved before its first answer, committed after."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.ledger.active import active_ledger
from tacit.ledger.chain import Reservation
from tacit.ledger.ledger import Ledger
from tacit.problem.certificate import Certificate
from tacit.problem.plan import Plan
from tacit.problem.release import Release
from tacit.problem.signature import digest_of, plain


@dataclass(frozen=True)
class Charged:
    """A durable charge whose answer has not left yet."""

    ledger: Ledger
    reservation: Reservation

    def settle(self, release: Release) -> None:
        """Note the digest of the finished release; costs nothing."""
        digest = digest_of(
            {
                "coefficients": plain(release.coefficients()),
                "certificate": Certificate.issue(release).digest,
            }
        )
        self.ledger.commit(self.reservation, digest)


def charge(plan: Plan, *, private: bool) -> Charged | None:
    """Reserve a plan with the active ledger; None where there is none.

    Guarantee
    ---------
    - When this returns, the charge is durable, whatever happens to the run.
    - Within a ledger, a run that is not private is refused.
    """
    ledger = active_ledger()
    if ledger is None:
        return None
    reservation = ledger.reserve(
        plan.events(),
        relation=plan.relation,
        unit=plan.unit,
        label=f"{plan.loss.name} by {plan.solver}",
        private=private,
    )
    return Charged(ledger, reservation)
