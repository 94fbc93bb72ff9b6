"""What a solver sees of the records: one verb."""

from __future__ import annotations

from typing import Protocol

from tacit.contract.query import Answer, Query


class Gate(Protocol):
    """The door between a solver, which is public, and the mechanisms, which hold the records."""

    def ask(self, query: Query) -> Answer:
        """Return the noised answer to a query of the reserved plan."""
