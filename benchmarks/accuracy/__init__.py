"""Accuracy: Tacit beside other ways to fit the same tables, at many budgets."""

from __future__ import annotations

from collections.abc import Sequence


def run(arguments: Sequence[str] = ()) -> None:
    """Run what is missing, and write page and pictures."""
    # The rivals import the tables of this package, so the command is loaded only now.
    from benchmarks.accuracy.command import main

    main(arguments)
