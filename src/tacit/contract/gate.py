"""The gate, which is all that a solver sees of the records, and the reports of its progress."""

from __future__ import annotations

from typing import Protocol

from tacit.contract.query import Answer, Query


class Gate(Protocol):
    """Stands between a solver, which is public, and the mechanisms, which hold the records."""

    def ask(self, query: Query) -> Answer:
        """Return the noised answer to a query of the reserved plan."""


class Progress(Protocol):
    """Called with (done, total, label) after each public step; told nothing about the records."""

    def __call__(self, done: int, total: int, label: str) -> None:
        """Take note of a finished step."""
