"""Small tables, rare classes and near separation: Tacit beside descent that is tuned on the test rows."""

from __future__ import annotations

from collections.abc import Sequence


def run(arguments: Sequence[str] = ()) -> None:
    """Run what is missing, and write the page."""
    from benchmarks.small_tables.command import main

    main(arguments)
