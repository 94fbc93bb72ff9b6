"""Coverage: how often intervals hold the value they are for, measured on simulated samples."""

from __future__ import annotations

from collections.abc import Sequence


def run(arguments: Sequence[str] = ()) -> None:
    """Run what is missing, and write page and pictures."""
    from benchmarks.coverage.command import main

    main(arguments)
