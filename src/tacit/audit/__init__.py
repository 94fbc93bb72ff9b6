"""Attacks that try to refute a guarantee, on simulated tables: two worlds, replays, canaries, poison and membership."""

from tacit.audit.attack import Attack, Subject, Worlds
from tacit.audit.canary_run import CanaryResult, run_canaries
from tacit.audit.fits import AuditedFit
from tacit.audit.linkage import LinkageResult, link, simulated_town
from tacit.audit.membership import MembershipResult, attack_means
from tacit.audit.poisoning import PoisoningResult, run_poisoning
from tacit.audit.registry import ATTACKS
from tacit.audit.result import AuditResult
from tacit.audit.transcript_replay import ReplayResult, replay
from tacit.audit.two_world_audit import run

__all__ = [
    "Attack",
    "AuditResult",
    "AuditedFit",
    "CanaryResult",
    "LinkageResult",
    "MembershipResult",
    "PoisoningResult",
    "ReplayResult",
    "Subject",
    "Worlds",
    "attack_means",
    "link",
    "names",
    "replay",
    "run",
    "run_canaries",
    "run_poisoning",
    "simulated_town",
]


def names() -> tuple[str, ...]:
    """Names of everything that can be audited."""
    return tuple(ATTACKS)
