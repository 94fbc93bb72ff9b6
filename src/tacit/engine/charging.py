"""What a run owes to the ledger around it: reserved before its first answer, committed after."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.errors import LedgerError
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
    - Within a ledger, a run that is not private is refused, and so is one without a μ.
    """
    ledger = active_ledger()
    if ledger is None:
        return None
    if private and plan.guarantee().mu is None:
        raise LedgerError(
            f"a ledger adds up squares of mu, and {plan.solver} has none. Choose another solver "
            "within the ledger's block, or fit outside of it"
        )
    reservation = ledger.reserve(
        plan.events(),
        relation=plan.relation,
        unit=plan.unit,
        label=f"{plan.loss.name} by {plan.solver}",
        private=private,
    )
    return Charged(ledger, reservation)
