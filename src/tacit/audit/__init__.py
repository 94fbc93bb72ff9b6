"""Attacks that try to refute a guarantee, on simulated tables: two-world audits and replayed transcripts."""

from tacit.audit.attack import Attack, Subject, Worlds
from tacit.audit.fits import AuditedFit
from tacit.audit.registry import ATTACKS
from tacit.audit.result import AuditResult
from tacit.audit.transcript_replay import ReplayResult, replay
from tacit.audit.two_world_audit import run

__all__ = ["Attack", "AuditResult", "ReplayResult", "AuditedFit", "Subject", "Worlds", "names", "replay", "run"]


def names() -> tuple[str, ...]:
    """Names of everything that can be audited."""
    return tuple(ATTACKS)
