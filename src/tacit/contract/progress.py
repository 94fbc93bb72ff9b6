"""How long work reports that it goes on: counts of public steps, nothing about the records."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called with (done, total, label) after each public step."""

    def __call__(self, done: int, total: int, label: str) -> None:
        """Take note of a finished step."""


def silent(done: int, total: int, label: str) -> None:
    """Report to nobody."""
