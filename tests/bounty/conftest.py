"""Every check begins in a process that has entered no ledger yet."""

from tests.ledger.conftest import fresh_process

__all__ = ["fresh_process"]
