"""Fits on a cluster: the same bits, faults, and what a round and a partition cost."""

from __future__ import annotations

from collections.abc import Sequence


def run(arguments: Sequence[str] = ()) -> None:
    """Measure, and record."""
    from benchmarks.cluster.command import main

    main(arguments)
