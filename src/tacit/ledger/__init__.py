"""One budget for many fits: every charge is stored before its answer is computed. Names are loaded when first used."""

from typing import TYPE_CHECKING

from tacit.deferred import lazy_names

if TYPE_CHECKING:
    from tacit.ledger.current_ledger import active_ledger
    from tacit.ledger.entry import Charge, Reservation
    from tacit.ledger.joint_certificate import JointCertificate
    from tacit.ledger.ledger import Ledger
    from tacit.ledger.repeated_fits import RefitWarning
    from tacit.ledger.with_blocks import uncharged

__all__ = ["Charge", "JointCertificate", "Ledger", "RefitWarning", "Reservation", "active_ledger", "uncharged"]

__getattr__ = lazy_names(
    __name__,
    {
        "current_ledger": "active_ledger",
        "entry": "Charge Reservation",
        "joint_certificate": "JointCertificate",
        "ledger": "Ledger",
        "repeated_fits": "RefitWarning",
        "with_blocks": "uncharged",
    },
)
